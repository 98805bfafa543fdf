"""Recall by depth and by distance: where a question's evidence stands, and what that came to."""

from collections import Counter

import pytest

import memrig
from memrig import RunConfig
from memrig.model.scenario import Episode
from memrig.report.depth import LEAST_EPISODES, bounds_of, depth_summary, power_of, tenth_of
from memrig.report.model import Report
from memrig.report.model_depth import DepthSummary
from memrig.report.settled import Settled
from memrig.suites.base import SuiteOptions, load_suite
from support.places import METRICS, grade, settled


def summary(*rows: Settled) -> DepthSummary:
    found = depth_summary(rows, METRICS, 7)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("evidence", "before", "tenth"),
    [(0, 100, 0), (9, 100, 0), (10, 100, 1), (99, 100, 9), (0, 1, 0), (2, 7, 2), (6, 7, 8)],
)
def test_the_tenth_is_that_of_the_episodes_before_the_question(evidence, before, tenth):
    """Not of the whole scenario: what is told later is no haystack yet."""
    assert tenth_of(settled(evidence=evidence, before=before, episodes=5000)) == tenth


@pytest.mark.parametrize(
    ("evidence", "power", "bounds"),
    [
        (99, 0, (0, 0)),
        (98, 1, (1, 1)),
        (97, 2, (2, 3)),
        (96, 2, (2, 3)),
        (95, 3, (4, 7)),
        (0, 7, (64, 127)),
    ],
)
def test_distances_are_counted_in_powers_of_two(evidence, power, bounds):
    """The episodes between: none where the evidence is the newest."""
    row = settled(evidence=evidence)
    assert power_of(row) == power
    assert bounds_of(power) == bounds
    assert bounds[0] <= 99 - evidence <= bounds[1]


def test_each_place_has_the_mean_of_its_questions():
    """Of the score and of the deepest recall, over what was measured there."""
    low = settled(1, grade=grade(1, scores={"score": 0.25, "recall_any@10": 0.0}))
    high = settled(2, grade=grade(2, scores={"score": 0.75, "recall_any@10": 1.0}))
    late = settled(3, grade=grade(3, scores={"score": 1.0}), evidence=99)
    found = summary(low, high, late)
    first, last = found.by_depth[0], found.by_depth[-1]
    assert (first.n, first.score.value, first.recall.value) == (2, 0.5, 0.5)
    assert (last.n, last.score.value, last.recall) == (1, 1.0, None)
    assert [item.n for item in found.by_depth[1:-1]] == [0] * 8
    assert [item.n for item in found.by_distance] == [1, 0, 0, 0, 0, 0, 0, 2]


def test_the_deepest_recall_is_the_one_shown():
    """By number, not by name: 10 is deeper than 5."""
    scores = {"recall_any@1": 0.0, "recall_any@10": 1.0, "recall_any@5": 0.0}
    found = summary(settled(grade=grade(scores=scores)))
    assert (found.recall, found.score) == ("recall_any@10", "")
    assert found.by_depth[0].recall.value == 1.0


def test_intervals_are_the_houses():
    """None over one world, whose questions hang together; t over a few."""
    one = summary(*(settled(n, grade=grade(n, scores={"score": n % 2})) for n in range(20)))
    assert one.by_depth[0].score.interval == "none"
    rows = [
        settled(n, f"world-{w}", grade=grade(n, f"world-{w}", scores={"score": float(n < 5 + w)}))
        for w in range(4)
        for n in range(10)
    ]
    several = summary(*rows).by_depth[0].score
    assert several.interval == "cluster-t"
    assert several.low < several.value == 0.65 < several.high


def test_short_scenarios_have_no_depth():
    """A tenth of a few episodes is no place."""
    assert depth_summary([settled(episodes=LEAST_EPISODES - 1, before=20)], METRICS, 7) is None
    assert depth_summary([settled(episodes=LEAST_EPISODES, before=20)], METRICS, 7) is not None


def test_questions_without_a_place_or_a_grade_are_counted_and_left_out():
    """Such as those that have no answer."""
    ungraded = grade(status="ungraded", reason="no verdict", scores={})
    found = summary(settled(), settled(evidence=None), settled(grade=ungraded))
    assert (found.questions, found.left_out) == (1, 2)


def test_what_a_built_in_reader_cannot_answer_is_no_sign_of_depth():
    """It counts in recall, and in no score; of a model that may do all, nothing is left out."""
    rows = [
        settled(1, grade=grade(1, scores={"score": 1.0, "recall_any@10": 1.0})),
        settled(2, grade=grade(2, scores={"score": 0.0, "recall_any@10": 0.0}), operation="count"),
    ]
    local = depth_summary(rows, METRICS, 7, "local/extractive")
    llm = depth_summary(rows, METRICS, 7, "claude-test")
    assert local is not None
    assert llm is not None
    assert (local.beyond_reader, llm.beyond_reader) == (1, 0)
    first, other = local.by_depth[0], llm.by_depth[0]
    assert (first.n, first.score.n, first.score.value, first.recall.value) == (2, 1, 1.0, 0.5)
    assert (other.score.n, other.score.value) == (2, 0.5)


def test_a_reader_is_not_excused_where_the_data_name_no_operation():
    """Whatever its gold looks like."""
    rows = [settled(operation="", several=True)]
    found = depth_summary(rows, METRICS, 7, "local/extractive")
    assert found is not None
    assert found.beyond_reader == 0


def test_without_any_metric_there_is_nothing_to_show():
    """A run of questions that nobody graded."""
    assert depth_summary([settled(grade=grade(scores={}))], METRICS, 7) is None
    assert depth_summary([], METRICS, 7) is None


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run over one long conversation, its evidence handed over, read by the built-in reader."""
    fields: dict[str, object] = {
        "adapter": "baseline:oracle",
        "suite": "practical",
        "sample": True,
        "audit": False,
        "mode": "reader",
        "reader_model": "local/extractive",
        "out": tmp_path_factory.mktemp("run") / "run",
    }
    return memrig.run(RunConfig.model_validate(fields))


def test_a_run_places_its_questions_where_its_scenario_has_them(oracle: Report) -> None:
    """Counted again from the timeline itself, for a suite that knows nothing of depth."""
    tenths: Counter[int] = Counter()
    powers: Counter[int] = Counter()
    for scenario in load_suite("practical").scenarios(SuiteOptions("practical", sample=True)):
        told: list[str] = []
        for event in scenario.timeline:
            if isinstance(event, Episode):
                told.append(event.episode_id)
            elif evidence := scenario.gold[event.question_id].evidence:
                last = max(told.index(name) for name in evidence)
                tenths[int(last / len(told) * 10)] += 1
                between = len(told) - 1 - last
                powers[next(p for p in range(30) if between < 2**p)] += 1
    found = oracle.depth
    assert found is not None
    assert {place: item.n for place, item in enumerate(found.by_depth) if item.n} == tenths
    assert {place: item.n for place, item in enumerate(found.by_distance) if item.n} == powers


def test_with_the_evidence_in_hand_recall_is_whole_at_every_depth(oracle: Report) -> None:
    """And the scores are those of the run."""
    found = oracle.depth
    assert found is not None
    assert (found.score, found.recall) == ("accuracy", "recall_any@10")
    filled = [item for item in found.by_depth if item.n]
    assert {item.recall.value for item in filled} == {1.0}
    assert sum(item.n * item.score.value for item in filled) / found.questions == pytest.approx(
        oracle.value("accuracy").value, abs=1e-5
    )
