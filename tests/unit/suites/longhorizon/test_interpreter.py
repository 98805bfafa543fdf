"""The reference interpreter: worlds by hand, and a replay that answers in another way."""

import random

import pytest
from pydantic import TypeAdapter

from memrig.suites.longhorizon.allocate import allocate
from memrig.suites.longhorizon.interpreter import Interpreter, computed
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.query import (
    Changes,
    Claim,
    Claimant,
    Claims,
    Computed,
    Condition,
    Count,
    Having,
    History,
    Identity,
    Named,
    Program,
    Referred,
    Sharing,
    Since,
    Value,
    Which,
)
from memrig.suites.longhorizon.world import simulate
from support.worlds import Replay, day_of, told, world

ATLAS, BOREAS = "project/atlas", "project/boreas"
MARA, IVO = "person/mara", "person/ivo"


def budget(**more) -> Value:
    return Value(of=Named(entity=ATLAS), attribute="budget", **more)


def answer(log, program, after=30):
    return Interpreter(log, after).answer(program)


@pytest.fixture
def changing():
    """A budget that changed twice."""
    with world(
        told(2, ATLAS, "budget", "100"),
        told(9, ATLAS, "budget", "150", "updated", supersedes=0),
        told(20, ATLAS, "budget", "120", "updated", supersedes=1),
    ) as log:
        yield log


def test_the_latest_change_counts(changing):
    """A value now is the one of the last event, and the others are stale."""
    found = answer(changing, budget())
    assert (found.values, found.turns, found.stale) == (("120",), (20,), {2, 9})


def test_what_is_told_later_is_not_known_yet(changing):
    """A question after so many turns knows these and no more."""
    assert answer(changing, budget(), after=20).values == ("150",)
    assert answer(changing, budget(), after=2).unknown == "budget of project/atlas was never told"


def test_the_value_on_a_day_is_the_one_of_its_time(changing):
    """As of a day between two changes, the earlier one holds."""
    found = answer(changing, budget(which="on", day=day_of(12)))
    assert (found.values, found.turns) == (("150",), (9,))


def test_first_and_former_values(changing):
    """The first value, and the one before the last change, which is evidence too."""
    first, former = (answer(changing, budget(which=which)) for which in ("first", "before"))
    assert (first.values, first.turns) == (("100",), (2,))
    assert (former.values, former.turns) == (("150",), (9, 20))


def test_changes_and_history(changing):
    """Two changes make three values, in their order, all of them evidence."""
    named = Named(entity=ATLAS)
    assert answer(changing, Changes(of=named, attribute="budget")).values == ("2",)
    found = answer(changing, History(of=named, attribute="budget"))
    assert (found.values, found.turns) == (("100", "150", "120"), (2, 9, 20))


def test_since_when_a_value_holds(changing):
    """The day of the change, with the other days as competing answers."""
    found = answer(changing, Since(of=Named(entity=ATLAS), attribute="budget", value="150"))
    assert (found.values, found.wrong) == ((day_of(9),), [day_of(2), day_of(20)])


def test_a_false_premise_has_no_answer(changing):
    """A value that never was has no day."""
    found = answer(changing, Since(of=Named(entity=ATLAS), attribute="budget", value="999"))
    assert (found.values, found.unknown) == ((), "budget of project/atlas was never 999")


def test_a_change_to_come_does_not_hold_yet():
    """It is told on day 5 and holds from day 15 on."""
    with world(
        told(2, ATLAS, "budget", "100"),
        told(5, ATLAS, "budget", "150", "updated", valid_from=day_of(15), supersedes=0),
    ) as log:
        before, after = answer(log, budget(), after=12), answer(log, budget(), after=16)
        assert (before.values, before.wrong) == (("100",), ["150"])
        assert after.values == ("150",)


def test_a_retraction_brings_back_the_value_before():
    """Its own turn is the evidence, and the change taken back is stale."""
    with world(
        told(2, ATLAS, "budget", "100"),
        told(5, ATLAS, "budget", "150", "updated", supersedes=0),
        told(8, ATLAS, "budget", "100", "retracted", supersedes=1),
    ) as log:
        found = answer(log, budget())
        assert (found.values, found.turns, found.stale) == (("100",), (8,), {5})


