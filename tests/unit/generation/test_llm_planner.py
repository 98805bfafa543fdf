"""A model as the planner: it proposes figures; what follows from them is computed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.errors import DataError, GatewayError
from memrig.gateway.config import GatewayConfig, GatewayMode
from memrig.gateway.service import Gateway
from memrig.generation.facts import compute
from memrig.generation.llm_planner import Range, parse_phase, planner_of, ranges_of
from memrig.generation.model import Plan
from memrig.generation.planner import plan_by_formula
from memrig.generation.spec import Spec
from memrig.generation.story import tell
from memrig.model.chat import ChatReply, ChatRequest
from support.fake_chat import ScriptedChat, says
from support.gateways import CLAUDE, GPT, QUICK, upstreams_of
from support.llm_standin import LlmStandIn, Seen
from support.stories import EVENTS, Reply, brief_in, figures, pump_spec

SPEC = pump_spec()
CALM, WEAR = tell(SPEC).phases


def planning(request: ChatRequest) -> ChatReply:
    """Implements a model that plans well."""
    return says(json.dumps(figures(brief_in(request.messages[0].text))))


async def planned(*replies: object, spec: Spec = SPEC) -> tuple[Plan, ScriptedChat]:
    chat = ScriptedChat([*replies, planning])
    return await planner_of(chat, "m").plan(spec), chat


async def test_the_models_figures_stand_in_the_sheets_phase_by_phase():
    """One call a phase; each sees the storyline and the figures before it."""
    plan, chat = await planned()
    first = figures(brief_in(chat.requests[0].messages[0].text))
    sheets = [e.sheet for e in plan.episodes if e.kind == "signal"]
    shown = [
        reading.value for sheet in sheets[: len(CALM)] for section in sheet.sections
        for reading in section.readings if reading.label == "Inlet pressure"
    ]  # fmt: skip
    assert shown == [f"{value:.1f}" for value in first["values"]["inlet"]]
    assert [sheet.events for sheet in sheets] == [tuple(EVENTS)] * 20
    assert len(chat.requests) == 2
    assert all("SECRETSTORY" in r.messages[0].text for r in chat.requests)
    before = brief_in(chat.requests[1].messages[0].text)["figures_of_the_phases_before"]
    assert before["inlet"] == shown
    assert {(c.phase, c.purpose) for c in chat.contexts} == {("generate", "planner")}


async def test_facts_are_computed_from_the_models_figures():
    """As from a formula's: each is what the deterministic functions make of these values."""
    plan, _ = await planned()
    (question,) = (q for q in plan.questions if q.question_id == "pump-q0")
    rise = question.facts[0].text
    sheets = {e.number: e.sheet for e in plan.episodes if e.kind == "signal"}
    first, last = (sheets[n].sections[0].readings[0].value for n in (1, 20))
    assert f"from {first} kPa to {last} kPa" in rise
    assert rise != plan_by_formula(SPEC).questions[0].facts[0].text
    assert (
        compute(tell(SPEC), SPEC.facts[0], 20).text
        == plan_by_formula(SPEC).questions[0].facts[0].text
    )


async def test_distractors_stay_those_of_the_formulas():
    """A model plans the story alone."""
    plan, _ = await planned()
    ours = [e.sheet for e in plan.episodes if e.kind == "distractor"]
    assert ours == [e.sheet for e in plan_by_formula(SPEC).episodes if e.kind == "distractor"]


def good() -> Reply:
    """A reply for the first phase that can be used."""
    ranges = ranges_of(tell(SPEC), CALM)
    return {
        "values": {r.signal.name: [float(r.least)] * len(CALM) for r in ranges},
        "events": [list(EVENTS) for _ in range(len(CALM))],
    }


def broken(change: Callable[[Reply], object]) -> str:
    """The good reply, changed."""
    reply = good()
    change(reply)
    return json.dumps(reply)


BROKEN = [
    ("no JSON", "Here it is: {}", "it is no JSON"),
    ("no object", "[]", "exactly the members"),
    ("a member more", broken(lambda r: r.update(gold="x")), "exactly the members"),
    ("twice", '{"values": {}, "values": {}, "events": []}', "stands twice"),
    ("deep", "[" * 100_000, "it is no JSON"),
    ("NaN", broken(lambda r: r["values"].update(inlet=[float("nan")] * 8)), "NaN is no number"),
    ("series missing", broken(lambda r: r["values"].pop("tank")), "exactly the series"),
    ("series more", broken(lambda r: r["values"].update(x=[])), "exactly the series"),
    ("too short", broken(lambda r: r["values"]["inlet"].pop()), "inlet is not a list of 8"),
    ("too long", broken(lambda r: r["values"]["inlet"].append(20)), "inlet is not a list of 8"),
    ("a text", broken(lambda r: r["values"].update(inlet=["20.0"] * 8)), "number 1 is no number"),
    ("true", broken(lambda r: r["values"].update(inlet=[True] * 8)), "number 1 is no number"),
    ("beyond", broken(lambda r: r["values"].update(inlet=[99.5] * 8)), "is 99.5, expected"),
    ("too fine", broken(lambda r: r["values"].update(inlet=[20.05] * 8)), "more than 1 decimals"),
    ("events missing", broken(lambda r: r["events"].pop()), "not a list of 8 lists"),
    ("one event", broken(lambda r: r["events"][2].pop()), "list 3 is not a list of 2 to 4"),
    ("no sentence", broken(lambda r: r["events"][0].append(7)), "holds what is no sentence"),
    ("figure", broken(lambda r: r["events"][0].append("Shift 2 left.")), "holds a figure"),
    ("long", broken(lambda r: r["events"][0].append("la " * 99)), "more than 200 characters"),
    (
        "said",
        broken(lambda r: r["events"][0].append("A bearing came.")),
        "may not be said: bearing",
    ),
]


