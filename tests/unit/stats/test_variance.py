"""Variance by seed, repeat and judge, held against textbook computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memrig.stats.variance import VariancePart, split_variance

VALUES = st.lists(
    st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=5
)  # fmt: skip


def parts(cells: dict[int, list[float]], judge: float | None = None) -> dict[str, VariancePart]:
    return {part.source: part for part in split_variance(cells, judge)}


def numbered(groups: list[list[float]]) -> dict[int, list[float]]:
    return dict(enumerate(groups))


@given(VALUES)
def test_a_balanced_run_gives_the_mean_squares_of_one_way_anova(groups):
    """Repeat: MSW. Seed: (MSB − MSW) ÷ R."""
    table = np.array(groups)
    repeats = table.shape[1]
    within = float(table.var(axis=1, ddof=1).mean())
    between = float(repeats * table.mean(axis=1).var(ddof=1))
    found = parts(numbered(groups))
    assert found["repeat"].estimate == pytest.approx(within, abs=1e-12)
    assert found["seed"].estimate == pytest.approx((between - within) / repeats, abs=1e-12)


def test_the_mean_squares_are_scipys():
    """F is MSB ÷ MSW, also where seeds were repeated differently often."""
    groups = [[0.61, 0.64], [0.70, 0.74, 0.69], [0.52, 0.55, 0.57, 0.5]]
    found = parts(numbered(groups))
    within, seed = found["repeat"].estimate, found["seed"].estimate
    size = (9 - (4 + 9 + 16) / 9) / 2
    assert within is not None
    assert seed is not None
    statistic = (seed * size + within) / within
    assert statistic == pytest.approx(float(stats.f_oneway(*groups).statistic))


def test_known_components_are_found_again():
    """Many seeds and repeats drawn with sd 0.05 and 0.02."""
    rng = np.random.default_rng(4)
    table = 0.6 + 0.05 * rng.normal(size=(4000, 1)) + 0.02 * rng.normal(size=(4000, 4))
    found = parts(numbered(table.tolist()))
    assert found["seed"].sd == pytest.approx(0.05, rel=0.05)
    assert found["repeat"].sd == pytest.approx(0.02, rel=0.05)


def test_the_judges_part_is_taken_out_of_the_repeats():
    """Each repeat is judged anew."""
    groups = [[0.5, 0.6], [0.7, 0.9]]
    plain, judged = parts(numbered(groups)), parts(numbered(groups), judge=0.004)
    assert judged["judge"].variance == 0.004
    assert judged["repeat"].estimate == pytest.approx(plain["repeat"].estimate - 0.004)
    assert judged["seed"].estimate == plain["seed"].estimate
    assert plain["judge"].variance is None
    assert "no judge voted more than once" in plain["judge"].note
    assert "judge's share" in plain["repeat"].note


def test_a_negative_estimate_is_shown_as_none_and_said():
    """Seeds that differ less than their repeats."""
    seed = parts(numbered([[0.4, 0.6], [0.41, 0.6]]))["seed"]
    assert seed.estimate is not None
    assert seed.estimate < 0
    assert (seed.variance, seed.share) == (0.0, 0.0)
    assert "below 0 (-0.0095)" in seed.note


def test_without_repeats_the_seed_holds_them():
    """And less the judge's part, where that is known."""
    found = parts(numbered([[0.5], [0.7]]), judge=0.003)
    assert found["seed"].estimate == pytest.approx(0.02 - 0.003)
    assert found["seed"].note == "each seed ran once: --repeats tells them apart"
    assert found["repeat"].variance is None
    assert "--repeats" in found["repeat"].note


def test_without_seeds_there_is_only_the_repeat():
    """One seed says nothing of others."""
    found = parts({7: [0.5, 0.7]})
    assert found["repeat"].estimate == pytest.approx(0.02)
    assert found["seed"].variance is None
    assert "--seeds" in found["seed"].note


def test_one_known_source_has_no_share():
    """All of what is known is not all of what there is."""
    found = parts(numbered([[0.5], [0.7]]), judge=None)
    assert found["seed"].variance == pytest.approx(0.02)
    assert found["seed"].share is None


@given(VALUES, st.none() | st.floats(0, 0.1))
def test_shares_add_up_to_one_or_there_are_none(groups, judge):
    """Of the variances that are known."""
    shares = [part.share for part in split_variance(numbered(groups), judge)]
    known = [share for share in shares if share is not None]
    assert not known or sum(known) == pytest.approx(1)
