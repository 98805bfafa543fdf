"""What a longitudinal trial sends: texts and times, and nothing that the data says about them."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.model.longitudinal import QUESTION_TYPES
from memrig.model.scenario import Scenario
from memrig.model.trial import AnswerSpec
from memrig.pod.base import PodProvider
from memrig.suites.base import SuiteOptions
from memrig.suites.longitudinal import SUITE
from support.answer_rig import Rig, Service, questions
from support.fake_chat import calls, final, says
from support.fake_memory import FakeMemory, FakeProvider
from support.longitudinal import JsonObject, episode, question
from support.scenarios import small_spec

#: Words that stand nowhere but in labels and ids.
LABELS = ("zq-scope", "zq-domain", "zq-episode", "zq-question", "zq-phase", "zq-theme", "zq-gold",
          "distractor", "signal", *QUESTION_TYPES)  # fmt: skip


def labelled() -> JsonObject:
    """Every member that may hold a label does; texts and prompts hold none."""
    entries = [
        episode("x", n, "distractor" if n % 3 == 0 else "signal", scope_id="zq-scope",
                episode_id=f"zq-episode-{n}", text=f"On day {n} the pump ran {n + 3} hours.")
        for n in range(1, 10)
    ]  # fmt: skip
    for n, item in enumerate(entries):
        item["meta"] |= {"phase": f"zq-phase-{n}", "theme": "zq-theme"}
    truth = {
        "canonical_answer": "zq-gold",
        "required_evidence_refs": ["zq-episode-1", "zq-episode-2"],
        "key_facts": ["zq-gold fact"],
    }
    asked = [
        question("x", n, min(n + 2, 9), scope_id="zq-scope", question_id=f"zq-question-{n}",
                 question_type=kind, prompt=f"How long did the pump run by day {n}?",
                 ground_truth=truth)
        for n, kind in enumerate(QUESTION_TYPES)
    ]  # fmt: skip
    scope = {"scope_id": "zq-scope", "domain": "zq-domain", "episodes": entries}
    return {"version": "zq-scope", "scopes": [scope], "questions": asked}


@pytest.fixture
def rig() -> Iterator[Rig]:
    """In a folder short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Rig(Path(folder))


def scenario(folder: Path, ratio: float | None = None) -> Scenario:
    """The labelled scope as the suite makes it."""
    path = folder / "labelled.json"
    path.write_text(json.dumps(labelled()), "utf-8")
    (made,) = SUITE.scenarios(SuiteOptions("lens-v1", file=path, distractors=ratio))
    return made


def leaked(text: str) -> list[str]:
    return [label for label in LABELS if label in text]


def sent(provider: PodProvider) -> str:
    """Every episode with all its fields, and every query, as a memory got them."""
    assert isinstance(provider, FakeProvider)
    memories = [pod.memory for pod in provider.pods]
    return "\n".join(str(item) for m in memories for item in (*m.episodes, *m.queries))


@pytest.mark.parametrize("ratio", [None, 0.5])
@pytest.mark.parametrize("mode", ["reader", "agent"])
async def test_no_label_phase_or_id_of_the_dataset_reaches_memory_or_model(rig, mode, ratio):
    """In every message of the wire and in every prompt; the texts do."""
    made = scenario(rig.root, ratio)
    search = calls(("memory_search", {"query": "pump"}))
    service = Service(*([search, final("9 hours", "m1")] * len(made.gold)), final("-"))
    answer = AnswerSpec(model="scripted", prompt="cited")
    spec = small_spec(rig.scenarios, made, mode=mode, answer=answer)
    records = questions(await rig.run(spec, service))
    assert len(records) == len(QUESTION_TYPES)
    wire = sent(rig.provider)
    for seen in (wire, service.seen):
        assert "On day 1 the pump ran 4 hours." in seen
        assert leaked(seen) == []


def test_the_labels_would_be_seen():
    """The words above are in the data."""
    text = json.dumps(labelled())
    assert leaked(text) == list(LABELS)


async def test_a_memory_holds_exactly_the_episodes_up_to_a_checkpoint_when_it_is_asked(rig):
    """Nothing of the future, nothing missing."""
    made = scenario(rig.root)
    held: list[int] = []

    def count(memory: FakeMemory, number: int) -> "asyncio.Future[None]":
        held.append(len(memory.episodes))
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    rig.behave(on_search=count)
    spec = small_spec(rig.scenarios, made, mode="reader", answer=AnswerSpec(model="scripted"))
    await rig.run(spec, Service(says("9 hours")))
    assert held == [min(n + 2, 9) for n in range(len(QUESTION_TYPES))]
