"""Small scenarios and the specs of trials over them."""

from pathlib import Path

from memrig.model.gold import Gold
from memrig.model.scenario import Episode, Question, Scenario
from memrig.model.trial import Budget, Deadlines, TrialSpec
from memrig.suites.spool import spool
from support.fake_memory import fake_adapter

FACTS = {
    "e1": "Ada: the blue kettle is in the attic",
    "e2": "Ben: my train leaves at nine",
    "e3": "Ada: the cat is called Pepper",
    "e4": "Ben: the roof was mended in March",
}
QUESTIONS = {
    "q1": ("where is the blue kettle", "e1"),
    "q2": ("which train leaves at nine", "e2"),
    "q3": ("what is the cat called", "e3"),
    "q4": ("when was the roof mended", "e4"),
}


def small_scenario(name: str = "small", *, halves: bool = False) -> Scenario:
    """Four facts and a question for each; with `halves`, two checkpoints instead of one."""
    episodes = [Episode(episode_id=key, text=text) for key, text in FACTS.items()]
    questions = [Question(question_id=key, text=text) for key, (text, _) in QUESTIONS.items()]
    gold = {
        key: Gold(question_id=key, category="odd" if key in ("q1", "q3") else "even", evidence=(e,))
        for key, (_, e) in QUESTIONS.items()
    }
    timeline = [*episodes, *questions]
    if halves:
        timeline = [*episodes[:2], *questions[:2], *episodes[2:], *questions[2:]]
    return Scenario(name, timeline, gold)


def small_spec(folder: Path, *scenarios: Scenario, **changes: object) -> TrialSpec:
    """A scored trial over these scenarios, spooled into `folder`, with short deadlines."""
    refs = tuple(spool(scenario, folder) for scenario in scenarios or (small_scenario(),))
    fields: dict[str, object] = {
        "suite": "practical",
        "protocol": "practical",
        "adapter": fake_adapter(),
        "scenarios": refs,
        "seed": 7,
        "top_k": 3,
        "deadlines": Deadlines(search=0.3, ingest_idle=0.5, flush=1, reset=1, capabilities=2),
        "budget": Budget(wall_time_s=5),
    }
    return TrialSpec.model_validate(fields | changes)
