"""Facts, computed: what the figures of several episodes say together, and which these are.

Nothing here is written by hand or by a model: a fact's numbers, dates and evidence all come from
the values that stand in the documents, and from no episode after the question's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal

from memrig.generation.factspec import (
    ChangeFact,
    CoincidenceFact,
    ExtremeFact,
    FactSpec,
    GapFact,
    Level,
    LimitFact,
    MostFact,
    OnsetFact,
    OrderFact,
    RatioFact,
    RecoveryFact,
    SteadyFact,
    ValueFact,
)
from memrig.generation.formulas import shown
from memrig.generation.model import KeyFact
from memrig.generation.story import Story, StoryError


def compute(story: Story, fact: FactSpec, now: int) -> KeyFact:
    """A fact as it stands after episode `now`.

    Raises:
        StoryError: it is not so: there is no such onset, no rise, or it lies after `now`.
    """
    # Every kind has a method of its name; a test holds them against each other.
    said: _Said = getattr(_Teller(story, now), fact.kind)(fact)
    return _key_fact(story, fact.id, said)


@dataclass(frozen=True, slots=True)
class _Said:
    """A fact in words, and the places that it rests on: signal and episode."""

    texts: tuple[str, ...]
    answer: str
    places: tuple[tuple[str, int], ...]


def _key_fact(story: Story, fact_id: str, said: _Said) -> KeyFact:
    places = sorted(set(said.places), key=lambda place: (place[1], place[0]))
    evidence = sorted({number for _, number in places})
    values = dict.fromkeys(str(story.value(signal, number)) for signal, number in places)
    text = " | ".join(said.texts)
    return KeyFact(fact_id, text, said.answer, tuple(evidence), tuple(values))


@dataclass(frozen=True, slots=True)
class _Teller:
    """Puts one kind of fact after another into words."""

    story: Story
    now: int

    def value(self, fact: ValueFact) -> _Said:
        at = self._at(fact.at)
        text = f"{self._label(fact.signal)} was {self._shown(fact.signal, at)} on {self._day(at)}"
        return _Said((text,), f"{text}.", ((fact.signal, at),))

    def limit(self, fact: LimitFact) -> _Said:
        signal, at = self.story.spec.signal(fact.signal), self._at(fact.at)
        if signal.limit is None:
            raise StoryError(f"signal {signal.name!r} has no limit to hold it against")
        limit = _amount(shown(_plain(signal.limit), signal.decimals), signal.unit)
        side = _side(self.story.value(signal.name, at), _plain(signal.limit))
        text = f"{signal.label} was {self._shown(signal.name, at)}, {side} its limit of {limit}"
        return _Said((text,), f"On {self._day(at)} {text}.", ((signal.name, at),))

    def change(self, fact: ChangeFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        label, verb = self._label(fact.signal), self._verb(fact.signal, a, b)
        before, after = self._shown(fact.signal, a), self._shown(fact.signal, b)
        texts = (f"{label} {verb} from {before} to {after}", f"{label} was {before}, then {after}")
        answer = (
            f"{label} {verb} from {before} to {after} between {self._day(a)} and {self._day(b)}."
        )
        return _Said(texts, answer, ((fact.signal, a), (fact.signal, b)))

    def ratio(self, fact: RatioFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        label, verb = self._label(fact.signal), self._verb(fact.signal, a, b)
        percent = abs(self._percent(fact.signal, a, b))
        texts = (
            f"{label} {verb} by {percent} percent",
            f"a change of {percent} percent in {label}",
        )
        before, after = self._shown(fact.signal, a), self._shown(fact.signal, b)
        answer = f"{label} {verb} by {percent} percent, to {after} on {self._day(b)}, where it had "
        answer += f"been {before} on {self._day(a)}."
        return _Said(texts, answer, ((fact.signal, a), (fact.signal, b)))

    def extreme(self, fact: ExtremeFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        best = self._best(fact.signal, a, b, highest=fact.which == "highest")
        label, shown, day = (
            self._label(fact.signal),
            self._shown(fact.signal, best),
            self._day(best),
        )
        text = f"{label} had its {fact.which} value, {shown}, on {day}"
        answer = f"Between {self._day(a)} and {self._day(b)}, {text}."
        return _Said((text,), answer, tuple((fact.signal, at) for at in (a, best, b)))

    def recovery(self, fact: RecoveryFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        top, low = (self._best(fact.signal, a, b, highest=up) for up in (True, False))
        start = self.story.value(fact.signal, a)
        far = max(top, low, key=lambda at: (abs(self.story.value(fact.signal, at) - start), -at))
        turn, back = self.story.value(fact.signal, far), self.story.value(fact.signal, b)
        if far in (a, b) or abs(back - start) * 2 > abs(turn - start):
            raise StoryError(f"signal {fact.signal!r} does not come back in episodes {a} to {b}")
        label, peak = self._label(fact.signal), self._shown(fact.signal, far)
        end = self._shown(fact.signal, b)
        texts = (
            f"{label} was back at {end} after {peak}",
            f"{label} returned from {peak} to {end}",
        )
        answer = (
            f"{label} stood at {peak} on {self._day(far)} and returned from {peak} to {end} by "
        )
        answer += f"{self._day(b)}."
        return _Said(texts, answer, tuple((fact.signal, at) for at in (a, far, b)))

    def steady(self, fact: SteadyFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        low, high = (self._best(fact.signal, a, b, highest=up) for up in (False, True))
        label = self._label(fact.signal)
        bounds = f"{self._shown(fact.signal, low)} and {self._shown(fact.signal, high)}"
        text = f"{label} stayed between {bounds}"
        answer = f"{text} from {self._day(a)} to {self._day(b)}."
        return _Said((text,), answer, tuple((fact.signal, at) for at in (a, low, high, b)))

    def onset(self, fact: OnsetFact) -> _Said:
        at = self._onset(fact)
        text = f"{self._label(fact.signal)} left its earlier range on {self._day(at)}, "
        text += self._step(fact.signal, at)
        return _Said((text,), f"{text}.", self._around(fact.signal, at))

    def order(self, fact: OrderFact) -> _Said:
        a, b = self._onset(fact.first), self._onset(fact.then)
        if a >= b:
            names = f"{fact.first.signal!r} (episode {a}) and {fact.then.signal!r} (episode {b})"
            raise StoryError(f"the order of {names} is not as stated")
        one, two = self._label(fact.first.signal), self._label(fact.then.signal)
        text = f"{one} moved first, on {self._day(a)}, and {two} after it, on {self._day(b)}"
        places = self._around(fact.first.signal, a) + self._around(fact.then.signal, b)
        return _Said((text,), f"{text}.", places)

    def gap(self, fact: GapFact) -> _Said:
        a, b = self._onset(fact.first), self._onset(fact.then)
        days = (self.story.day(b) - self.story.day(a)).days
        if days <= 0:
            raise StoryError(f"{fact.then.signal!r} does not follow {fact.first.signal!r}")
        one, two = self._label(fact.first.signal), self._label(fact.then.signal)
        text = f"{two} moved {days} days after {one}"
        answer = f"{text}: {one} on {self._day(a)}, {two} on {self._day(b)}."
        places = self._around(fact.first.signal, a) + self._around(fact.then.signal, b)
        return _Said((text, f"{days} days lay between {one} and {two}"), answer, places)

    def coincidence(self, fact: CoincidenceFact) -> _Said:
        a, b = self._onset(fact.first), self._onset(fact.then)
        if a != b:
            names = f"{fact.first.signal!r} (episode {a}) and {fact.then.signal!r} (episode {b})"
            raise StoryError(f"{names} do not move in the same episode")
        one, two = self._label(fact.first.signal), self._label(fact.then.signal)
        text = f"On {self._day(a)} {one} went {self._step(fact.first.signal, a)}, "
        text += f"and {two} {self._step(fact.then.signal, b)}"
        places = self._around(fact.first.signal, a) + self._around(fact.then.signal, b)
        return _Said((text,), f"{text}.", places)

    def most(self, fact: MostFact) -> _Said:
        a, b = self._span(fact.start, fact.end)
        moved = {name: abs(self._percent(name, a, b)) for name in fact.signals}
        ranked = sorted(moved, key=lambda name: -moved[name])
        if moved[ranked[0]] == moved[ranked[1]]:
            raise StoryError(f"{ranked[0]!r} and {ranked[1]!r} change by as much as each other")
        label, rest = self._label(ranked[0]), _joined(self._label(name) for name in ranked[1:])
        text = f"{label} changed most, by {moved[ranked[0]]} percent"
        answer = f"{text}, more than {rest}, between {self._day(a)} and {self._day(b)}."
        return _Said((text,), answer, tuple((name, at) for name in ranked for at in (a, b)))

    def _at(self, reference: str) -> int:
        at = self.story.episode(reference, self.now)
        if at > self.now:
            raise StoryError(
                f"{reference!r} is episode {at}, and the question comes after {self.now}"
            )
        return at

    def _span(self, start: str, end: str) -> tuple[int, int]:
        a, b = self._at(start), self._at(end)
        if a >= b:
            raise StoryError(f"from {start!r} (episode {a}) to {end!r} (episode {b}) is no stretch")
        return a, b

    def _onset(self, level: Level) -> int:
        """The episode from which on the signal is beyond for good; not the first of all."""
        beyond = [self._beyond(level, number) for number in range(1, self.now + 1)]
        at = len(beyond)
        while at and beyond[at - 1]:
            at -= 1
        if not 0 < at < len(beyond):
            side = f"above {level.above:g}" if level.above is not None else f"below {level.below:g}"
            problem = f"{level.signal!r} does not go {side} for good by episode {self.now}"
            raise StoryError(problem)
        return at + 1

    def _beyond(self, level: Level, number: int) -> bool:
        value = self.story.value(level.signal, number)
        if level.above is not None:
            return value > _plain(level.above)
        return level.below is not None and value < _plain(level.below)

    def _step(self, signal: str, at: int) -> str:
        return f"from {self._shown(signal, at - 1)} to {self._shown(signal, at)}"

    def _around(self, signal: str, at: int) -> tuple[tuple[str, int], ...]:
        return ((signal, at - 1), (signal, at))

    def _best(self, signal: str, a: int, b: int, *, highest: bool) -> int:
        sign = 1 if highest else -1
        return max(range(a, b + 1), key=lambda at: (sign * self.story.value(signal, at), -at))

    def _percent(self, signal: str, a: int, b: int) -> Decimal:
        before = self.story.value(signal, a)
        if before == 0:
            raise StoryError(f"signal {signal!r} is 0 in episode {a}: no percentage of it")
        change = (self.story.value(signal, b) - before) * 100 / abs(before)
        return change.quantize(Decimal(1), rounding=ROUND_HALF_EVEN)

    def _verb(self, signal: str, a: int, b: int) -> str:
        before, after = self.story.value(signal, a), self.story.value(signal, b)
        if before == after:
            raise StoryError(f"signal {signal!r} is {before} in both episode {a} and episode {b}")
        return "rose" if after > before else "fell"

    def _label(self, signal: str) -> str:
        return self.story.spec.signal(signal).label

    def _shown(self, signal: str, at: int) -> str:
        return _amount(self.story.value(signal, at), self.story.spec.signal(signal).unit)

    def _day(self, at: int) -> str:
        return day_text(self.story.day(at))


def day_text(day: date) -> str:
    """A date as documents, facts and prompts write it."""
    return day.isoformat()


def _amount(value: Decimal, unit: str) -> str:
    return f"{value} {unit}".strip()


def _plain(value: float) -> Decimal:
    """A number of the spec without the exponent that `1e3` would leave."""
    exact = Decimal(str(value))
    return exact.quantize(Decimal(1)) if exact == exact.to_integral_value() else exact


def _side(value: Decimal, limit: Decimal) -> str:
    return "above" if value > limit else "below" if value < limit else "exactly at"


def _joined(names: Iterable[str]) -> str:
    *front, last = names
    return f"{', '.join(front)} and {last}" if front else last
