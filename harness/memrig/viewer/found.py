"""What the memory held when a question was asked, and what it gave back: the evidence in both."""

from collections.abc import Iterator
from dataclasses import dataclass

from memrig.model.transcript import HitRecord, SearchRecord
from memrig.report.units import count, milliseconds, plural, size
from memrig.report.view_pairs import Pair
from memrig.viewer.parts import Badge
from memrig.viewer.trace import Placed, Trace

#: Marks on the strip: more would run into each other.
_MARKS = 200
_SHOWN = 40
_RANKS = 8
_KEYS = {"evidence": "evidence", "stale": "superseded", "hit": "what hits name"}


@dataclass(frozen=True, slots=True)
class Mark:
    """An episode on the strip. `x` is percent of its width; kind: evidence, stale or hit."""

    x: float
    kind: str


@dataclass(frozen=True, slots=True)
class Held:
    """An episode that was in the memory. `role` is evidence, superseded or latest."""

    name: str
    role: str
    when: str
    where: str
    ack: str
    found: Badge | None
    text: str


@dataclass(frozen=True, slots=True)
class Episodes:
    """What had been ingested before the question."""

    before: str
    told: str
    marks: tuple[Mark, ...]
    keys: tuple[Pair, ...]
    title: str
    evidence: tuple[Held, ...]
    latest: tuple[Held, ...]
    lost: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a search."""

    rank: int
    text: str
    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class Search:
    """One search: what was sent, and what came back. `said` sums the hits up."""

    query: str
    own: bool
    note: str
    said: str
    hits: tuple[Hit, ...]


def episodes_of(trace: Trace) -> Episodes:
    """What had been ingested, the evidence first."""
    ranks = _ranks(trace)
    gold = [("evidence", name) for name in trace.gold.evidence]
    gold += [("superseded", name) for name in trace.gold.stale]
    known = trace.walk.episodes
    placed = [(role, known[name]) for role, name in gold if name in known]
    placed.sort(key=lambda pair: pair[1].place)
    latest = [known[name] for name in trace.walk.latest]
    marks = tuple(_marks(trace))
    return Episodes(
        before=plural(trace.walk.position, "episode"),
        told=_told(trace),
        marks=marks,
        keys=tuple(Pair(kind, _KEYS[kind]) for kind in _KEYS if kind in {m.kind for m in marks}),
        title=_title(trace, len(placed)),
        evidence=tuple(_held(trace, role, item, ranks) for role, item in placed[:_SHOWN]),
        latest=tuple(_held(trace, "latest", item, ranks) for item in latest),
        lost=max(0, len(placed) - _SHOWN),
    )


def _ranks(trace: Trace) -> dict[str, int]:
    """The best rank at which each episode was a source."""
    ranks: dict[str, int] = {}
    for search in trace.record.searches if trace.record else ():
        for rank, hit in enumerate(search.hits, 1):
            for name in hit.episodes:
                if name is not None:
                    ranks[name] = min(rank, ranks.get(name, rank))
    return ranks


def _told(trace: Trace) -> str:
    """What became of them: acknowledged how, in what time."""
    memory = trace.memory
    if not memory.acks:
        return "" if trace.record is None else "no acknowledgement is on record"
    statuses = [ack.status for ack in memory.acks.values()]
    counts = ((name, statuses.count(name)) for name in ("stored", "duplicate", "rejected"))
    parts = [f"{count(number)} {name}" for name, number in counts if number]
    if memory.stream_ns:
        parts.append(f"ingested in {milliseconds(memory.stream_ns / 1e6)}")
    if memory.flush_ns is not None:
        parts.append(f"flushed in {milliseconds(memory.flush_ns / 1e6)}")
    if memory.items is not None:
        parts.append(f"{plural(memory.items, 'item')} in the memory")
    return ", ".join(parts)


def _marks(trace: Trace) -> Iterator[Mark]:
    """Hits below, evidence above: what stands last is drawn on top."""
    hits = [("hit", name) for name in _ranks(trace)]
    stale = [("stale", name) for name in trace.gold.stale]
    evidence = [("evidence", name) for name in trace.gold.evidence]
    for kind, name in [*hits[:_MARKS], *stale[:_MARKS], *evidence[:_MARKS]]:
        placed = trace.walk.episodes.get(name)
        if placed is not None and placed.place < trace.walk.position:
            yield Mark(round(100 * (placed.place + 0.5) / trace.walk.position, 2), kind)


def _title(trace: Trace, gold: int) -> str:
    hits = len(_ranks(trace))
    evidence = f"{plural(gold, 'episode')} with evidence or superseded values"
    before = plural(trace.walk.position, "episode")
    return f"{before}, oldest left: {evidence}, {hits} that hits name"


def _held(trace: Trace, role: str, item: Placed, ranks: dict[str, int]) -> Held:
    episode = item.episode
    ack = trace.memory.acks.get(episode.episode_id)
    rank = ranks.get(episode.episode_id)
    found = None
    if trace.record is not None and trace.record.searches and role != "latest":
        found = Badge(f"found at rank {rank}", "good") if rank else Badge("not found", "bad")
        if role == "superseded":
            found = Badge(f"rank {rank}", "warn") if rank else None
    return Held(
        name=episode.episode_id,
        role=role,
        when=f"{episode.timestamp:%Y-%m-%d %H:%M}" if episode.timestamp else "",
        where=_where(trace, item),
        ack="" if ack is None else f"{ack.status}, {plural(ack.stored_items, 'item')}",
        found=found,
        text=episode.text,
    )


def _where(trace: Trace, item: Placed) -> str:
    ago = trace.walk.position - item.place - 1
    if ago < 0:
        return "told after the question"
    since = f"{plural(ago, 'episode')} since" if ago else "right before the question"
    return f"{count(item.place + 1)} of {count(trace.walk.position)}, {since}"


def searches_of(trace: Trace) -> tuple[Search, ...]:
    """Every search, in order."""
    if trace.record is None:
        return ()
    return tuple(_search(trace, search) for search in trace.record.searches)


def _search(trace: Trace, search: SearchRecord) -> Search:
    parts = [f"limit {search.limit}", milliseconds(search.ns / 1e6), size(search.payload_bytes)]
    parts += [search.mode.removeprefix("SEARCH_MODE_").lower()] if search.mode else []
    parts += [f"{f.field} {f.operator.replace('_', ' ')} {f.value}" for f in search.filters]
    parts += [f"{search.surplus_hits} beyond the limit"] if search.surplus_hits else []
    hits = tuple(_hit(trace, rank, hit) for rank, hit in enumerate(search.hits, 1))
    own = search.query == trace.walk.question.text
    return Search(search.query, own, " · ".join(parts), _summed(hits), hits)


def _summed(hits: tuple[Hit, ...]) -> str:
    """How many there are, and where the evidence stands among them."""
    ranks = [str(hit.rank) for hit in hits if hit.kind == "relevant"]
    many = "" if len(ranks) <= _RANKS else ", …"
    where = f"at {', '.join(ranks[:_RANKS])}{many}" if ranks else "not among them"
    return f"{plural(len(hits), 'hit')}, evidence {where}"


def _hit(trace: Trace, rank: int, hit: HitRecord) -> Hit:
    evidence = not set(hit.episodes).isdisjoint(trace.gold.evidence)
    stale = not set(hit.episodes).isdisjoint(trace.gold.stale)
    kind = "relevant" if evidence else "stale" if stale else "other"
    when = f"{hit.timestamp:%Y-%m-%d %H:%M}" if hit.timestamp else ""
    sources = ", ".join(name or "(void)" for name in hit.episodes) or "no source"
    note = " · ".join(filter(None, [f"score {hit.score:.4g}", sources, when]))
    return Hit(rank, hit.text, kind, note)