def test_what_a_retraction_brings_back_is_worked_out():
    """Whatever it says itself, and however many changes were taken back one after another."""
    with world(
        told(2, ATLAS, "budget", "100"),
        told(4, ATLAS, "budget", "150", "updated", supersedes=0),
        told(6, ATLAS, "budget", "unheard of", "retracted", supersedes=1),
        told(8, ATLAS, "budget", "180", "updated", supersedes=2),
        told(9, ATLAS, "budget", "unheard of", "retracted", supersedes=3),
    ) as log:
        assert answer(log, budget()).values == ("100",)


def test_a_correction_holds_from_the_start_of_what_it_corrects():
    """It counts for the days before it was told; such a chain has no plain history."""
    with world(
        told(2, ATLAS, "budget", "100"),
        told(8, ATLAS, "budget", "110", "corrected", valid_from=day_of(2), supersedes=0),
    ) as log:
        assert answer(log, budget(which="on", day=day_of(4))).values == ("110",)
        assert answer(log, History(of=Named(entity=ATLAS), attribute="budget")).unknown


@pytest.mark.parametrize("kind", ["recalled", "supposed", "rumoured"])
def test_what_changes_nothing_changes_nothing(kind):
    """Old news, suppositions and rumours are wrong values, never right ones."""
    with world(
        told(2, ATLAS, "budget", "100"), told(8, ATLAS, "budget", "700", kind, refers_to=0)
    ) as log:
        found = answer(log, budget())
        assert (found.values, found.wrong) == (("100",), ["700"])


def test_a_siblings_values_compete():
    """They are wrong answers to the question about this one."""
    events = told(2, ATLAS, "budget", "100"), told(3, BOREAS, "budget", "900")
    with world(*events, siblings={ATLAS: BOREAS}) as log:
        assert answer(log, budget()).wrong == ["900"]


def test_claims_have_sources_and_no_truth():
    """Who said it, what was said, and all of it."""
    topic = "topic/leak"
    claims = (
        told(2, topic, "estimate", "10", "claimed", source="Dr Ash"),
        told(4, topic, "estimate", "20", "claimed", source="Dr Elm"),
    )
    with world(*claims) as log:
        key = {"entity": topic, "attribute": "estimate"}
        by = answer(log, Claimant(**key, value="20"))
        assert (by.values, by.wrong, by.turns) == (("Dr Elm",), ["Dr Ash"], (4,))
        assert answer(log, Claim(**key, source="Dr Ash")).values == ("10",)
        pairs = (("Dr Ash", "10"), ("Dr Elm", "20"))
        assert answer(log, Claims(**key)).pairs == pairs
        assert answer(log, Value(of=Named(entity=topic), attribute="estimate")).unknown


@pytest.fixture
def people():
    """Two people of one town, one of whom leads a project."""
    with world(
        told(1, MARA, "hometown", "Ostrel"),
        told(2, IVO, "hometown", "Ostrel"),
        told(3, MARA, "hobby", "chess"),
        told(4, IVO, "hobby", "golf"),
        told(5, ATLAS, "lead", IVO),
        told(6, BOREAS, "sponsor", IVO),
    ) as log:
        yield log


def test_hops_follow_references(people):
    """The hobby of the lead: both turns are evidence, the last hop holds the answer."""
    lead = Referred(of=Named(entity=ATLAS), attribute="lead")
    found = answer(people, Value(of=lead, attribute="hobby"))
    assert found.values == ("golf",)
    assert [hop.turn for hop in found.hops] == [5, 4]


def test_only_one_may_meet_the_conditions(people):
    """A trait that two share names nobody; with a second one it does, and the proof says so."""
    town, hobby = (Condition(attribute="hometown", value="Ostrel"),
                   Condition(attribute="hobby", value="chess"))  # fmt: skip
    both = answer(people, Identity(of=Having(kind="person", conditions=(town, hobby))))
    assert (both.values, both.turns) == ((MARA,), (1, 3))
    assert [(step.scanned, step.matched) for step in both.steps] == [(2, 1)]
    assert answer(people, Identity(of=Having(kind="person", conditions=(town,)))).unknown


def test_the_same_value_elsewhere(people):
    """The project whose sponsor is another project's lead."""
    lead = Value(of=Named(entity=ATLAS), attribute="lead")
    found = answer(people, Identity(of=Sharing(kind="project", attribute="sponsor", same_as=lead)))
    assert (found.values, found.turns) == ((BOREAS,), (5, 6))


