"""LongMemEval's retrieval metrics, at session and at turn granularity (scoring §1).

The official protocol (``src/retrieval/eval_utils.py`` of the paper's repository) differs from the
textbook in two points. Its DCG gives ranks 1 and 2 the same weight. And its session metrics over a
ranking of turns lengthen the list until k different sessions are covered, where a session counts as
two if both turns that hold evidence and turns that hold none are met.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.ranking import (
    Ranking,
    derived,
    first_rank,
    ndcg,
    rank_claims,
    rank_sources,
    recall_all,
    recall_any,
)
from memrig.grading.retrieval import hits_of, measurable
from memrig.model.gold import Gold
from memrig.model.judgement import JudgeTask
from memrig.model.transcript import HitRecord
from memrig.model.trial import Mode

KS = (1, 3, 5, 10, 30, 50)
#: What the official repository prints.
_HEADLINE = frozenset({"recall_all@5", "recall_all@10", "ndcg_any@5", "ndcg_any@10"})

#: Of a ranking, what is relevant, and k.
Gain = Callable[[Ranking, frozenset[str], int], float]


def official_ndcg(ranking: Ranking, relevant: frozenset[str], k: int) -> float:
    """nDCG with the gain rel₁ + Σ relᵢ / log2(i) for i ≥ 2, binary relevance; 0 without gold."""
    gains = [float(source in relevant) for source in ranking[:k]]
    ideal = [1.0] * min(len(relevant), k)
    return _official_dcg(gains) / _official_dcg(ideal) if ideal else 0.0


def _official_dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(max(rank, 2)) for rank, gain in enumerate(gains, 1))


def session_of(turn: str) -> str:
    """The session that a turn's id names: all before its number."""
    return turn.rpartition("_")[0]


def cut_at_sessions(ranking: Ranking, relevant: frozenset[str], k: int) -> int:
    """How many turns from the first cover k sessions; all of them where they cover fewer.

    Never less than k. Turns with and without evidence of one session count as two sessions, as in
    the official script, which names them differently.
    """
    covered: set[tuple[str, bool]] = set()
    for place, turn in enumerate(ranking):
        if place >= k and len(covered) >= k:
            return place
        if turn is not None:
            covered.add((session_of(turn), turn in relevant))
    return len(ranking)


def at_every_k(ranking: Ranking, relevant: frozenset[str], gain: Gain) -> dict[str, float]:
    """The three metrics over a ranking, by name."""
    return {
        name: value
        for k in KS
        for name, value in (
            (f"recall_any@{k}", recall_any(ranking, relevant, k)),
            (f"recall_all@{k}", recall_all(ranking, relevant, k)),
            (f"ndcg_any@{k}", gain(ranking, relevant, k)),
        )
    }


def official_sessions(turns: Ranking, relevant: frozenset[str], limit: int) -> dict[str, float]:
    """Session metrics over a ranking of turns, by the official rule.

    Args:
        turns: the ranking.
        relevant: the turns that hold evidence.
        limit: how many turns were asked for; where they cover fewer than k sessions, the metrics
            at k are a lower bound.
    """
    turns = turns[:limit]
    wanted = {session_of(turn) for turn in relevant}
    scores: dict[str, float] = {}
    for k in KS:
        cut = cut_at_sessions(turns, relevant, k)
        found = {session_of(turn) for turn in turns[:cut] if turn is not None and turn in relevant}
        scores[f"recall_any@{k}"] = float(bool(found))
        scores[f"recall_all@{k}"] = float(wanted <= found)
        scores[f"ndcg_any@{k}"] = official_ndcg(turns, relevant, cut)
    return scores


def plain_sessions(turns: Ranking, relevant: frozenset[str], limit: int) -> dict[str, float]:
    """Session metrics over a ranking of turns: each session where its first turn stands."""
    ranking = list(dict.fromkeys(session_of(turn) for turn in turns[:limit] if turn is not None))
    return at_every_k(ranking, frozenset(map(session_of, relevant)), ndcg)


def rank_turns(hits: Iterable[HitRecord]) -> list[str | None]:
    """The turns in rank order, by the same rule as sources."""
    return rank_claims(hit.turns for hit in hits)


def _metrics() -> tuple[Metric, ...]:
    def family(prefix: str) -> list[Metric]:
        return [
            Metric(f"{prefix}{name}@{k}", name != "ndcg_any", f"{prefix}{name}@{k}" in _HEADLINE)
            for name in ("recall_any", "recall_all", "ndcg_any")
            for k in KS
        ]

    return (*family(""), *family("session_"), *family("turn_"))


class LongMemEvalRetrieval:
    """recall_any, recall_all and ndcg_any at every k, over what was ingested as an episode.

    Where episodes are turns, `session_…` are the metrics over their sessions. Where episodes are
    sessions and a hit names turns, `turn_…` are the metrics over these.

    Args:
        protocol: the protocol's name.
        official: with the official gain and the official rule from turns to sessions.
    """

    version = "1"
    modes: tuple[Mode, ...] = ("retrieval",)
    judge: JudgeUse = "none"
    metrics = _metrics()

    def __init__(self, protocol: str, *, official: bool) -> None:
        self.protocol = protocol
        self._gain: Gain = official_ndcg if official else ndcg
        self._sessions = official_sessions if official else plain_sessions

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
        relevant = frozenset(gold.evidence)
        scores = at_every_k(ranking, relevant, self._gain) | self._other(hits, gold, asked.limit)
        return Marks(
            scores={name: v for name, v in scores.items() if measurable(name, asked.limit)},
            rank=first_rank(ranking, relevant),
            derived_hits=derived_hits,
        )

    def _other(self, hits: Sequence[HitRecord], gold: Gold, limit: int) -> dict[str, float]:
        """The metrics at the other granularity, where it can be told."""
        turns = frozenset(gold.evidence_turns)
        if gold.evidence == gold.evidence_turns:  # an episode is a turn
            found = self._sessions(rank_sources(hits), turns, limit)
            return {f"session_{name}": value for name, value in found.items()}
        if turns and any(hit.turns for hit in hits):
            found = at_every_k(rank_turns(hits), turns, self._gain)
            return {f"turn_{name}": value for name, value in found.items()}
        return {}
