"""The simulator: what a seed's world is like, whatever words it is told in."""

import subprocess
import sys
from collections import defaultdict
from datetime import date
from itertools import pairwise

import pytest

from memrig.errors import UsageError
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import NO_FACT, TRUTH
from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS, SHARES
from memrig.suites.longhorizon.world import simulate
from support.plain_words import PlainWords

#: Of seed 42 at 1,000 turns. It changes with the simulator, and with nothing else.
DIGEST = "sha256:c98198dcef64e216e041b724cc09b16a08678362f34c046622f8667eb494c93f"


@pytest.fixture(scope="module")
def log():
    """A world of 3,000 turns."""
    with EventLog.create() as made:
        simulate(made, PlainWords(), 7, 3_000)
        yield made


@pytest.fixture(scope="module")
def turns(log):
    """Its turns in order."""
    return list(log.planned())


@pytest.fixture(scope="module")
def events(turns):
    """Its events in order."""
    return [event for turn in turns for event in turn.events]


@pytest.fixture(scope="module")
def chains(events):
    """The truth events of each key, in order."""
    found = defaultdict(list)
    for event in events:
        if event.kind in TRUTH:
            found[event.entity, event.attribute].append(event)
    return found


def attribute_of(event):
    return KINDS[event.entity.split("/")[0]].attribute(event.attribute)


def world(seed, turns):
    made = EventLog.create()
    simulate(made, PlainWords(), seed, turns)
    return made


# ------------------------------------------------------------------------------------ turns


def test_every_turn_is_told_once_and_in_order(turns):
    """Indexes, times and event ids go on without a gap or a step back."""
    assert [turn.index for turn in turns] == list(range(3_000))
    assert all(a.told_at <= b.told_at for a, b in pairwise(turns))
    ids = [event.event_id for turn in turns for event in turn.events]
    assert ids == list(range(len(ids)))
    assert all(event.turn == turn.index for turn in turns for event in turn.events)


def test_a_turn_tells_up_to_three_facts_of_one_entity_and_a_log_line_all(turns):
    """A log line has five attributes."""
    for turn in turns:
        assert len({event.entity for event in turn.events}) <= 1
        assert len(turn.events) == 5 if turn.block == "security_logs" else len(turn.events) <= 3


def test_a_turn_is_of_its_entity_s_block(turns):
    """But for callbacks and distractors, which are about anything."""
    for turn in turns:
        told = {KINDS[event.entity.split("/")[0]].block for event in turn.events}
        assert turn.block in {"callbacks", "distractors"} or told == {turn.block}


def test_facts_are_told_in_their_blocks_old_news_in_callbacks_the_rest_in_distractors(turns):
    """What changes nothing never stands beside a fact."""
    for turn in turns:
        kinds = {event.kind for event in turn.events}
        if turn.block == "callbacks":
            assert kinds == {"recalled"}
        elif turn.block == "distractors":
            assert kinds <= NO_FACT
        else:
            assert kinds <= ({"claimed"} if turn.block == "contradictory" else TRUTH)
            assert kinds


def test_wordings_are_drawn_from_32_bits(turns):
    """And not from fewer."""
    draws = [turn.draw for turn in turns]
    assert 0 <= min(draws) < 2**26
    assert 2**32 - 2**26 < max(draws) < 2**32


# ------------------------------------------------------------------------------------ truth


def test_a_key_is_stated_first_and_changed_ever_after(chains):
    """Each change takes the place of the truth event before it."""
    for chain in chains.values():
        assert chain[0].kind == "stated"
        assert chain[0].supersedes is None
        for before, after in pairwise(chain):
            assert after.kind in {"updated", "corrected", "retracted"}
            assert after.supersedes == before.event_id
            assert after.value != before.value


def test_only_what_can_change_changes(chains):
    """About half of what can does, up to four times."""
    can = [chain for chain in chains.values() if attribute_of(chain[0]).changes]
    assert all(len(c) == 1 for c in chains.values() if not attribute_of(c[0]).changes)
    assert max(map(len, can)) == 5
    assert 0.45 < sum(len(chain) > 1 for chain in can) / len(can) < 0.6


def test_a_correction_holds_from_the_day_of_what_it_corrects(chains):
    """It was wrong from the start."""
    found = [(a, b) for c in chains.values() for a, b in pairwise(c) if b.kind == "corrected"]
    assert len(found) > 30
    for wrong, right in found:
        assert right.valid_from == wrong.valid_from
        assert wrong.kind in {"stated", "updated"}


def test_a_retraction_brings_back_the_value_before_the_change(chains):
    """Only a change can be taken back."""
    found = [(c, n) for c in chains.values() for n, e in enumerate(c) if e.kind == "retracted"]
    assert len(found) > 10
    for chain, place in found:
        assert chain[place - 1].kind == "updated"
        assert chain[place].value == chain[place - 2].value


