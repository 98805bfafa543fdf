"""Settled questions of a longitudinal suite, and the grades of several scopes."""

from memrig.grading.base import Asked, Grade
from memrig.grading.lens import V1
from memrig.model.gold import TextGold
from memrig.model.judgement import Verdict
from memrig.model.transcript import AnswerRecord, Memory, NaiveRecord, ToolUseRecord
from memrig.model.trial import Outcome
from support.judges import asked

FACTS = ("the pump failed", "on 3 May")
GOLD = TextGold(type="text", value="The pump failed on 3 May.", key_facts=FACTS)
BARE = TextGold(type="text", value="An ordinary day.")
SAID = "The pump failed on 3 May, as two of the daily sheets show."
GRADER = f"{V1.protocol}/{V1.version}"


def memory(handle: str, *episodes: str | None, ref: str = "") -> Memory:
    """A memory as a model was shown it; its ref is told by its handle unless one is given."""
    return Memory(handle=handle, ref_id=ref or f"ref-{handle}", episodes=episodes)


def answer(
    *cited: str, text: str = SAID, memories: tuple[Memory, ...] = (), unknown: int = 0
) -> AnswerRecord:
    """An answer that cites; by default, m1 to m3 are of e1 to e3 and m9 claims nothing real."""
    usual = (memory("m1", "e1"), memory("m2", "e2"), memory("m3", "e3"), memory("m9", None))
    return AnswerRecord(
        text=text, cited=cited, unknown_citations=unknown, memories=memories or usual
    )


def lens_asked(
    said: AnswerRecord | str | None = SAID,
    *,
    category: str = "longitudinal",
    gold: TextGold = GOLD,
    naive: NaiveRecord | None = None,
    tools: int = 1,
    verdicts: dict[str, float | None] | None = None,
    **fields: object,
) -> Asked:
    """A settled question in mode agent that e1 and e2 answer; `verdicts` are scores by task.

    Without any, even an empty dict, no judge was asked.
    """
    kept: dict[str, object] = {"mode": "agent", "evidence": ("e1", "e2"), "position": 12} | fields
    one = asked(said, gold=gold, category=category, **kept)
    use = ToolUseRecord(name="memory_search", arguments_json="{}", result="{}", is_error=False,
                        ns=1, payload_bytes=100)  # fmt: skip
    record = one.record.model_copy(update={"naive": naive, "tool_uses": (use,) * tools})
    found = {name: verdict(name, score) for name, score in (verdicts or {}).items()}
    fields_of = {name: getattr(one, name) for name in one.__dataclass_fields__}
    judged = verdicts is not None
    return Asked(**fields_of | {"record": record, "verdicts": found, "judged": judged})


def verdict(task: str, score: float | None, grader: str = GRADER) -> Verdict:
    """A verdict of one vote."""
    return Verdict(
        trial_id="t",
        scenario_id="s1",
        question_id="q1",
        protocol="lens-v1",
        model="judge-1",
        task=task,
        votes=(),
        quorum=1,
        score=score,
        agreement=None,
        reason="" if score is not None else "0 of 1 vote was valid, expected 1",
        grader=grader,
    )


def fault(status: str = "adapter_crashed") -> Outcome:
    """How a question ends that the memory system failed."""
    return Outcome.model_validate({"status": status})


def lens_grade(scope: str, category: str = "longitudinal", **fields: object) -> Grade:
    """One grade of a scope; `fields` replace scores, weights, missing and so on."""
    usual: dict[str, object] = {
        "trial_id": f"{scope}-s1-r0",
        "scenario_id": scope,
        "cluster": scope,
        "question_id": "q",
        "category": category,
        "seed": 1,
        "repeat": 0,
        "protocol": "lens-v1",
        "grader": GRADER,
        "status": "graded",
        "outcome": "answered",
    }
    return Grade.model_validate(usual | fields)
