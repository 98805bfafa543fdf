"""The merged stream: story and distractors in one order that tells nobody which is which.

Every report day has one document of the story and its share of distractors, at times of day from
one distribution, under random ids; the story's comes at each place of the day equally often. So
neither id, time, weekday nor distance to the neighbours says what a document belongs to; only its
text does.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

from memrig.generation.formulas import shown
from memrig.generation.model import EpisodeKind, PlannedEpisode, Reading, Section, Sheet
from memrig.generation.spec import WHOLE, Signal, Theme
from memrig.generation.story import Story, Stretch, seed_of, series, shared
from memrig.model.canonical import derive

#: Minutes of a day in which documents are filed.
FIRST_MINUTE, LAST_MINUTE = 6 * 60, 21 * 60 - 1
EVENTS = (2, 3, 4)

#: What happened, by episode of the story.
Happenings = Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place in the stream: the report day's number, and the theme; the story has none."""

    block: int
    theme: str | None


def merge(story: Story, happenings: Happenings) -> tuple[PlannedEpisode, ...]:
    """All episodes in time order.

    Args:
        story: the figures.
        happenings: one entry an episode of the story.
    """
    seed = seed_of(story.spec)
    sheets = {None: iter(_story_sheets(story, happenings)), **_distractor_sheets(story, seed)}
    slots = _slots(story, seed)
    stamps = _stamps(story, slots, seed)
    ids = _ids(len(slots), derive(seed, "ids"))
    merged: list[PlannedEpisode] = []
    numbers: dict[EpisodeKind, int] = {"signal": 0, "distractor": 0}
    for slot, stamp, episode_id in zip(slots, stamps, ids, strict=True):
        kind: EpisodeKind = "signal" if slot.theme is None else "distractor"
        numbers[kind] += 1
        phase = slot.theme or story.phase_of(numbers[kind])
        title, day = story.spec.document.title, stamp.date()
        sections, events = next(sheets[slot.theme])
        sheet = Sheet(heading=title, day=day, sections=sections, events=events)
        merged.append(PlannedEpisode(kind, numbers[kind], phase, episode_id, stamp, sheet))
    return tuple(merged)


def routine(story: Story) -> Happenings:
    """Happenings of the story's days, drawn from the spec's routine."""
    chance = random.Random(seed_of(story.spec, "events", "story"))  # noqa: S311
    deck = _deck(story.spec.routine, chance)
    return [next(deck) for _ in range(len(story))]


_Body = tuple[tuple[Section, ...], tuple[str, ...]]


def _story_sheets(story: Story, happenings: Happenings) -> Iterator[_Body]:
    for number, events in enumerate(happenings, start=1):
        values = {name: of[number - 1] for name, of in story.values.items()}
        yield sections_of(story.spec.signals, values), events


def _distractor_sheets(story: Story, seed: int) -> dict[str | None, Iterator[_Body]]:
    counts = _theme_counts(story)
    return {
        theme.name: iter(_theme_sheets(theme, count, derive(seed, "theme", theme.name)))
        for theme, count in zip(story.spec.distractors.themes, counts, strict=True)
    }


def _theme_sheets(theme: Theme, count: int, seed: int) -> Iterator[_Body]:
    if not count:
        return
    whole = (Stretch(WHOLE, 1, count),)
    values = {signal.name: series(signal, whole, seed) for signal in theme.signals}
    deck = _deck(theme.events, random.Random(derive(seed, "events")))  # noqa: S311
    for n in range(count):
        yield sections_of(theme.signals, {name: of[n] for name, of in values.items()}), next(deck)


def sections_of(signals: Sequence[Signal], values: Mapping[str, Decimal]) -> tuple[Section, ...]:
    """A sheet's sections, in the order in which signals name them; a limit follows its value."""
    grouped: dict[str, list[Reading]] = {}
    for signal in signals:
        readings = grouped.setdefault(signal.section, [])
        value = str(values[signal.name])
        readings.append(Reading(label=signal.label, value=value, unit=signal.unit))
        if signal.limit is not None:
            limit = str(shown(Decimal(str(signal.limit)), signal.decimals))
            readings.append(Reading(label=f"{signal.label} limit", value=limit, unit=signal.unit))
    return tuple(Section(title=t, readings=tuple(r)) for t, r in grouped.items())


def _deck(events: Sequence[str], chance: random.Random) -> Iterator[tuple[str, ...]]:
    """Some events a sheet, none of them twice; all come up before one comes again."""
    pile: list[str] = []
    while True:
        wanted = min(chance.choice(EVENTS), len(events))
        hand: list[str] = []
        while len(hand) < wanted:
            if not pile:
                pile = [event for event in events if event not in hand]
                chance.shuffle(pile)
            hand.append(pile.pop())
        yield tuple(hand)


def _theme_counts(story: Story) -> list[int]:
    themes = story.spec.distractors.themes
    return shared([theme.share for theme in themes], _distractors(story)) if themes else []


def _distractors(story: Story) -> int:
    spec = story.spec.distractors
    exact = Decimal(str(spec.ratio)) * len(story) if spec.themes else Decimal(0)
    return int(exact + Decimal("0.5"))


def _slots(story: Story, seed: int) -> list[_Slot]:
    chance = random.Random(derive(seed, "order"))  # noqa: S311
    counts = zip(story.spec.distractors.themes, _theme_counts(story), strict=True)
    themes = [theme.name for theme, count in counts for _ in range(count)]
    chance.shuffle(themes)
    total, slots = len(themes), []
    places = list(range(len(story)))
    chance.shuffle(places)
    for block, place in enumerate(places, start=1):
        first, end = ((block + k) * total // len(story) for k in (-1, 0))
        names: list[str | None] = [*themes[first:end]]
        # Dealt, not thrown: over all days every place of the day comes up as often as any other.
        names.insert(place * (len(names) + 1) // len(story), None)
        slots += [_Slot(block, name) for name in names]
    return slots


def _stamps(story: Story, slots: Sequence[_Slot], seed: int) -> list[datetime]:
    chance = random.Random(derive(seed, "times"))  # noqa: S311
    stamps = []
    for block in range(1, len(story) + 1):
        count = sum(slot.block == block for slot in slots)
        minutes = sorted(chance.sample(range(FIRST_MINUTE, LAST_MINUTE + 1), count))
        midnight = datetime.combine(story.day(block), time(), UTC)
        stamps += [midnight + timedelta(minutes=minute) for minute in minutes]
    return stamps


def _ids(count: int, seed: int) -> list[str]:
    """Random ids, none twice."""
    chance = random.Random(seed)  # noqa: S311
    found: dict[str, None] = {}
    while len(found) < count:
        found[f"e-{chance.getrandbits(40):010x}"] = None
    return list(found)
