"""`longhorizon` as a suite: what is offered, what is refused, and what a scenario holds."""

from collections import Counter

import pytest

from memrig.errors import UsageError
from memrig.model.scenario import episodes_of, questions_of
from memrig.suites.base import SuiteOptions, check_options, load_suite
from memrig.suites.longhorizon.programs import CATEGORIES
from memrig.suites.longhorizon.spec import FEWEST_QUESTIONS
from memrig.suites.longhorizon.suite import SUITE
from memrig.suites.spool import spool


def options(**given) -> SuiteOptions:
    return SuiteOptions(**{"protocol": "longhorizon", "sample": True, "seed": 42, **given})


def timeline(**given):
    """A world's events and gold, read while it is there."""
    (scenario,) = ((list(s.timeline), s.gold, s) for s in SUITE.scenarios(options(**given)))
    return scenario


def test_it_is_installed():
    """By its name, with the seeds of a run."""
    assert load_suite("longhorizon") is SUITE
    assert (SUITE.seeds, SUITE.made_of_seeds) == ((42, 123, 456, 789), True)
    assert len(CATEGORIES) == FEWEST_QUESTIONS


def test_a_seed_makes_one_scenario():
    """The sample: 300 turns, an episode each, and 30 questions with gold."""
    events, gold, scenario = timeline()
    assert scenario.scenario_id == "world-42"
    assert sum(1 for _ in episodes_of(events)) == 300
    asked = [question.question_id for question in questions_of(events)]
    assert sorted(asked) == sorted(gold)
    assert Counter(g.category for g in gold.values()) == dict.fromkeys(CATEGORIES, 2)


def test_questions_stand_where_they_are_asked():
    """After a quarter, a half, three quarters and all of the turns; evidence is behind them."""
    events, gold, _ = timeline()
    heard, places = set(), Counter()
    for event in events:
        if event.type == "episode":
            heard.add(event.episode_id)
        else:
            places[len(heard)] += 1
            known = gold[event.question_id]
            assert {*known.evidence, *known.stale} <= heard
    assert places == {75: 5, 150: 5, 225: 4, 300: 16}


def test_an_episode_is_a_turn():
    """Its text, its one turn with the speaker, and its time; times never go back."""
    events, _, _ = timeline()
    episodes = list(episodes_of(events))
    for episode in episodes:
        (turn,) = episode.turns
        assert (turn.text, turn.turn_id) == (episode.text, episode.episode_id)
        assert turn.speaker
        assert episode.timestamp.tzinfo is not None
    times = [episode.timestamp for episode in episodes]
    assert times == sorted(times)


def test_another_seed_is_another_world():
    """Texts and questions differ."""
    one, other = timeline()[0], timeline(seed=43)[0]
    texts = {event.text for event in one}
    assert sum(event.text in texts for event in other) < 0.1 * len(other)


def test_the_same_seed_is_the_same_to_the_byte(tmp_path):
    """Spooled twice, both files have one digest."""
    refs = [spool(scenario, tmp_path) for _ in range(2) for scenario in SUITE.scenarios(options())]
    assert refs[0] == refs[1]


def test_the_sources_digest_tells_worlds_apart():
    """By seed, turns, questions and set; the same options give the same."""
    given = ({}, {"seed": 43}, {"turns": 400}, {"questions": 45}, {"question_set": "holdout"})
    digests = [SUITE.source(options(**more)).sha256 for more in given]
    assert len(set(digests)) == len(given)
    assert SUITE.source(options()).sha256 == digests[0]


def test_the_sample_can_be_sized():
    """Flags win over the sample's sizes."""
    events, gold, _ = timeline(turns=400, questions=15)
    assert (sum(1 for _ in episodes_of(events)), len(gold)) == (400, 15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"turns": 99}, "100 to 100,000 turns"),
        ({"turns": 100_001}, "100 to 100,000 turns"),
        ({"questions": 14}, "15 categories"),
    ],
)
def test_a_size_out_of_range_is_refused(given, message):
    """Before anything is made."""
    with pytest.raises(UsageError, match=message):
        SUITE.source(options(**given))


def test_it_takes_no_file(tmp_path):
    """It makes its own world."""
    with pytest.raises(UsageError, match="takes no file"):
        SUITE.source(options(sample=False, file=tmp_path / "x.json"))


def test_the_two_question_sets_are_offered():
    """And no third one."""
    check_options(SUITE, options(question_set="holdout"))
    with pytest.raises(UsageError, match="question set 'other'"):
        check_options(SUITE, options(question_set="other"))


def test_no_question_of_one_set_is_in_the_other():
    """By text; by entity it is tested where they are drawn."""
    one, other = (timeline(question_set=name, turns=2_000)[0] for name in ("standard", "holdout"))
    asked = {question.text for question in questions_of(one)}
    assert not asked & {question.text for question in questions_of(other)}
