"""`operations`: what its scenarios hold, and that a probe can find what it looks for."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.model.scenario import (
    Episode,
    Event,
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    OutageProbe,
    Question,
    RestartProbe,
    Scenario,
    UsageProbe,
)
from memrig.suites.base import SuiteOptions, check_options, load_suite
from memrig.suites.longhorizon.spec import MOST_TURNS
from memrig.suites.operations.facts import MOST_FACTS, facts, secret_facts, spread
from memrig.suites.operations.growth import growth, sizes_to
from memrig.suites.operations.suite import SUITE
from memrig.suites.operations.told import lines
from memrig.suites.spool import spool

OPTIONS = SuiteOptions("operations", seed=7, turns=400, questions=6)


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    """All scenarios of a small memory, their timelines read."""
    found = SUITE.scenarios(OPTIONS)
    return {
        one.scenario_id.removesuffix("-7"): Scenario(one.scenario_id, list(one.timeline), one.gold)
        for one in found
    }


def only(kind: type, scenario: Scenario) -> list:
    return [event for event in scenario.timeline if isinstance(event, kind)]


def texts(scenario: Scenario) -> dict[str, str]:
    return {episode.episode_id: episode.text for episode in only(Episode, scenario)}


def test_it_is_installed_and_takes_its_own_options():
    """By the entry point that third parties use too."""
    check_options(load_suite("operations"), OPTIONS)


def test_every_scenario_can_be_spooled(scenarios, tmp_path: Path):
    """Ids are unique, every question has gold, and nothing is too large to be sent."""
    for scenario in scenarios.values():
        ref = spool(scenario, tmp_path)
        assert ref.questions == len(scenario.gold)


def test_a_seed_makes_the_same_scenarios_again(scenarios):
    """And another seed others."""
    again = {one.scenario_id: list(one.timeline) for one in SUITE.scenarios(OPTIONS)}
    assert again == {one.scenario_id: one.timeline for one in scenarios.values()}
    other = growth(8, 400, 6)
    assert list(islice(other.timeline, 1, 9)) != scenarios["growth"].timeline[1:9]


@pytest.mark.parametrize(
    ("turns", "sizes"),
    [
        (100, (100,)),
        (300, (100, 300)),
        (1_000, (100, 300, 1_000)),
        (2_500, (100, 300, 1_000, 2_500)),
        (10_000, (100, 300, 1_000, 3_000, 10_000)),
        (100_000, (1_000, 3_000, 10_000, 30_000, 100_000)),
    ],
)
def test_sizes_go_up_to_what_was_asked_for(turns, sizes):
    """The last one is all; those lost in the size of the empty pod are left out."""
    assert sizes_to(turns) == sizes


def test_growth_measures_the_empty_pod_and_every_size(scenarios):
    """Usage, a load of one client and one of eight, then questions, at each."""
    done: Counter[str] = Counter()
    at: dict[str, int] = {}
    for event in scenarios["growth"].timeline:
        done[event.type] += 1
        if event.type == "probe":
            at[event.probe_id] = done["episode"]
    assert at == {
        "usage-0": 0,
        **{f"{name}-{size}": size for size in (100, 300, 400) for name in ("usage",)},
        **{f"load-{size}-{n}": size for size in (100, 300, 400) for n in (1, 8)},
    }
    assert [probe.clients for probe in only(LoadProbe, scenarios["growth"])] == [1, 8] * 3
    assert len(only(UsageProbe, scenarios["growth"])) == 4


def test_questions_about_growth_ask_for_facts_all_over_the_memory(scenarios):
    """Of what was told by then, from its beginning to its end."""
    scenario = scenarios["growth"]
    places = {name: place for place, name in enumerate(texts(scenario))}
    last = [
        places[gold.evidence[0]] for gold in scenario.gold.values() if gold.category == "growth-400"
    ]
    assert len(last) == 6
    assert min(last) < 80
    assert max(last) > 320
    for gold in scenario.gold.values():
        assert places[gold.evidence[0]] < int(gold.category.removeprefix("growth-"))


def test_what_is_looked_for_is_in_the_episode_that_holds_it(scenarios):
    """Every question's evidence, and every search's, is the fact that it is about."""
    for scenario in scenarios.values():
        told = texts(scenario)
        for question in only(Question, scenario):
            gold = scenario.gold[question.question_id]
            assert told[gold.evidence[0]] == gold.answer.value
        for probe in only(RestartProbe, scenario) + only(LoadProbe, scenario):
            for look in probe.searches:
                (name,) = look.episode_ids
                assert set(names_in(look.query)) & set(names_in(told[name]))


def names_in(text: str) -> list[str]:
    words = text.replace("'s", "").replace("?", "").replace(",", "").split()
    return [word for word in words[1:] + words[:1] if word[:1].isupper() and len(word) > 3]


def test_no_two_facts_are_about_the_same_thing_of_the_same_person():
    """So that a query has one right answer; there are enough for the largest memory."""
    found = list(facts(1, "test"))
    assert len(found) == MOST_FACTS
    assert len({fact.query for fact in found}) == len(found)
    assert len({fact.text for fact in found}) == len(found)


def test_the_largest_memory_has_facts_to_its_end():
    """They get rarer, but do not run out."""
    scenario = growth(3, 100_000, 20)
    last = [gold.evidence[0] for gold in scenario.gold.values() if gold.category == "growth-100000"]
    assert len(last) == 20
    assert max(last) > "t090000"
    assert next(iter(scenario.timeline)) == UsageProbe(probe_id="usage-0")


@pytest.mark.parametrize(("number", "turns"), [(50, 100), (150, 150), (MOST_TURNS, MOST_TURNS)])
def test_lines_are_of_a_world_that_can_be_made(number, turns, monkeypatch):
    """Neither smaller nor larger than worlds are."""
    made = []

    def note(_log, _names, _seed, turns):
        made.append(turns)
        raise InterruptedError

    monkeypatch.setattr("memrig.suites.operations.told.simulate", note)
    with pytest.raises(InterruptedError):
        next(lines(1, "test", number))
    assert made == [turns]


def test_half_of_the_queries_name_the_thing_in_other_words():
    """A memory that knows words alone has less to go by there."""
    same = [
        any(word in fact.text for word in fact.query.rstrip("?").split()[-2:])
        for fact in islice(facts(1, "t"), 400)
    ]
    assert 100 < sum(same) < 300


def test_fresh_episodes_go_with_their_searches(scenarios):
    """One each, and none of them was told before."""
    (probe,) = only(FreshnessProbe, scenarios["freshness"])
    assert len(probe.episodes) == len(probe.searches) == 20
    names = [episode.episode_id for episode in probe.episodes]
    assert [look.episode_ids for look in probe.searches] == [(name,) for name in names]
    assert not set(names) & set(texts(scenarios["freshness"]))
    known = set(texts(scenarios["freshness"]).values())
    assert not known & {episode.text for episode in probe.episodes}


def test_time_goes_on_into_every_probe(scenarios):
    """What a probe tells happened after all that was told before it."""
    for scenario in scenarios.values():
        last = only(Episode, scenario)[-1].timestamp
        for probe in only(FreshnessProbe, scenario) + only(OutageProbe, scenario):
            later = [e.timestamp for e in (*probe.episodes, *getattr(probe, "after", ()))]
            assert later == sorted(later)
            assert later[0] > last


def test_no_secret_is_in_the_next_scope(scenarios):
    """Nor is an episode of the first; each secret is in one line of the first scope."""
    (probe,) = only(LeakProbe, scenarios["leak"])
    first = texts(scenarios["leak"])
    following = {episode.episode_id: episode.text for episode in probe.episodes}
    assert not set(first) & set(following)
    assert not set(first.values()) & set(following.values())
    for secret in probe.secrets:
        assert sum(secret in text for text in first.values()) == 1
        assert not [text for text in following.values() if secret.lower() in text.lower()]


def test_no_secret_is_part_of_another():
    """Or a hit would leak two."""
    secrets = [secret for _, secret in secret_facts(3)]
    assert len(set(secrets)) == len(secrets)


@pytest.mark.parametrize("fault", ["slow", "refuses", "down"])
def test_an_outage_asks_for_what_was_told_before_within_and_after_it(scenarios, fault):
    """Searches during it are for what was known; those after it are for both new parts."""
    scenario = scenarios[f"outage-{fault}"]
    (probe,) = only(OutageProbe, scenario)
    assert probe.fault == fault
    known = set(texts(scenario))
    assert {name for look in probe.searches for name in look.episode_ids} <= known
    new = [episode.episode_id for episode in (*probe.episodes, *probe.after)]
    assert [look.episode_ids[0] for look in probe.searches_after] == new
    assert not set(new) & known


def test_things_are_spread_from_the_first_to_the_last():
    """At equal distances."""
    assert spread(range(100), 4) == (12, 37, 62, 87)
    assert spread(range(3), 4) == (0, 1, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"turns": 99}, "takes 100 to 100,000 here, not 99"),
        ({"turns": 100_001}, "not 100,001"),
        ({"questions": 0}, "takes 1 to 1,000 here, not 0"),
        ({"file": Path("x.json")}, "takes no file"),
    ],
)
def test_what_it_cannot_make_is_refused(changes, message):
    """With the flag and what there is to choose from."""
    options = SuiteOptions("operations", **changes)
    with pytest.raises(UsageError, match=message):
        SUITE.source(options)


def test_the_digest_is_that_of_everything_it_is_made_from():
    """Turns, questions and seed each change it."""
    digests = {
        SUITE.source(SuiteOptions("operations", seed=s, turns=t, questions=q)).sha256
        for s, t, q in ((1, 100, 5), (2, 100, 5), (1, 200, 5), (1, 100, 6))
    }
    assert len(digests) == 4


def test_a_timeline_is_a_stream(scenarios):
    """It can be read more than once, and is not kept."""
    scenario = growth(7, 400, 6)
    first: list[Event] = list(scenario.timeline)
    assert first == list(scenario.timeline) == scenarios["growth"].timeline
