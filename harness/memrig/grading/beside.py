"""What answer protocols report beside the answer: was the evidence found, and was it cited?

One place for all of them, so that the same name means the same in every table.
"""

from collections.abc import Sequence

from memrig.grading.base import Asked, Metric
from memrig.grading.ranking import derived, first_rank, rank_sources, recall_any
from memrig.grading.retrieval import hits_of, measurable

#: The depths that answer protocols report unless they name others.
BESIDE_KS = (1, 5, 10)

CITATIONS = (Metric("citation_recall", binary=False), Metric("citation_precision", binary=False))


def beside_metrics(ks: Sequence[int] = BESIDE_KS) -> tuple[Metric, ...]:
    """The metrics that `retrieval_beside` and `citation_scores` may score, in table order."""
    found = (Metric(f"recall_any@{k}", binary=True, headline=True, modes=("reader",)) for k in ks)
    return (*found, *CITATIONS)


def retrieval_beside(asked: Asked, ks: Sequence[int] = BESIDE_KS) -> dict[str, float]:
    """`recall_any@k` of the search that a reader answered from.

    Empty in every other mode: an agent's last search is not what it answered from. Empty too where
    the data names no evidence. A question that a fault of the adapter ended found nothing.
    """
    if asked.mode != "reader" or not asked.gold.scorable or not asked.gold.evidence:
        return {}
    ranking = rank_sources(hits_of(asked.record))
    relevant = frozenset(asked.gold.evidence)
    names = {f"recall_any@{k}": k for k in ks}
    return {
        name: recall_any(ranking, relevant, k)
        for name, k in names.items()
        if measurable(name, asked.limit)
    }


def citation_scores(asked: Asked) -> dict[str, float]:
    """How far the answer's citations are the evidence.

    `citation_recall` is the share of the evidence that some cited memory names as its source;
    `citation_precision` the share of citations whose memory names any evidence. A handle that was
    never issued counts as a citation of nothing, and so does one that is cited twice. Nothing
    cited: recall 0, and no precision, which is a share of nothing. Answers that could not cite
    score neither.
    """
    if not asked.cites or not asked.gold.scorable or not asked.gold.evidence:
        return {}
    answer = asked.record.answer
    if answer is None:
        return {"citation_recall": 0.0}
    relevant = frozenset(asked.gold.evidence)
    sources = {memory.handle: frozenset(memory.episodes) for memory in answer.memories}
    cited = [sources.get(handle, frozenset()) for handle in dict.fromkeys(answer.cited)]
    found = relevant & frozenset().union(*cited)
    scores = {"citation_recall": len(found) / len(relevant)}
    total = len(answer.cited) + answer.unknown_citations
    if total:
        scores["citation_precision"] = sum(bool(relevant & s) for s in cited) / total
    return scores


def beside(asked: Asked, ks: Sequence[int] = BESIDE_KS) -> dict[str, float]:
    """All that is scored beside an answer."""
    return retrieval_beside(asked, ks) | citation_scores(asked)


def evidence_rank(asked: Asked) -> int | None:
    """The rank of the first evidence in the search that a reader answered from."""
    if asked.mode != "reader":
        return None
    return first_rank(rank_sources(hits_of(asked.record)), frozenset(asked.gold.evidence))


def derived_hits(asked: Asked) -> int:
    """How many hits of the question's last search share no word with what they claim."""
    return sum(derived(hit, asked.texts) for hit in hits_of(asked.record))
