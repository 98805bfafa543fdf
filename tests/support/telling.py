"""What series of figures say, in sentences, each with the memories that it rests on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import pairwise

from support.series import Point, Series

#: A series has left its range where all later values lie beyond all earlier ones by this part of
#: the earlier range, or by this part of the value where there is no range yet.
_BEYOND, _LEAST = Decimal("0.5"), Decimal("0.08")
#: A swing of so much of the first value that comes back by half is no movement but a return.
_SWING = Decimal("0.25")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, and the handles of what it rests on."""

    text: str
    handles: tuple[str, ...]


def said(text: str, *points: Point) -> Said:
    """A sentence about some points."""
    return Said(text, tuple(dict.fromkeys(point.handle for point in points)))


def onset(series: Series) -> int | None:
    """The first place from which on all values lie beyond all earlier ones; None: none does."""
    values = [point.value for point in series.points]
    for place in range(min(2, len(values) - 1), len(values)):
        before, after = values[:place], values[place:]
        if not before or not after:
            continue
        room = max((max(before) - min(before)) * _BEYOND, abs(before[-1]) * _LEAST)
        if min(after) > max(before) + room or max(after) < min(before) - room:
            return place
    return None


def turn(series: Series) -> int | None:
    """The place farthest from the first value, if the series came back from there."""
    values = [point.value for point in series.points]
    if len(values) < 3:
        return None
    far = max(range(len(values)), key=lambda at: abs(values[at] - values[0]))
    away = abs(values[far] - values[0])
    back = abs(values[-1] - values[0]) * 2 <= away
    return far if back and away > abs(values[0]) * _SWING and far < len(values) - 1 else None


def moved(series: Series) -> Decimal:
    """How far a series went from its first value to its last, in parts of the first."""
    first, last = series.points[0].value, series.points[-1].value
    return abs(last - first) / (abs(first) or Decimal(1))


def percent(series: Series) -> Decimal:
    """The change from first to last in whole percent."""
    return (moved(series) * 100).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)


def on_day(series: Series, day: str) -> Said | None:
    """The value of one day."""
    point = next((point for point in series.points if point.day == day), None)
    return said(f"{series.label} stood at {point.text} on {day}.", point) if point else None


def course(series: Series) -> Iterator[Said]:
    """How a series went: it returned, it moved, or it stayed in its range."""
    if len(series.points) == 1:
        (only,) = series.points
        yield said(f"{series.label} stood at {only.text} on {only.day}.", only)
    elif (far := turn(series)) is not None:
        yield from _returned(series, series.points[far])
    elif (place := onset(series)) is not None:
        yield from _left(series, place)
    else:
        yield _stayed(series)
    if series.limit:
        yield _against_limit(series)


def _returned(series: Series, far: Point) -> Iterator[Said]:
    first, last = series.points[0], series.points[-1]
    side = "highest" if far.value > first.value else "lowest"
    yield said(
        f"{series.label} was {first.text} on {first.day}, had its {side} value, {far.text}, on "
        f"{far.day}, and returned from {far.text} to {last.text} by {last.day}.",
        *(first, far, last),
    )


def _left(series: Series, place: int) -> Iterator[Said]:
    points = series.points
    first, last, before, at = points[0], points[-1], points[place - 1], points[place]
    verb = "rose" if last.value > first.value else "fell"
    yield said(
        f"{series.label} {verb} from {first.text} to {last.text} between {first.day} and "
        f"{last.day}.",
        *(first, last),
    )
    yield said(
        f"{series.label} first left its earlier range on {at.day}, at {at.text}; on {before.day} "
        f"it had still been {before.text}.",
        *(before, at),
    )


def _stayed(series: Series) -> Said:
    low = min(series.points, key=lambda point: point.value)
    high = max(series.points, key=lambda point: point.value)
    first, last = series.points[0], series.points[-1]
    return said(
        f"{series.label} stayed between {low.text} and {high.text} from {first.day} to {last.day}.",
        *(first, low, high, last),
    )


def _against_limit(series: Series) -> Said:
    last = series.points[-1]
    limit = Decimal(re.split(r"\s", series.limit)[0].replace(",", ""))
    side = "above" if last.value > limit else "below" if last.value < limit else "exactly at"
    return said(
        f"On {last.day} {series.label} stood at {last.text}, {side} its limit of {series.limit}.",
        last,
    )


def extreme(series: Series) -> Said:
    """The value that lies farthest off the first one, with its day."""
    first = series.points[0]
    far = max(series.points, key=lambda point: abs(point.value - first.value))
    side = "highest" if far.value >= first.value else "lowest"
    return said(f"{series.label} had its {side} value, {far.text}, on {far.day}.", far)


def together(chosen: Sequence[Series]) -> Iterator[Said]:
    """What several series say of each other: which left its range first, and how far apart."""
    left = [(series, place) for series in chosen if (place := onset(series)) is not None]
    left = [(series, place) for series, place in left if turn(series) is None]
    left.sort(key=lambda item: item[0].points[item[1]].day)
    for (one, at), (other, then) in pairwise(left):
        a, b = one.points[at], other.points[then]
        if a.day == b.day:
            text = (
                f"{one.label} and {other.label} left their earlier range on the same day, {a.day}."
            )
        else:
            days = (date.fromisoformat(b.day) - date.fromisoformat(a.day)).days
            text = (
                f"{one.label} moved first, on {a.day}, and {other.label} after it, on {b.day}; "
                f"{other.label} moved {days} days after {one.label}."
            )
        yield said(text, one.points[at - 1], a, other.points[then - 1], b)


def most(chosen: Sequence[Series]) -> Said | None:
    """Which series changed most."""
    several = [series for series in chosen if len(series.points) > 1]
    if len(several) < 2:
        return None
    best = max(several, key=moved)
    ends = (best.points[0], best.points[-1])
    verb = "rose" if ends[1].value > ends[0].value else "fell"
    change = percent(best)
    return said(
        f"{best.label} changed most, by {change} percent: {best.label} {verb} by {change} percent.",
        *ends,
    )