@pytest.mark.parametrize(("text", "problem"), [case[1:] for case in BROKEN],
                         ids=[case[0] for case in BROKEN])  # fmt: skip
async def test_a_reply_that_is_not_as_asked_is_asked_for_again(text, problem):
    """With what was wrong; and the next one is taken."""
    plan, chat = await planned(says(text))
    assert problem in chat.requests[1].messages[-1].text
    assert [context.attempt for context in chat.contexts] == [0, 1, 0]
    assert len(plan.questions) == len(SPEC.questions)


def test_the_reply_that_the_broken_ones_are_made_from_can_be_used():
    """Else they might be refused for something else."""
    ranges = ranges_of(tell(SPEC), CALM)
    found = parse_phase(f"```json\n{json.dumps(good())}\n```", ranges, len(CALM), SPEC.forbidden)
    assert {len(values) for values in found.values.values()} == {len(CALM)}
    assert all(str(v).count(".") == 1 for values in found.values.values() for v in values)


async def test_after_three_replies_that_are_not_as_asked_it_ends_with_an_error():
    """Naming spec and phase."""
    chat = ScriptedChat([says("[]")])
    with pytest.raises(GatewayError, match="asked 3 times") as caught:
        await planner_of(chat, "m").plan(SPEC)
    assert len(chat.requests) == 3
    assert caught.value.where == "spec pump, phase calm"


def _flat(request: ChatRequest) -> ChatReply:
    """In range, and without what the facts say: the valve never comes back."""
    reply = figures(brief := brief_in(request.messages[0].text))
    valve = brief["series"]["valve"]
    reply["values"]["valve"] = [float(valve["most"])] * brief["episodes"]
    return says(json.dumps(reply))


async def test_figures_that_do_not_show_the_facts_are_asked_for_again():
    """All phases anew, with the fact that did not hold."""
    plan, chat = await planned(_flat, _flat)
    assert len(chat.requests) == 4
    assert "'valve' does not come back" in chat.requests[2].messages[0].text
    assert "'valve'" not in chat.requests[1].messages[0].text
    assert plan.questions


async def test_three_plans_that_do_not_show_the_facts_are_an_error():
    """A fact is never bent to a plan."""
    with pytest.raises(GatewayError, match=r"do not show the facts .* asked 3 times") as caught:
        await planner_of(ScriptedChat([_flat]), "m").plan(SPEC)
    assert "valve" in caught.value.message
    assert caught.value.where == "spec pump"


async def test_a_spec_whose_formulas_do_not_work_out_is_refused_before_any_call():
    """It is the author's to mend."""
    signals = (SPEC.signals[0].model_copy(update={"formulas": {"calm": "1"}}), *SPEC.signals[1:])
    chat = ScriptedChat([planning])
    with pytest.raises(DataError, match="no formula for the phase 'wear'"):
        await planner_of(chat, "m").plan(SPEC.model_copy(update={"signals": signals}))
    assert chat.requests == []


def test_ranges_are_those_of_the_formulas_and_their_noise():
    """So that facts with thresholds can hold, and no figure leaves the story."""
    story = tell(SPEC)
    found: dict[str, Range] = {r.signal.name: r for r in ranges_of(story, WEAR)}
    values = story.values["inlet"][WEAR.first - 1 :]
    assert float(found["inlet"].least) == pytest.approx(float(min(values)) - 0.6)
    assert float(found["inlet"].most) == pytest.approx(float(max(values)) + 0.6)
    assert (found["inlet"].moves, found["outlet"].moves) == ("up", "down")


# -------------------------------------------------------------------------------- over real HTTP


def gateway(
    mode: GatewayMode, record: Path, model: str, standin: LlmStandIn | None = None
) -> Gateway:
    upstreams = upstreams_of(standin) if standin else ()
    config = GatewayConfig(
        mode=mode, record=record, models=frozenset({model}), retry=QUICK, upstreams=upstreams
    )
    return Gateway(config, environment={})


def stubborn(seen: Seen) -> str:
    """A model that asks back first, and plans when asked again."""
    if "Reply again" not in seen.text:
        return "Which figures?"
    return json.dumps(figures(brief_in(seen.text.split("\nWhich figures?")[0])))


@pytest.mark.parametrize("model", [GPT, CLAUDE])
async def test_a_recorded_plan_replays_to_the_same_plan(tmp_path, model):
    """With no provider at all."""
    record = tmp_path / "record.sqlite"
    async with (
        LlmStandIn(stubborn) as standin,
        gateway("record", record, model, standin) as chat,
    ):
        made = await planner_of(chat, model).plan(SPEC)
        assert len(standin.seen) == 4
    async with gateway("replay-strict", record, model) as chat:
        again = await planner_of(chat, model).plan(SPEC)
    assert made == again