def test_values_hold_from_the_day_they_are_told_unless_they_say_later(log, chains):
    """And no change is told before the one before it holds."""
    later = 0
    for chain in chains.values():
        for event in chain:
            told = log.told_at(event.turn)[:10]
            if event.kind != "corrected":
                assert event.valid_from >= told
            later += event.valid_from > told
            assert event.valid_from == told or event.kind in {"updated", "corrected"}
        for before, after in pairwise(chain):
            assert before.valid_from <= log.told_at(after.turn)[:10]
            assert before.valid_from <= after.valid_from
    assert later > 50


def test_no_value_of_a_key_comes_twice_but_by_a_retraction(chains):
    """So that a value names its event."""
    for chain in chains.values():
        values = [event.value for event in chain if event.kind != "retracted"]
        assert len(values) == len(set(values))


def test_statuses_follow_one_another(chains):
    """An incident that was closed is not triaged."""
    found = [c for (_, name), c in chains.items() if name == "status" and len(c) > 1]
    assert len(found) > 10
    for chain in found:
        values = [int(e.value.split()[1]) for e in chain if e.kind != "retracted"]
        assert values == sorted(values)


def test_an_incident_was_opened_before_anything_is_told_of_it(log, events):
    """Within the week before, whenever its day of opening is told."""
    first = {}
    seen = 0
    for event in events:
        if event.entity.startswith("incident/"):
            day = date.fromisoformat(log.told_at(event.turn)[:10])
            first.setdefault(event.entity, day)
            if event.attribute == "opened" and event.kind == "stated":
                opened = date.fromisoformat(event.value)
                assert 0 <= (first[event.entity] - opened).days <= 7
                seen += 1
    assert seen > 10


def test_sources_of_a_topic_contradict_each_other(events):
    """Three of them, in three turns, with three values."""
    claims = defaultdict(list)
    for event in events:
        if event.kind == "claimed":
            claims[event.entity, event.attribute].append(event)
    assert len(claims) == 60
    for told in claims.values():
        assert len(told) == 3
        for name in ("turn", "source", "value"):
            assert len({getattr(event, name) for event in told}) == 3
        assert {event.reliability for event in told} == {"reported"}


# --------------------------------------------------------------------- what changes nothing


def test_old_news_is_an_earlier_event_as_it_was(log, events, chains):
    """With its value and its day; never what was found wrong in the meantime."""
    told = [event for event in events if event.kind == "recalled"]
    outdated = 0
    for event in told:
        first = log.event(event.refers_to)
        assert first.turn < event.turn
        for name in ("entity", "attribute", "value", "unit", "valid_from"):
            assert getattr(event, name) == getattr(first, name)
        assert event.valid_from <= log.told_at(event.turn)[:10]
        after = [e for e in chains[first.entity, first.attribute] if e.supersedes == first.event_id]
        since = [e for e in after if e.turn < event.turn]
        assert all(e.kind == "updated" for e in since)
        outdated += bool(since)
    assert len(told) == 150
    assert outdated / len(told) > 0.6


def test_what_never_came_to_be_is_no_value_of_the_key(events, chains):
    """Neither before nor after."""
    about = [event for event in events if event.kind in NO_FACT]
    assert {event.kind for event in about} == NO_FACT
    for event in about:
        truth = {true.value for true in chains.get((event.entity, event.attribute), ())}
        assert event.value not in truth
        assert (event.reliability == "hearsay") == (event.kind == "rumoured")


def test_rumours_are_of_what_is_known_of_what_is_told_later_and_of_what_is_never_told(
    events, chains
):
    """A reader must not fill a gap with one."""
    known = later = never = 0
    for event in events:
        if event.kind == "rumoured":
            truth = chains.get((event.entity, event.attribute), [])
            before = [true for true in truth if true.turn < event.turn]
            assert (event.refers_to is None) == (not before)
            known += bool(before)
            later += bool(truth) and not before
            never += not truth
    assert min(known, later, never) > 3
    assert known > later + never


def test_distractors_are_mostly_about_entities_that_have_a_sibling(log, events):
    """There they can be mixed up twice."""
    about = [event for event in events if event.kind in NO_FACT]
    assert sum(bool(log.entity(event.entity).sibling) for event in about) / len(about) > 0.6


# --------------------------------------------------------------------------------- entities


def test_siblings_have_each_other_and_other_values(log, events):
    """About an entity in four has one."""
    values = defaultdict(set)
    for event in events:
        values[event.entity, event.attribute].add(event.value)
    told = {event.entity for event in events}
    pairs = [e for e in log.entities() if e.sibling]
    assert 0.15 < len(pairs) / len(told) < 0.35
    clashes = shared = 0
    for entity in pairs:
        twin = log.entity(entity.sibling)
        assert (twin.sibling, twin.kind) == (entity.entity_id, entity.kind)
        assert (twin.holdout, twin.unit) == (entity.holdout, entity.unit)
        for attribute in KINDS[entity.kind].attributes:
            mine = values.get((entity.entity_id, attribute.name), set())
            other = values.get((twin.entity_id, attribute.name), set())
            shared += bool(mine and other)
            # The lines of a log repeat accounts on purpose.
            clashes += bool(mine & other) and entity.kind != "log"
    assert shared > 100
    assert clashes == 0


