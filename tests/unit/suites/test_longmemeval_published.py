"""LongMemEval's published files, where they are on this machine, have their published counts."""

import json
from collections import Counter
from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.model.gold import Gold
from memrig.model.scenario import Scenario, episodes_of, questions_of
from memrig.suites.base import SuiteOptions
from memrig.suites.longmemeval import SUITE
from memrig.suites.longmemeval_scenario import ABSTAINS, NO_USER_EVIDENCE
from memrig.suites.sampling import catalog, stratified
from support.data import data_file

OFFICIAL, ALL_TURNS = "longmemeval-official", "longmemeval-all-turns"


def options(protocol: str = ALL_TURNS, **changes: object) -> SuiteOptions:
    return SuiteOptions(protocol, **changes)


def gold_of(scenario: Scenario) -> Gold:
    """The gold record of a scenario's only question."""
    (gold,) = scenario.gold.values()
    return gold


def names(scenario: Scenario) -> list[str]:
    return [episode.episode_id for episode in episodes_of(scenario.timeline)]


@pytest.fixture(scope="module")
def oracle() -> Path:
    """The published oracle file, where it is on this machine."""
    return data_file("longmemeval_oracle.json")


def test_the_oracle_file_has_the_published_counts(oracle):
    """Straight from the JSON, without any of our code, and by it."""
    raw = json.loads(oracle.read_bytes())
    turns = [t for r in raw for session in r["haystack_sessions"] for t in session]
    assert (len(raw), sum(len(r["haystack_sessions"]) for r in raw)) == (500, 948)
    assert (len(turns), sum("_abs" in r["question_id"] for r in raw)) == (10_960, 30)
    sessions = list(SUITE.scenarios(options(file=oracle)))
    split = list(SUITE.scenarios(options(file=oracle, granularity="turn")))
    assert (len(sessions), sum(len(names(s)) for s in sessions)) == (500, 948)
    assert sum(len(names(s)) for s in split) == 10_960
    assert sum("abstention" in gold_of(s).tags for s in sessions) == 30


@pytest.mark.parametrize(
    ("protocol", "granularity", "scorable"),
    [(OFFICIAL, "session", 419), (OFFICIAL, "turn", 419), (ALL_TURNS, "session", 470),
     (ALL_TURNS, "turn", 470)],
)  # fmt: skip
def test_419_or_470_questions_of_the_oracle_file_are_scored(
    protocol, granularity, scorable, oracle
):
    """Without the 30 abstentions, and officially without the 51 that no user turn answers."""
    asked = options(protocol, file=oracle, granularity=granularity)
    golds = [gold_of(scenario) for scenario in SUITE.scenarios(asked)]
    assert sum(gold.scorable for gold in golds) == scorable
    left = Counter(gold.note for gold in golds if not gold.scorable)
    assert left == {ABSTAINS: 30} | ({NO_USER_EVIDENCE: 51} if protocol == OFFICIAL else {})
    notes = SUITE.source(asked).notes
    assert any(note.endswith(f"({ABSTAINS}): 30") for note in notes)
    assert any(note.endswith(": 51") for note in notes) == (protocol == OFFICIAL)


def test_the_types_of_the_oracle_file_have_their_published_sizes(oracle):
    """Abstentions inside their type."""
    golds = [gold_of(scenario) for scenario in SUITE.scenarios(options(file=oracle))]
    assert Counter((g.category, "abstention" in g.tags) for g in golds) == {
        ("single-session-user", False): 64, ("single-session-user", True): 6,
        ("single-session-assistant", False): 56, ("single-session-preference", False): 30,
        ("multi-session", False): 121, ("multi-session", True): 12,
        ("temporal-reasoning", False): 127, ("temporal-reasoning", True): 6,
        ("knowledge-update", False): 72, ("knowledge-update", True): 6,
    }  # fmt: skip


def test_the_oracle_file_is_the_pinned_one(oracle):
    """Its variant is known by its hash; another that is asked for is refused."""
    assert SUITE.source(options(file=oracle)).name == "longmemeval-oracle"
    with pytest.raises(UsageError, match="variant 'oracle', not 's'") as caught:
        SUITE.source(options(file=oracle, variant="s"))
    assert caught.value.where == "--variant s"


def test_a_limit_keeps_the_shares_of_types_and_of_abstentions(oracle):
    """Of 100 questions 6 are abstentions, as of 500 thirty are."""
    found = catalog(SUITE.scenarios(options(file=oracle)))
    drawn = [found[key] for key in stratified(found, 100, 2026)]
    assert Counter(stratum[0] for stratum in drawn)["temporal-reasoning"] in (26, 27)
    assert 4 <= sum("abstention" in stratum for stratum in drawn) <= 8
    assert {stratum for stratum in drawn if "abstention" in stratum} == {
        (name, "abstention") for name in
        ("single-session-user", "multi-session", "temporal-reasoning", "knowledge-update")
    }  # fmt: skip


def test_real_haystacks_of_s_are_read_with_every_session():
    """Eight questions of S, 385 sessions, each an episode."""
    path = data_file("longmemeval_s_subset8.json")
    scenarios = list(SUITE.scenarios(options(file=path)))
    assert [len(names(s)) for s in scenarios] == [
        len(r["haystack_sessions"]) for r in json.loads(path.read_bytes())
    ]
    assert sum(len(names(s)) for s in scenarios) == 385
    for scenario in scenarios:
        assert set(gold_of(scenario).evidence) <= set(names(scenario))
        assert [q.question_id for q in questions_of(scenario.timeline)] == [scenario.scenario_id]
