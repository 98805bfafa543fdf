"""Retrieval protocols: which metrics over the ranking of sources, at which k."""

from collections.abc import Sequence

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.ranking import (
    Ranking,
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
from memrig.model.judgement import JudgeTask
from memrig.model.transcript import HitRecord, QuestionRecord
from memrig.model.trial import Mode

_KS = (1, 5, 10)
_DEPTH = 10

#: Metrics without an @ in their name that look at all ranks down to `_DEPTH`.
_DEEP = frozenset({"mrr", "map", "keyword_mrr", "current_before_stale"})

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


def measurable(metric: str, limit: int) -> bool:
    """Whether a metric can be told from so many hits; a shallower list would flatter or wrong."""
    depth = _DEPTH if metric in _DEEP else int(metric.partition("@")[2])
    return depth <= limit


class RetrievalGrader:
    """Any-evidence retrieval: a hit is any gold source within the first k ranks.

    Metrics deeper than the search are left out: what was not asked for was not measured.

    Args:
        protocol: the protocol's name.
        lenient: also score the keyword rule, as published practical benches do.
        stale: also say how often a superseded memory ranks above the valid one.
    """

    version = "2"
    modes: tuple[Mode, ...] = ("retrieval",)
    judge: JudgeUse = "none"

    def __init__(self, protocol: str, *, lenient: bool = False, stale: bool = False) -> None:
        self.protocol = protocol
        self._lenient = lenient
        self._stale = stale
        self.metrics = (
            _STRICT
            + (_LENIENT if lenient else ())
            + ((Metric("current_before_stale", binary=True),) if stale else ())
        )

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """Nothing: ranks need no judge."""
        del asked
        return ()

    def grade(self, asked: Asked) -> Marks:
        """Scores one question by every metric that its limit of hits can tell."""
        gold = asked.gold
        hits = hits_of(asked.record)
        derived_hits = sum(derived(hit, asked.texts) for hit in hits)
        if not gold.scorable:
            reason = gold.note or "not scorable"
            return Marks({}, derived_hits=derived_hits, ungraded=reason)
        ranking = rank_sources(hits)
        scores = self._scores(hits, ranking, gold)
        return Marks(
            scores={name: v for name, v in scores.items() if measurable(name, asked.limit)},
            rank=first_rank(ranking, frozenset(gold.evidence)),
            derived_hits=derived_hits,
        )

    def _scores(self, hits: Sequence[HitRecord], ranking: Ranking, gold: Gold) -> dict[str, float]:
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
        return scores
