"""The ranking metrics, against an independent library, and the ranking that they see."""

import string

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, Success, nDCG

from memrig.grading.ranking import (
    average_precision,
    derived,
    first_rank,
    keyword_rank,
    ndcg,
    rank_sources,
    recall_all,
    recall_any,
    reciprocal_rank,
)
from memrig.model.transcript import HitRecord

DOCUMENTS = list(string.ascii_lowercase)
RANKINGS = st.lists(st.sampled_from(DOCUMENTS), max_size=20, unique=True)
RELEVANT = st.frozensets(st.sampled_from(DOCUMENTS), min_size=1, max_size=6)
KS = st.sampled_from([1, 3, 5, 10])


def hit(*episodes: str | None, text: str = "some words", ref: str = "r") -> HitRecord:
    return HitRecord(ref_id=ref, text=text, score=1.0, episodes=episodes)


def oracle(measure, ranking: list[str], relevant: frozenset[str]) -> float:
    """What the independent library says."""
    judged = [ir_measures.Qrel("q", name, 1) for name in relevant]
    run = [ir_measures.ScoredDoc("q", name, -float(n)) for n, name in enumerate(ranking)]
    if not run:  # the library leaves out a query without results
        return 0.0
    return ir_measures.calc_aggregate([measure], judged, run)[measure]


@given(RANKINGS, RELEVANT, KS)
def test_recall_any_is_success_at_k(ranking, relevant, k):
    """Any relevant source within k."""
    assert recall_any(ranking, relevant, k) == oracle(Success @ k, ranking, relevant)


@given(RANKINGS, RELEVANT, KS)
def test_recall_all_is_a_recall_of_one(ranking, relevant, k):
    """Every relevant source within k."""
    assert recall_all(ranking, relevant, k) == float(oracle(R @ k, ranking, relevant) == 1.0)


@given(RANKINGS, RELEVANT, KS)
def test_ndcg_is_the_standard_one(ranking, relevant, k):
    """Binary relevance, log2(rank + 1)."""
    expected = oracle(nDCG(dcg="log2") @ k, ranking, relevant)
    assert ndcg(ranking, relevant, k) == pytest.approx(expected, abs=1e-4)


@given(RANKINGS, RELEVANT, KS)
def test_reciprocal_rank_is_cut_at_k(ranking, relevant, k):
    """1 / rank of the first relevant source."""
    expected = oracle(RR @ k, ranking, relevant)
    assert reciprocal_rank(ranking, relevant, k) == pytest.approx(expected, abs=1e-4)


@given(RANKINGS, RELEVANT, KS)
def test_average_precision_is_cut_at_k_and_divided_by_all_relevant(ranking, relevant, k):
    """What lies beyond k counts as not found."""
    expected = oracle(AP @ k, ranking, relevant)
    assert average_precision(ranking, relevant, k) == pytest.approx(expected, abs=1e-4)


@given(RANKINGS, RELEVANT)
def test_every_metric_is_a_fraction_and_none_is_above_recall_any(ranking, relevant):
    """Finding nothing scores nothing."""
    ceiling = recall_any(ranking, relevant, 10)
    for metric in (recall_all, ndcg, reciprocal_rank, average_precision):
        assert 0.0 <= metric(ranking, relevant, 10) <= ceiling + 1e-12


def test_every_claim_of_a_hit_takes_a_rank_of_its_own():
    """In the order in which the hit names them."""
    assert rank_sources([hit("a", "b"), hit("c")]) == ["a", "b", "c"]


def test_a_hit_without_a_source_takes_one_rank():
    """It filled a place of the list."""
    assert rank_sources([hit(), hit("a")]) == [None, "a"]


def test_a_void_claim_takes_a_rank():
    """Claiming what was never acknowledged is not free."""
    assert rank_sources([hit(None, "a"), hit(None)]) == [None, "a", None]


def test_a_repeated_source_takes_a_rank_and_counts_once():
    """Across hits and within one."""
    ranking = rank_sources([hit("a", "a"), hit("a"), hit("b")])
    assert ranking == ["a", None, None, "b"]
    assert average_precision(ranking, {"a", "b"}, 10) == pytest.approx((1 + 2 / 4) / 2)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=4), max_size=6))
def test_a_ranking_names_no_source_twice(claims):
    """And it is as long as what the hits claim, one for a hit without any."""
    ranking = rank_sources([hit(*claim) for claim in claims])
    named = [source for source in ranking if source is not None]
    assert len(named) == len(set(named))
    assert set(named) == {s for claim in claims for s in claim if s is not None}
    assert len(ranking) == sum(max(1, len(claim)) for claim in claims)


def test_the_first_rank_counts_from_one():
    """None where nothing relevant was returned."""
    assert first_rank([None, "b", "a"], {"a", "b"}) == 2
    assert first_rank([None, "c"], {"a"}) is None


@pytest.mark.parametrize(
    ("keywords", "rank"),
    [(["kettle"], 2), (["KETTLE"], 2), (["tea", "blue"], 1), (["absent"], None), ([], None)],
)
def test_the_lenient_rule_is_any_keyword_in_a_hits_text(keywords, rank):
    """Regardless of case and of sources."""
    hits = [hit(text="A blue thing"), hit(text="the Kettle is here")]
    assert keyword_rank(hits, keywords) == rank


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("the kettle", ("e1",), False),
        ("KETTLE!", ("e1",), False),
        ("entirely unrelated", ("e1",), True),
        ("a ladder", ("e1", "e2"), False),
        ("entirely unrelated", (None,), False),
        ("entirely unrelated", (), False),
        ("kettles", ("e1",), True),
    ],
)
def test_a_hit_that_shares_no_word_with_its_sources_is_derived(text, sources, expected):
    """Counted, not punished; without a valid claim there is nothing to compare with."""
    texts = {"e1": "Ada: the kettle is blue", "e2": "Ben: mind the ladder"}
    assert derived(hit(*sources, text=text), texts) is expected
