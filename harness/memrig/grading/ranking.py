"""From hits to a ranking of sources, and the standard metrics over it (scoring §1)."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from memrig.model.transcript import HitRecord

#: A rank's source; None where a claim was void or a hit named no source.
Ranking = Sequence[str | None]
_WORD = re.compile(r"\w+")


def rank_sources(hits: Iterable[HitRecord]) -> list[str | None]:
    """The sources in rank order: every claim of every hit takes a rank of its own.

    A hit without a claim takes one rank, and so does a void claim and a source that occurred
    before: what fills the list costs a place, so that claiming every episode earns nothing.
    """
    return rank_claims(hit.episodes for hit in hits)


def rank_claims(claims: Iterable[Ranking]) -> list[str | None]:
    """As `rank_sources`, of what each hit claims."""
    ranking: list[str | None] = []
    seen: set[str] = set()
    for claimed in claims:
        for source in claimed or (None,):
            repeated = source is not None and source in seen
            ranking.append(None if repeated else source)
            if source is not None:
                seen.add(source)
    return ranking


def first_rank(ranking: Ranking, relevant: Collection[str]) -> int | None:
    """The 1-based rank of the first relevant source."""
    for number, source in enumerate(ranking, 1):
        if source in relevant:
            return number
    return None


def recall_any(ranking: Ranking, relevant: Collection[str], k: int) -> float:
    """1 if any relevant source is among the first k, else 0 (also called hit@k)."""
    rank = first_rank(ranking[:k], relevant)
    return float(rank is not None)


def recall_all(ranking: Ranking, relevant: Collection[str], k: int) -> float:
    """1 if all relevant sources are among the first k, else 0."""
    return float(set(relevant) <= set(ranking[:k]))


def reciprocal_rank(ranking: Ranking, relevant: Collection[str], k: int) -> float:
    """1 / rank of the first relevant source within k, else 0."""
    rank = first_rank(ranking[:k], relevant)
    return 1 / rank if rank else 0.0


def average_precision(ranking: Ranking, relevant: Collection[str], k: int) -> float:
    """Mean over the relevant sources of the precision at their rank; 0 for those beyond k."""
    found, total = 0, 0.0
    for number, source in enumerate(ranking[:k], 1):
        if source in relevant:
            found += 1
            total += found / number
    return total / len(relevant) if relevant else 0.0


def ndcg(ranking: Ranking, relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain, binary relevance, log2(rank + 1) (Järvelin 2002)."""
    gain = sum(
        1 / math.log2(number + 1)
        for number, source in enumerate(ranking[:k], 1)
        if source in relevant
    )
    ideal = sum(1 / math.log2(number + 1) for number in range(1, min(len(relevant), k) + 1))
    return gain / ideal if ideal else 0.0


def words(text: str) -> frozenset[str]:
    """The distinct words of a text, lower case."""
    return frozenset(_WORD.findall(text.lower()))


def derived(hit: HitRecord, texts: Mapping[str, str]) -> bool:
    """Whether a hit's text shares no word with the sources that it claims.

    A rewritten memory may do so honestly; it is counted and reported, not punished.
    """
    claimed = [texts[source] for source in hit.episodes if source is not None and source in texts]
    if not claimed:
        return False
    said = words(hit.text)
    return all(said.isdisjoint(words(text)) for text in claimed)


def keyword_rank(hits: Sequence[HitRecord], keywords: Sequence[str]) -> int | None:
    """The lenient rule: the first hit whose text holds any keyword, regardless of case."""
    wanted = [keyword.lower() for keyword in keywords]
    for number, hit in enumerate(hits, 1):
        text = hit.text.lower()
        if any(keyword in text for keyword in wanted):
            return number
    return None
