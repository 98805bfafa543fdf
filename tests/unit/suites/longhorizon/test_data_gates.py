"""The data gates: what every world of the standard length is held to, measured from its texts."""

from dataclasses import replace

import pytest

from memrig.suites.longhorizon.gates import gates, survey
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import TRUTH
from memrig.suites.longhorizon.render import told
from memrig.suites.longhorizon.schema import KINDS, PREDICATES, SHARES
from memrig.suites.longhorizon.world import simulate

TURNS = 5_000
#: One world in the fast lane; the others take half a second each, too, but show the same.
SEEDS = [42, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (123, 456, 789, 1001))]


@pytest.fixture(scope="module", params=SEEDS)
def log(request):
    with EventLog.create() as made:
        simulate(made, LEXICON, request.param, TURNS)
        yield made


@pytest.fixture(scope="module")
def figures(log):
    return survey(log, (turn.text for turn in told(log, LEXICON)))


def test_every_gate_is_met(figures, record_property):
    """At once, so that a failure shows all."""
    found = gates(figures)
    for gate in found:
        record_property(gate.name, gate.figure)
    assert [gate for gate in found if not gate.met] == []


def test_the_world_is_full_of_facts(figures):
    """At least 3,000 distinct ones in 5,000 turns."""
    assert figures.facts >= 3_000


def test_hardly_a_text_comes_twice(figures):
    """At least four in five are unique."""
    assert figures.texts >= 0.8 * TURNS


def test_few_turns_tell_no_fact(figures):
    """At most one in five, with callbacks, which tell nothing new, counted among them."""
    assert figures.factless + figures.retelling <= 0.2 * TURNS
    assert figures.talk <= 0.03 * TURNS


def test_blocks_keep_their_shares_and_run_side_by_side(figures):
    """Each is told in each tenth of the horizon."""
    for block, share in SHARES.items():
        assert abs(figures.blocks[block] - TURNS * share / 100) <= 3
        assert min(figures.parts[block]) > 0


def test_updates_lie_apart_by_every_scale_up_to_the_whole_horizon(figures):
    """Log-uniform: octaves are equally frequent, but for those of a turn or two."""
    octaves = figures.gaps[:10]
    mean = sum(octaves) / len(octaves)
    assert all(0.6 * mean < count < 1.5 * mean for count in octaves)
    assert figures.longest >= 0.8 * TURNS


def test_facts_are_told_at_every_depth_alike(figures):
    """Each tenth of the horizon has a tenth of them."""
    total = sum(figures.depths)
    assert all(0.08 < count / total < 0.12 for count in figures.depths)


def test_every_predicate_is_told_and_every_one_that_changes_changes(log):
    """Nothing of the schema is dead."""
    stated, changed = set(), set()
    for turn in log.planned():
        for event in turn.events:
            kind = event.entity.split("/")[0]
            if event.kind in TRUTH or event.kind == "claimed":
                stated.add(f"{kind}.{event.attribute}")
            if event.kind == "updated":
                changed.add(f"{kind}.{event.attribute}")
    assert stated == set(PREDICATES)
    assert changed == {
        f"{k.name}.{a.name}" for k in KINDS.values() for a in k.attributes if a.changes
    }


def test_every_predicate_has_five_phrasings():
    """Different ones."""
    for predicate in PREDICATES:
        assert len({text.lower() for text in LEXICON.stated(predicate)}) >= 5


def test_the_traps_are_there(figures):
    """Corrections, retractions, updates for later, old news, suppositions, rumours."""
    for kind in ("corrected", "retracted", "recalled", "supposed", "rumoured", "claimed"):
        assert figures.kinds[kind] >= 40
    assert figures.later >= 100
    assert 0.15 * figures.entities < figures.siblings < 0.35 * figures.entities
    assert 0.15 * figures.entities < figures.held_out < 0.25 * figures.entities


@pytest.mark.slow
def test_no_two_seeds_share_a_twentieth_of_their_facts():
    """Nor of their texts."""
    facts, texts = [], []
    for seed in (42, 123, 456, 789, 1001):
        with EventLog.create() as made:
            simulate(made, LEXICON, seed, TURNS)
            texts.append({turn.text for turn in told(made, LEXICON)})
            facts.append(
                {
                    (event.entity, event.attribute, event.value)
                    for turn in made.planned()
                    for event in turn.events
                    if event.kind in TRUTH
                }
            )
    for seen in (facts, texts):
        for first in range(5):
            for second in range(first):
                assert len(seen[first] & seen[second]) < 0.05 * len(seen[first])


def test_gates_see_a_world_that_is_not_as_it_should(figures):
    """They bite."""
    wrong = {
        "distinct facts for each turn": replace(figures, facts=764),
        "unique texts": replace(figures, texts=575),
        "turns without a fact": replace(figures, factless=4_700),
        "small talk": replace(figures, talk=400),
        "furthest block from its share": replace(
            figures, blocks={**figures.blocks, "people": 4_000}
        ),
        "thinnest tenth of a block, of its mean": replace(
            figures, parts={**figures.parts, "people": (600, *[0] * 9)}
        ),
        "rarest octave of gaps, of the mean": replace(figures, gaps=(0, *figures.gaps[1:])),
        "commonest octave of gaps, of the mean": replace(figures, gaps=(900, *figures.gaps[1:])),
        "longest gap, of the horizon": replace(figures, longest=1_000),
        "facts in the thinnest tenth, of the mean": replace(
            figures, depths=(9, *figures.depths[1:])
        ),
        "facts in the thickest tenth, of the mean": replace(
            figures, depths=(5_000, *figures.depths[1:])
        ),
    }
    assert set(wrong) == {gate.name for gate in gates(figures)}
    for name, changed in wrong.items():
        assert name in {gate.name for gate in gates(changed) if not gate.met}
