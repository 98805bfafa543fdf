"""A run's figures across its seeds and repeats."""

import math
import random
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

from memrig.grading.base import Grade
from memrig.stats.seeds import AcrossSeeds, Key, across_seeds

SEEDS = (42, 123, 456)


def grade(seed: int, name: str, score: float, **changes: object) -> Grade:
    fields: dict[str, object] = {
        "trial_id": f"world-{seed}-r{changes.get('repeat', 0)}",
        "scenario_id": f"world-{seed}",
        "cluster": f"world-{seed}",
        "question_id": f"{name}@{seed}",
        "template": name,
        "category": "facts",
        "seed": seed,
        "repeat": 0,
        "protocol": "longhorizon",
        "grader": "longhorizon/1",
        "status": "graded",
        "outcome": "answered",
        "scores": {"score": score},
    }
    return Grade.model_validate(fields | changes)


def drawn(repeats: int = 1) -> list[Grade]:
    """Forty questions a seed in two categories, their scores from a fixed draw."""
    random_ = random.Random(11)  # noqa: S311
    return [
        grade(seed, f"t{n % 8}", random_.random(), question_id=f"q{n}-{seed}", repeat=repeat,
              category="facts" if n % 8 < 5 else "temporal")
        for seed in SEEDS for repeat in range(repeats) for n in range(40)
    ]  # fmt: skip


def across(
    grades: list[Grade],
    seeds: tuple[int, ...] = SEEDS,
    repeats: int = 1,
    noise: Mapping[Key, float] | None = None,
) -> AcrossSeeds:
    found = across_seeds(grades, ["score"], seeds, repeats, noise)
    assert found is not None
    return found


def test_every_row_is_recomputed_from_the_grades():
    """Value by seed, mean, sd, and the t interval as scipy gives it."""
    grades = drawn()
    found = across(grades)
    assert [row.group for row in found.rows] == ["overall", "macro", "facts", "temporal"]
    for row in found.rows:
        values = []
        for seed in SEEDS:
            of_seed = [g for g in grades if g.seed == seed]
            names = ["facts", "temporal"] if row.group in {"overall", "macro"} else [row.group]
            parts = [[g.scores["score"] for g in of_seed if g.category == n] for n in names]
            means = [float(np.mean(part)) for part in parts]
            whole = float(np.mean([s for part in parts for s in part]))
            values.append(float(np.mean(means)) if row.kind == "macro" else whole)
        assert row.values == pytest.approx(values)
        assert row.mean == pytest.approx(np.mean(values))
        assert row.sd == pytest.approx(np.std(values, ddof=1))
        error = stats.sem(values)
        low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (row.low, row.high) == pytest.approx((max(0.0, low), min(1.0, high)))
        assert row.interval == "t"


def test_seeds_that_agree_have_no_interval():
    """A spread of nothing would claim certainty."""
    (row, *_) = across([grade(seed, "t", 0.5) for seed in SEEDS]).rows
    assert (row.sd, row.low, row.high, row.interval) == (0.0, None, None, "none")


def test_a_seed_without_a_category_is_left_out_of_its_row():
    """And seen by its missing value."""
    grades = [*drawn(), grade(42, "rare", 1.0, category="rare")]
    row = next(row for row in across(grades).rows if row.group == "rare")
    assert (row.values, row.counts) == ((1.0, None, None), (1, 0, 0))
    assert (row.mean, row.sd, row.low) == (1.0, None, None)


def test_ungraded_questions_count_in_nothing():
    """They have no score."""
    open_ = grade(42, "t", 0.0, status="ungraded", scores={}, reason="no verdict")
    assert across([*drawn(), open_]) == across(drawn())


def test_one_seed_and_one_repeat_have_nothing_to_compare():
    """The report stays as it is."""
    assert across_seeds(drawn(), ["score"], (42,), 1) is None
    assert across_seeds([], ["score"], SEEDS, 1) is None


def test_a_template_that_varies_by_more_than_ten_points_is_noisy():
    """Its mean by seed, over all its questions; exactly ten points are not more."""
    steady = [grade(s, "steady", v) for s, v in zip(SEEDS, (0.4, 0.45, 0.5), strict=True)]
    ten = [grade(s, "ten", v) for s, v in zip(SEEDS, (0.3, 0.4, 0.35), strict=True)]
    noisy = [
        grade(s, "noisy", v, question_id=f"{n}-{s}")
        for s, pair in zip(SEEDS, ((0, 1), (1, 1), (0, 0.2)), strict=True)
        for n, v in enumerate(pair)
    ]
    found = across([*steady, *ten, *noisy])
    assert found.compared == 3
    (flagged,) = found.noisy
    assert (flagged.name, flagged.category, flagged.counts) == ("noisy", "facts", (2, 2, 2))
    assert flagged.values == pytest.approx((0.5, 1.0, 0.1))
    assert flagged.between_seeds == pytest.approx(0.9)
    assert flagged.between_repeats is None


