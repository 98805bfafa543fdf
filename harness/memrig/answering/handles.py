"""Handles of the rig's own, m1, m2, …, in place of an adapter's refs.

An adapter's refs may be random, and would then make every prompt, and with it every key of the
gateway's record, differ from run to run. They may also tell a model more than the text does.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from memrig.answering.jsonfit import cleaned
from memrig.model.transcript import HitRecord
from memrig.model.transcript import Memory as MemoryRecord

#: A ref is looked for inside of longer texts only if chance would hardly put it there: it has at
#: least so many characters, and is no plain word unless it has as many as the second number.
_LEAST_INSIDE, _LEAST_WORD = 6, 16

Claims = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A memory as a model is shown it. `date` is empty where it is not known."""

    handle: str
    date: str
    text: str


@dataclass(slots=True)
class _Known:
    """What is known of a memory. `shown` is the longest text that a model was shown of it."""

    ref_id: str
    date: str
    episodes: Claims
    turns: Claims
    shown: str = ""
    shown_tokens: int = 0


def minute(moment: datetime | None) -> str:
    """A time as models are shown it, ``2024-03-05 17:00`` in UTC; empty for none."""
    if moment is None:
        return ""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(sep=" ", timespec="minutes")[:16]


def in_date_order(items: list[Item]) -> list[Item]:
    """By date, the undated last; what has the same date keeps its order."""
    return sorted(items, key=lambda item: (not item.date, item.date))


class Handles:
    """The handles of one question, issued in the order of first sight.

    Args:
        date_of: an episode's time as models are shown it.
    """

    def __init__(self, date_of: Callable[[str], str]) -> None:
        self._date_of = date_of
        self._by_ref: dict[str, str] = {}
        self._known: dict[str, _Known] = {}

    def item(self, hit: HitRecord) -> Item:
        """A hit as a model may see it; the same ref has the same handle.

        What is known of its sources adds up, whichever call told it.
        """
        handle = self._by_ref.get(hit.ref_id, "") if hit.ref_id else ""
        if not handle:
            handle = f"m{len(self._known) + 1}"
            self._known[handle] = _Known(hit.ref_id, "", (), ())
            if hit.ref_id:
                self._by_ref[hit.ref_id] = handle
        known = self._known[handle]
        known.date = known.date or self._date(hit)
        known.episodes = tuple(dict.fromkeys(known.episodes + hit.episodes))
        known.turns = tuple(dict.fromkeys(known.turns + hit.turns))
        return Item(handle, known.date, hit.text)

    def _date(self, hit: HitRecord) -> str:
        if hit.timestamp:
            return minute(hit.timestamp)
        source = next((name for name in hit.episodes if name is not None), None)
        return self._date_of(source) if source is not None else ""

    def show(self, handle: str, text: str, tokens: int) -> None:
        """Notes that a model was shown so much of a memory; the most that it was counts."""
        known = self._known[handle]
        if tokens > known.shown_tokens:
            known.shown, known.shown_tokens = text, tokens

    def was_shown(self, handle: str) -> bool:
        """Whether a model can know the handle."""
        known = self._known.get(handle)
        return known is not None and known.shown_tokens > 0

    def ref_of(self, handle: str) -> str | None:
        """The adapter's own name for a memory that a model was shown."""
        return self._known[handle].ref_id if self.was_shown(handle) else None

    @property
    def shown(self) -> list[Item]:
        """All that a model was shown, in the order of the handles."""
        return [
            Item(handle, known.date, known.shown)
            for handle, known in self._known.items()
            if known.shown_tokens
        ]

    @property
    def memories(self) -> tuple[MemoryRecord, ...]:
        """All that a model was shown, for the transcript."""
        return tuple(
            MemoryRecord(
                handle=handle,
                ref_id=known.ref_id,
                episodes=known.episodes,
                turns=known.turns,
                shown_tokens=known.shown_tokens,
            )
            for handle, known in self._known.items()
            if known.shown_tokens
        )

    def hide(self, value: object) -> object:
        """A JSON value with every known ref in its strings replaced by its handle."""
        inside = [ref for ref in self._by_ref if _is_telling(ref)]
        inside.sort(key=len, reverse=True)
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, inside))})(?!\w)")

        def without_refs(text: str) -> str:
            if text in self._by_ref:
                return self._by_ref[text]
            return pattern.sub(lambda found: self._by_ref[found[0]], text) if inside else text

        return cleaned(value, without_refs)

    def reveal(self, value: object) -> object:
        """A JSON value in which strings that are nothing but a known handle are its ref again."""
        return cleaned(value, lambda text: self.ref_of(text) or text)


def _is_telling(ref: str) -> bool:
    return len(ref) >= (_LEAST_WORD if ref.isalpha() else _LEAST_INSIDE)
