"""A story as figures: its phases, its days, and every signal's value in every episode."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from memrig.generation.factspec import REFERENCE
from memrig.generation.formulas import Formula, FormulaError, parse, shown
from memrig.generation.spec import WHOLE, Phase, Signal, Spec
from memrig.model.canonical import derive

#: The story's own name in references, beside those of its phases.
STORY = "story"


class StoryError(ValueError):
    """A spec's parts do not fit each other; the message says which and how."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A phase's episodes, by number from 1, both ends included."""

    name: str
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Story:
    """What facts are computed from. Values are as they stand in the documents."""

    spec: Spec
    phases: tuple[Stretch, ...]
    values: Mapping[str, tuple[Decimal, ...]]

    def __len__(self) -> int:
        return self.phases[-1].last

    def day(self, number: int) -> date:
        """The date of an episode.

        Raises:
            StoryError: it is beyond the last day of any calendar.
        """
        timeline = self.spec.timeline
        try:
            return timeline.start + timedelta(days=timeline.interval_days * (number - 1))
        except OverflowError as error:
            raise StoryError(f"episode {number} would come after the year 9999") from error

    def value(self, signal: str, number: int) -> Decimal:
        """A signal's value in an episode."""
        return self.values[signal][number - 1]

    def phase_of(self, number: int) -> str:
        """The name of the phase that an episode is in."""
        return next(phase.name for phase in self.phases if number <= phase.last)

    def episode(self, reference: str, now: int | None = None) -> int:
        """The number of the episode that a reference names.

        Args:
            reference: ``phase:K``, ``phase:first``, ``phase:50%`` …, or ``now``.
            now: the episode after which the question is asked, if there is one.

        Raises:
            StoryError: no such phase, or there is no ``now`` here.
        """
        if reference == "now":
            if now is None:
                raise StoryError("'now' means nothing here: name an episode by its phase")
            return now
        if not re.fullmatch(REFERENCE, reference):
            raise StoryError(f"{reference!r} is no phase and place, such as {STORY}:first")
        name, place = reference.split(":")
        return _within(self._stretch(name), place)

    def _stretch(self, name: str) -> Stretch:
        if name == STORY:
            return Stretch(STORY, 1, len(self))
        for phase in self.phases:
            if phase.name == name:
                return phase
        known = ", ".join([STORY, *(phase.name for phase in self.phases)])
        raise StoryError(f"no phase is named {name!r}; there are {known}")


def _within(stretch: Stretch, place: str) -> int:
    if place == "first":
        return stretch.first
    if place == "last":
        return stretch.last
    if place.endswith("%"):
        part = Fraction(min(int(place[:-1]), 100), 100) * (len(stretch) - 1)
        return stretch.first + int(part + Fraction(1, 2))
    return min(stretch.first + int(place) - 1, stretch.last)


def stretches(phases: Sequence[Phase], episodes: int) -> tuple[Stretch, ...]:
    """Shares out the episodes: at least one a phase, the rest by largest remainder.

    Raises:
        StoryError: there are more phases than episodes.
    """
    if len(phases) > episodes:
        raise StoryError(f"{len(phases)} phases do not go into {episodes} episodes")
    counts = [1 + extra for extra in shared([p.share for p in phases], episodes - len(phases))]
    found, first = [], 1
    for phase, count in zip(phases, counts, strict=True):
        found.append(Stretch(phase.name, first, first + count - 1))
        first += count
    return tuple(found)


def shared(shares: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to shares, that sum up to the total; ties go to the earlier."""
    exact = [Fraction(str(share)) for share in shares]
    whole = sum(exact)
    parts = [share * total / whole for share in exact]
    counts = [int(part) for part in parts]
    order = sorted(range(len(parts)), key=lambda n: (counts[n] - parts[n], n))
    for n in order[: total - sum(counts)]:
        counts[n] += 1
    return counts


def tell(spec: Spec) -> Story:
    """Computes the story's figures from its formulas. The same spec gives the same figures.

    Raises:
        StoryError: a formula cannot be computed.
    """
    phases = stretches(spec.phases, spec.timeline.episodes)
    return Story(spec, phases, {s.name: series(s, phases, seed_of(spec)) for s in spec.signals})


def seed_of(spec: Spec, *purpose: str) -> int:
    """A seed for one purpose of one scope at one length."""
    size = (str(spec.timeline.episodes), str(spec.distractors.ratio))
    return derive(spec.seed, "longitudinal", spec.name, *size, *purpose)


def series(signal: Signal, phases: Sequence[Stretch], seed: int) -> tuple[Decimal, ...]:
    """A signal's values as shown, episode by episode.

    Raises:
        StoryError: a formula cannot be computed, or is missing for a phase.
    """
    chance = random.Random(derive(seed, "noise", signal.name))  # noqa: S311
    noise = Decimal(str(signal.noise)) / 1000
    values: list[Decimal] = []
    last: Decimal | None = None
    for phase in phases:
        formula = _formula(signal, phase.name)
        known = {} if last is None else {"last": last}
        for k in range(len(phase)):
            t = Decimal(k) / max(1, len(phase) - 1)
            exact = _value(formula, {**known, "t": t, "n": Decimal(phase.first + k)}, signal, phase)
            values.append(shown(exact + chance.randint(-1000, 1000) * noise, signal.decimals))
            last_of_phase = exact
        last = last_of_phase
    return tuple(values)


def _formula(signal: Signal, phase: str) -> Formula:
    source = signal.formulas.get(phase, signal.formulas.get(WHOLE))
    if source is None:
        raise StoryError(f"signal {signal.name!r} has no formula for the phase {phase!r}")
    try:
        return parse(source)
    except FormulaError as error:
        raise StoryError(f"signal {signal.name!r}, phase {phase!r}: {error}") from error


def _value(
    formula: Formula, known: Mapping[str, Decimal], signal: Signal, phase: Stretch
) -> Decimal:
    where = f"signal {signal.name!r}, phase {phase.name!r}"
    if not formula.names <= set(known):
        raise StoryError(f"{where}: there is no 'last' in the first phase")
    try:
        return formula.value(known)
    except FormulaError as error:
        raise StoryError(f"{where}: {error}") from error