def test_one_entity_in_five_is_held_out(log, events):
    """Whole pairs of siblings."""
    told = [log.entity(name) for name in {event.entity for event in events}]
    assert 0.15 < sum(entity.holdout for entity in told) / len(told) < 0.25


def test_references_lead_to_people_of_the_same_set(log, events):
    """So that a question of several hops stays in its set."""
    seen = 0
    for event in events:
        if attribute_of(event).of:
            person = log.entity(event.value)
            assert person.kind == attribute_of(event).of
            assert person.holdout == log.entity(event.entity).holdout
            assert event.value != event.entity
            seen += 1
    assert seen > 100


def test_names_and_ids_are_unique(log):
    """A question's entity is one entity."""
    everybody = list(log.entities())
    assert len({entity.entity_id for entity in everybody}) == len(everybody)
    assert len({(entity.kind, entity.name) for entity in everybody}) == len(everybody)


def test_some_of_each_entity_s_attributes_are_never_told(events):
    """It can be asked what nobody said."""
    told = defaultdict(set)
    for event in events:
        if event.kind in TRUTH and not event.entity.startswith("log/"):
            told[event.entity].add(event.attribute)
    whole = [e for e, names in told.items() if len(names) == len(KINDS[e.split("/")[0]].attributes)]
    assert 0 < len(whole) / len(told) < 0.3


def test_numbers_are_within_their_span_and_carry_their_unit(log, events):
    """A metric has its own unit, and percentages end below a hundred."""
    units = set()
    for event in events:
        attribute = attribute_of(event)
        if attribute.value != "number":
            assert event.unit == ""
            continue
        least, most, step = attribute.span
        own = log.entity(event.entity).unit
        assert event.unit == (own if attribute.unit == "*" else attribute.unit)
        if attribute.unit == "*":
            units.add(event.unit)
            assert 1 <= float(event.value) <= (99 if event.unit == "%" else most)
        else:
            assert least <= int(event.value) <= most
            assert (int(event.value) - least) % step == 0
    assert units == set(METRIC_UNITS)


def test_what_goes_together_in_a_case_is_told_together(log, events):
    """The approach with its reason."""
    turns = defaultdict(dict)
    for event in events:
        if event.entity.startswith("case/"):
            turns[event.entity][event.attribute] = event.turn
    whole = [told for told in turns.values() if "approach" in told]
    assert len(whole) > 20
    assert all(told["approach"] == told["reason"] > told["symptom"] for told in whole)


def test_accounts_come_back_in_the_logs(events):
    """Several lines each, so that they can be counted."""
    accounts = [event.value for event in events if event.attribute == "account"]
    assert 2 < len(accounts) / len(set(accounts)) < 20


# -------------------------------------------------------------------------------- seeds, size


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_smallest_world_has_every_block(seed):
    """100 turns tell something of each, with siblings and held-out entities."""
    with world(seed, 100) as small:
        turns = list(small.planned())
        assert {turn.block for turn in turns} == set(SHARES)
        told = {event.entity for turn in turns for event in turn.events}
        assert any(small.entity(name).sibling for name in told)
        assert any(small.entity(name).holdout for name in told)


@pytest.mark.parametrize("turns", [0, 99, 100_001])
def test_a_world_that_is_too_small_or_too_large_is_refused(turns):
    """Both bounds are named."""
    with EventLog.create() as empty, pytest.raises(UsageError, match=r"100 to 100000.*--turns|--t"):
        simulate(empty, PlainWords(), 1, turns)


def test_a_lexicon_with_too_few_names_is_refused():
    """No name is given twice."""

    class Few(PlainWords):
        def capacity(self, kind):
            return 40

    with EventLog.create() as empty, pytest.raises(UsageError, match="40 names of kind"):
        simulate(empty, Few(), 1, 1_000)


def test_two_seeds_share_hardly_a_fact():
    """Entities, values and times are all drawn anew."""
    facts = []
    for seed in (1, 2):
        with world(seed, 1_000) as made:
            told = [event for turn in made.planned() for event in turn.events]
            facts.append({(e.entity, e.attribute, e.value) for e in told})
    assert len(facts[0] & facts[1]) < 0.05 * len(facts[0])


def test_the_same_seed_gives_the_same_bytes_always():
    """A committed digest: on every platform, Python and day."""
    with world(42, 1_000) as made:
        assert made.seed == 42
        assert made.digest() == DIGEST


def test_the_order_of_sets_decides_nothing():
    """Processes that hash differently make the same world."""
    code = (
        "from memrig.suites.longhorizon.lexicon import LEXICON\n"
        "from memrig.suites.longhorizon.log import EventLog\n"
        "from memrig.suites.longhorizon.world import simulate\n"
        "log = EventLog.create()\n"
        "simulate(log, LEXICON, 42, 500)\n"
        "print(log.digest())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "2")
    ]
    assert found[0].startswith("sha256:")
    assert found[0] == found[1]