def test_counts_and_lists(people):
    """How many, which ones, and what they have."""
    town = (Condition(attribute="hometown", value="Ostrel"),)
    assert answer(people, Count(kind="person", conditions=town)).values == ("2",)
    assert answer(people, Which(kind="person", conditions=town)).values == (MARA, IVO)
    shown = answer(people, Which(kind="person", conditions=town, show="hobby"))
    assert (shown.values, shown.turns) == (("chess", "golf"), (1, 2, 3, 4))


def test_who_left_is_stale_evidence():
    """A member that moved away is none, and what made it one is stale."""
    with world(
        told(1, MARA, "team", "red"),
        told(2, IVO, "team", "red"),
        told(9, IVO, "team", "blue", "updated", supersedes=1),
    ) as log:
        red = (Condition(attribute="team", value="red"),)
        found = answer(log, Which(kind="person", conditions=red))
        assert (found.values, found.stale) == ((MARA,), {2})


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("difference", ("3", "10.5"), "7.5"),
        ("sum", ("0.1", "0.2", "100"), "100.3"),
        ("mean", ("1", "2"), "1.5"),
        ("percent", ("80", "70"), "12.5"),
        ("percent", ("3", "4"), "33.3"),
        ("days", ("2032-02-28", "2032-03-01"), "2"),
    ],
)
def test_figures_are_exact_decimals(operator, values, expected):
    """No binary fractions; a percentage has one decimal and no sign."""
    assert computed(operator, values) == expected


def test_wrong_operands_make_wrong_results(changing):
    """What comes out with a superseded value competes."""
    first = Value(of=Named(entity=ATLAS), attribute="budget", which="first")
    found = answer(changing, Computed(operator="difference", operands=(first, budget())))
    assert found.values == ("20",)
    assert set(found.wrong) == {"30", "0", "50"}


def test_a_program_can_be_written_and_read():
    """It is data: the JSON of a program is the program."""
    lead = Referred(of=Named(entity=ATLAS), attribute="lead")
    program = Value(of=lead, attribute="hobby", which="on", day="2031-02-03")
    adapter: TypeAdapter[Program] = TypeAdapter(Program)
    assert adapter.validate_json(program.model_dump_json()) == program


@pytest.fixture(scope="module")
def simulated():
    """A world of 1,000 turns."""
    with EventLog.create() as log:
        simulate(log, LEXICON, 11, 1_000)
        yield log


def agrees(replay: Replay, log: EventLog, program: Program) -> bool:
    found = Interpreter(log, replay.told).answer(program)
    expected = replay.answer(program)
    values = set(found.values) if isinstance(expected, set) else list(found.values)
    return not found.unknown and values == expected


def test_the_questions_answers_are_those_of_a_replay(simulated):
    """Every answerable question of both sets, answered again over plain lists."""
    both = [
        *allocate(simulated, LEXICON, 150),
        *allocate(simulated, LEXICON, 60, holdout=True),
    ]
    replays = {after: Replay.of(simulated, after) for after in {q.asked_after for q in both}}
    asked = [question for question in both if question.answerable]
    wrong = [q for q in asked if not agrees(replays[q.asked_after], simulated, q.program)]
    assert [(q.template, q.program) for q in wrong] == []
    assert len(asked) > 190


def test_random_values_are_those_of_a_replay(simulated):
    """Keys at six moments, whether or not a question would ask for them."""
    chance = random.Random(5)  # noqa: S311 - a draw of cases
    compared = 0
    for after in (40, 200, 333, 500, 750, 1_000):
        replay = Replay.of(simulated, after)
        states, now = replay.states(), Interpreter(simulated, after)
        keys = sorted(states)
        for entity, attribute in chance.sample(keys, min(100, len(keys))):
            program = Value(of=Named(entity=entity), attribute=attribute)
            held = [v for start, v in states[entity, attribute] if start <= replay.day]
            assert now.answer(program).values == tuple(held[-1:]), program
            compared += 1
    assert compared > 500


def test_random_counts_are_those_of_a_replay(simulated):
    """Predicates and values at random: as many, and the same ones."""
    chance = random.Random(6)  # noqa: S311 - a draw of cases
    replay, now = Replay.of(simulated, 800), Interpreter(simulated, 800)
    told_of = [event for event in replay.events if event.kind in {"stated", "updated"}]
    for event in chance.sample(told_of, 120):
        kind = event.entity.split("/", 1)[0]
        conditions = (Condition(attribute=event.attribute, value=event.value),)
        found = now.answer(Which(kind=kind, conditions=conditions)).values
        assert set(found) == set(replay.members(kind, conditions))
