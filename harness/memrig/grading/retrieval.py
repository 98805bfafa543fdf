"""Retrieval protocols: which metrics over the ranking of sources, at which k."""

from collections.abc import Mapping

from memrig.grading.base import Marks, Metric
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
from memrig.model.gold import Gold
from memrig.model.transcript import HitRecord, QuestionRecord

_KS = (1, 5, 10)
_DEPTH = 10

_STRICT = (
    *(Metric(f"recall_any@{k}", binary=True, headline=True) for k in _KS),
    Metric("mrr", binary=False, headline=True),
    Metric(f"recall_all@{_DEPTH}", binary=True),
    Metric(f"ndcg@{_DEPTH}", binary=False),
    Metric("map", binary=False),
)
_LENIENT = (
    *(Metric(f"keyword_recall@{k}", binary=True) for k in _KS),
    Metric("keyword_mrr", binary=False),
)


def hits_of(record: QuestionRecord) -> tuple[HitRecord, ...]:
    """The hits of a question's last search."""
    return record.searches[-1].hits if record.searches else ()


class RetrievalGrader:
    """Any-evidence retrieval: a hit is any gold source within the first k ranks.

    Args:
        protocol: the protocol's name.
        lenient: also score the keyword rule, as published practical benches do.
        stale: also say how often a superseded memory ranks above the valid one.
    """

    version = "1"

    def __init__(self, protocol: str, *, lenient: bool = False, stale: bool = False) -> None:
        self.protocol = protocol
        self._lenient = lenient
        self._stale = stale
        self.metrics = (
            _STRICT
            + (_LENIENT if lenient else ())
            + ((Metric("current_before_stale", binary=True),) if stale else ())
        )

    def grade(self, record: QuestionRecord, gold: Gold, texts: Mapping[str, str]) -> Marks:
        """Scores one answered question."""
        hits = hits_of(record)
        ranking = rank_sources(hits)
        relevant = frozenset(gold.evidence)
        scores = {f"recall_any@{k}": recall_any(ranking, relevant, k) for k in _KS}
        scores["mrr"] = reciprocal_rank(ranking, relevant, _DEPTH)
        scores[f"recall_all@{_DEPTH}"] = recall_all(ranking, relevant, _DEPTH)
        scores[f"ndcg@{_DEPTH}"] = ndcg(ranking, relevant, _DEPTH)
        scores["map"] = average_precision(ranking, relevant, _DEPTH)
        if self._lenient and gold.keywords:
            rank = keyword_rank(hits, gold.keywords)
            scores |= {f"keyword_recall@{k}": float(rank is not None and rank <= k) for k in _KS}
            scores["keyword_mrr"] = 1 / rank if rank and rank <= _DEPTH else 0.0
        if self._stale and gold.stale:
            stale = first_rank(ranking[:_DEPTH], frozenset(gold.stale))
            current = first_rank(ranking[:_DEPTH], relevant)
            scores["current_before_stale"] = float(
                current is not None and (stale is None or current < stale)
            )
        return Marks(
            scores=scores,
            rank=first_rank(ranking, relevant),
            derived_hits=sum(derived(hit, texts) for hit in hits),
        )