def test_eleven_points_are_more_than_ten():
    """Little is enough."""
    eleven = [grade(s, "eleven", v) for s, v in zip(SEEDS, (0.3, 0.41, 0.35), strict=True)]
    assert [question.name for question in across(eleven).noisy] == ["eleven"]


def test_of_equally_noisy_ones_those_of_more_questions_come_first():
    """One question a seed varies by its draw alone."""
    single = [grade(s, "a", v) for s, v in zip(SEEDS, (0, 1, 1), strict=True)]
    several = [
        grade(s, "b", v, question_id=f"{n}-{s}")
        for s, v in zip(SEEDS, (0, 1, 1), strict=True)
        for n in range(3)
    ]
    assert [found.name for found in across([*single, *several]).noisy] == ["b", "a"]


def test_what_varies_over_several_questions_comes_before_what_one_draw_made():
    """Though it varies less."""
    single = [grade(s, "a", v) for s, v in zip(SEEDS, (0, 1, 1), strict=True)]
    several = [
        grade(s, "b", v, question_id=f"{n}-{s}")
        for s, v in zip(SEEDS, (0.2, 0.6, 0.4), strict=True)
        for n in range(2)
    ]
    assert [found.name for found in across([*single, *several]).noisy] == ["b", "a"]


def test_without_a_template_a_question_is_compared_by_its_id():
    """It is the same under every seed."""
    same = {"question_id": "q1", "scenario_id": "talk"}
    grades = [grade(s, "", v, **same) for s, v in zip(SEEDS, (0, 1, 1), strict=True)]
    (flagged,) = across(grades).noisy
    assert (flagged.name, flagged.range) == ("q1", 1.0)


def test_questions_of_one_id_in_two_scenarios_are_two():
    """Data of one's own may count its questions anew in each."""
    apart = [
        grade(s, "", v, question_id="q1", scenario_id=name)
        for s, up in zip(SEEDS, (0.0, 0.4, 1.0), strict=True)
        for name, v in (("a", up), ("b", 1 - up))
    ]
    assert [question.counts for question in across(apart).noisy] == [(1, 1, 1), (1, 1, 1)]


def test_repeats_that_differ_within_one_seed_are_noisy_too():
    """Even where the seeds' means agree."""
    scores = {(42, 0): 0.2, (42, 1): 0.8, (123, 0): 0.5, (123, 1): 0.5}
    grades = [grade(s, "t", v, repeat=r) for (s, r), v in scores.items()]
    (flagged,) = across(grades, (42, 123), 2).noisy
    assert flagged.between_seeds == pytest.approx(0)
    assert flagged.between_repeats == pytest.approx(0.6)


def test_a_question_that_was_seen_once_is_not_compared():
    """There is nothing to hold it against."""
    assert across([*drawn(), grade(42, "once", 0.0)]).compared == 8


def test_the_variance_is_that_of_the_figures_by_seed_and_repeat():
    """Recomputed with numpy from the grades."""
    grades = drawn(repeats=2)
    table = np.array([
        [np.mean([g.scores["score"] for g in grades if (g.seed, g.repeat) == (s, r)])
         for r in range(2)] for s in SEEDS
    ])  # fmt: skip
    within = table.var(axis=1, ddof=1).mean()
    between = 2 * table.mean(axis=1).var(ddof=1)
    parts = {part.source: part for part in across(grades, repeats=2).variance}
    assert parts["repeat"].estimate == pytest.approx(within)
    assert parts["seed"].estimate == pytest.approx((between - within) / 2)


def test_the_judges_part_is_the_mean_variance_that_votes_leave_in_a_figure():
    """A sum over independent questions, by the square of their number."""
    grades = drawn()
    first, second = grades[0], grades[41]
    noise = {(g.trial_id, g.scenario_id, g.question_id): 0.16 for g in (first, second)}
    parts = {part.source: part for part in across(grades, noise=noise).variance}
    assert parts["judge"].variance == pytest.approx(2 * 0.16 / 40**2 / 3)
    assert math.isclose(parts["judge"].sd or 0, math.sqrt(2 * 0.16 / 40**2 / 3))


def test_votes_that_all_agree_are_a_judge_without_variance():
    """Not one that was not measured."""
    parts = {part.source: part for part in across(drawn(), noise={}).variance}
    assert (parts["judge"].variance, parts["judge"].note) == (0.0, "")
