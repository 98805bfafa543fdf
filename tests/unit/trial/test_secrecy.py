"""No label, phase or id of the data reaches the memory system or a model."""

from datetime import UTC, datetime

import pytest

from memrig.model.gold import Gold, TextGold
from memrig.model.manifest import BASELINES, AdapterRef
from memrig.model.scenario import Episode, Question, Scenario, Turn
from memrig.model.trial import AnswerSpec, TrialSpec
from memrig.pod.select import provider_for
from support.answer_rig import Service, outcomes, questions
from support.fake_chat import calls, final
from support.right_adapter import InProcessProvider, Memory, in_process_adapter
from support.scenarios import small_spec

#: Stands in everything that the rig must keep to itself.
KEPT = "kept"
TEXT = "the blue kettle is in the attic"
STEPS = (
    calls(("memory_search", {"query": "kettle"}), ("memory_capabilities", {})),
    calls(("memory_retrieve", {"handle": "m1"})),
    final("the attic", "m1"),
)


class Overheard(Memory):
    """Notes all that it is sent, the call's metadata included."""

    heard: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.heard = []

    async def Ingest(self, requests, context):  # noqa: N802
        async def noted():
            async for request in requests:
                self._note(request, context)
                yield request

        async for response in super().Ingest(noted(), context):
            yield response

    async def Search(self, request, context):  # noqa: N802
        self._note(request, context)
        return await super().Search(request, context)

    async def Retrieve(self, request, context):  # noqa: N802
        self._note(request, context)
        return await super().Retrieve(request, context)

    async def CallTool(self, request, context):  # noqa: N802
        self._note(request, context)
        return await super().CallTool(request, context)

    def _note(self, request, context) -> None:
        self.heard.append(f"{request} {context.invocation_metadata()}")


def labelled() -> Scenario:
    """A question whose every label and id says what it is."""
    turns = (Turn(turn_id=f"{KEPT}-turn-1", speaker="Ada", text=TEXT),)
    time = datetime(2024, 3, 5, 17, tzinfo=UTC)
    signal = Episode(episode_id=f"{KEPT}-signal-1", text=TEXT, timestamp=time, turns=turns)
    other = Episode(episode_id=f"{KEPT}-distractor-1", text="the kettle is red", timestamp=time)
    question = Question(question_id=f"{KEPT}-question-1", text="where is the kettle?")
    gold = Gold(
        question_id=question.question_id,
        category=f"{KEPT}-category",
        answer=TextGold(type="text", value=f"{KEPT}-answer", key_facts=(f"{KEPT}-fact",)),
        evidence=(signal.episode_id, other.episode_id),
        tags=(f"{KEPT}-tag",),
        note=f"{KEPT}-note",
    )
    return Scenario(f"{KEPT}-scope", [signal, other, question], {question.question_id: gold})


def spec_of(folder, mode: str, adapter: AdapterRef) -> TrialSpec:
    answer = AnswerSpec(model="scripted", prompt="cited")
    return small_spec(
        folder, labelled(), mode=mode, adapter=adapter, answer=answer, naive=True, top_k=5
    )


@pytest.mark.parametrize("mode", ["agent", "reader"])
async def test_what_a_memory_and_a_model_are_sent_holds_no_label_and_no_id(rig, mode):
    """Episodes and turns go by opaque ids on the wire, and by handles in prompts."""
    rig.provider = provider = InProcessProvider(rig.root, Overheard)
    service = Service(*(STEPS if mode == "agent" else STEPS[2:]))
    spec = spec_of(rig.scenarios, mode, in_process_adapter())
    records = questions(await rig.run(spec, service))
    assert outcomes(records) == ["answered"]
    (memory,) = provider.started
    heard = "\n".join(memory.heard)
    assert TEXT in heard
    assert TEXT in service.seen
    assert KEPT not in heard
    assert KEPT not in service.seen
    assert records[0].answer.memories[0].episodes[0].startswith(KEPT)


@pytest.mark.parametrize("mode", ["agent", "reader"])
@pytest.mark.parametrize("kind", BASELINES)
async def test_a_baseline_s_refs_are_real_ids_and_stay_behind(rig, kind, mode):
    """A model meets them as handles alone."""
    rig.provider = provider_for("baseline")
    service = Service(*(STEPS if mode == "agent" else STEPS[2:]))
    adapter = AdapterRef(name=f"baseline:{kind}", version="1", pod="baseline")
    records = questions(await rig.run(spec_of(rig.scenarios, mode, adapter), service))
    assert outcomes(records) == ["answered"]
    assert TEXT in service.seen  # the opponent's prompt, if no other
    assert KEPT not in service.seen
