"""A model as the planner. It proposes figures and happenings; what follows from them is computed.

It sees the storyline and fills in each series, phase by phase, within the range that the spec's
formulas take there. Facts, evidence, questions and answers are computed from its figures as from
anybody's: nothing that a model says becomes gold.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from memrig.errors import GatewayError
from memrig.generation.asking import ASKED_AT_MOST, Asker, Unusable
from memrig.generation.facts import day_text
from memrig.generation.model import Plan
from memrig.generation.planner import assemble, unworkable
from memrig.generation.prompts import PhaseBrief, phase_prompt, planner_system
from memrig.generation.spec import Signal, Spec
from memrig.generation.story import Story, StoryError, Stretch, tell
from memrig.generation.textcheck import forbidden_in
from memrig.model.canonical import digest_of
from memrig.model.chat import Chat

#: Events of one episode, as the deterministic planner has them.
_EVENTS = range(2, 5)
_LONGEST_EVENT = 200
_FIGURE = re.compile(r"\d")
#: Tokens for one number, for one event, and around them.
_TOKENS_A_NUMBER, _TOKENS_AN_EVENT, _TOKENS_BESIDE = 8, 50, 500


@dataclass(frozen=True, slots=True)
class Range:
    """What one series may take in one phase, both ends included."""

    signal: Signal
    least: Decimal
    most: Decimal
    moves: str

    def shown(self) -> dict[str, object]:
        """For the prompt."""
        return {
            "label": self.signal.label,
            "unit": self.signal.unit,
            "decimals": self.signal.decimals,
            "least": str(self.least),
            "most": str(self.most),
            "moves": self.moves,
        }


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """A model's proposal for one phase."""

    values: Mapping[str, tuple[Decimal, ...]]
    events: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ModelPlanner:
    """Implements `Planner` with a model."""

    asker: Asker

    async def plan(self, spec: Spec) -> Plan:
        """Plans one scope.

        Raises:
            DataError: the spec's own formulas do not work out.
            GatewayError: the model could not be had, or its figures do not show the spec's facts.
        """
        try:
            guide = tell(spec)
        except StoryError as error:
            raise unworkable(spec, error) from error
        failed = ""
        for attempt in range(ASKED_AT_MOST):
            phases: list[PhasePlan] = []
            for stretch in guide.phases:
                brief = _brief(guide, stretch, _joined(guide, phases), failed)
                phases.append(await self._phase(guide, stretch, brief, attempt))
            try:
                story = Story(spec, guide.phases, _joined(guide, phases))
                return assemble(story, [events for phase in phases for events in phase.events])
            except StoryError as error:
                failed = str(error)
        raise GatewayError(
            f"the figures of the planner {self.asker.model} do not show the facts of the spec, "
            f"asked {ASKED_AT_MOST} times: {failed}",
            kind="malformed",
            where=f"spec {spec.name}",
            fix="give another model, or make the dataset with --planner deterministic",
        )

    async def _phase(
        self, guide: Story, stretch: Stretch, brief: PhaseBrief, attempt: int
    ) -> PhasePlan:
        spec = guide.spec
        ranges = ranges_of(guide, stretch)
        a_day = _TOKENS_A_NUMBER * len(ranges) + _TOKENS_AN_EVENT * _EVENTS[-1]
        return await self.asker.ask(
            planner_system(),
            phase_prompt(spec, brief),
            lambda text: parse_phase(text, ranges, len(stretch), spec.forbidden),
            scope=f"plan/{digest_of(spec.model_dump(mode='json'))}/{stretch.name}/{attempt}",
            where=f"spec {spec.name}, phase {stretch.name}",
            max_tokens=_TOKENS_BESIDE + a_day * len(stretch),
        )


def planner_of(chat: Chat, model: str, *, seed: int = 0) -> ModelPlanner:
    """A model as the planner.

    Args:
        chat: where it is reached.
        model: its name.
        seed: of the calls.
    """
    return ModelPlanner(Asker(chat, model, "planner", seed))


def _joined(guide: Story, phases: Sequence[PhasePlan]) -> dict[str, tuple[Decimal, ...]]:
    """The phases' figures one after the other, by series."""
    return {
        name: tuple(value for phase in phases for value in phase.values[name])
        for name in guide.values
    }


def _brief(
    guide: Story, stretch: Stretch, before: Mapping[str, tuple[Decimal, ...]], failed: str
) -> PhaseBrief:
    return PhaseBrief(
        name=stretch.name,
        days=[day_text(guide.day(n)) for n in range(stretch.first, stretch.last + 1)],
        series={found.signal.name: found.shown() for found in ranges_of(guide, stretch)},
        before={name: [str(value) for value in values] for name, values in before.items()},
        failed=failed,
    )


def ranges_of(guide: Story, stretch: Stretch) -> tuple[Range, ...]:
    """What the spec's formulas come to in a phase, give or take their noise."""
    found = []
    for signal in guide.spec.signals:
        values = guide.values[signal.name][stretch.first - 1 : stretch.last]
        noise = Decimal(str(signal.noise)).quantize(Decimal(1).scaleb(-signal.decimals))
        first, last = values[0], values[-1]
        moves = "anyhow" if abs(last - first) <= 2 * noise else "up" if last > first else "down"
        found.append(Range(signal, min(values) - noise, max(values) + noise, moves))
    return tuple(found)


# ------------------------------------------------------------------------------------- parsing


def parse_phase(
    text: str, ranges: Sequence[Range], episodes: int, forbidden: Sequence[str]
) -> PhasePlan:
    """A reply as a phase's plan.

    Raises:
        Unusable: it is no such object; a list is too long or too short; a value is no number, out
            of its range or too fine; an event is none.
    """
    try:
        reply = json.loads(_bare(text), parse_float=Decimal, parse_int=Decimal,
                           object_pairs_hook=_once, parse_constant=_no_number)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is no JSON: {error}") from error
    if not isinstance(reply, dict) or set(reply) != {"values", "events"}:
        raise Unusable('it is not one object with exactly the members "values" and "events"')
    problems = [*_value_problems(reply["values"], ranges, episodes),
                *_event_problems(reply["events"], episodes, forbidden)]  # fmt: skip
    if problems:
        raise Unusable(*problems)
    return PhasePlan(
        values={r.signal.name: tuple(_even(v, r) for v in reply["values"][r.signal.name])
                for r in ranges},
        events=tuple(tuple(events) for events in reply["events"]),
    )  # fmt: skip


def _bare(text: str) -> str:
    """The reply without a code fence around it."""
    found = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, re.DOTALL)
    return found[1] if found else text


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands twice")
    return members


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _even(value: Decimal, of: Range) -> Decimal:
    """The value with as many decimals as documents show."""
    return value.quantize(Decimal(1).scaleb(-of.signal.decimals))


def _value_problems(values: object, ranges: Sequence[Range], episodes: int) -> Iterator[str]:
    names = {found.signal.name for found in ranges}
    if not isinstance(values, dict) or set(values) != names:
        yield f'"values" does not have exactly the series {", ".join(sorted(names))}'
        return
    for found in ranges:
        name, series = found.signal.name, values[found.signal.name]
        if not isinstance(series, list) or len(series) != episodes:
            yield f"{name} is not a list of {episodes} numbers"
            continue
        for number, value in enumerate(series, start=1):
            if not isinstance(value, Decimal):
                yield f"{name}, number {number} is no number: {value!r}"
            elif not found.least <= value <= found.most:
                yield (f"{name}, number {number} is {value}, expected {found.least} to "
                       f"{found.most}")  # fmt: skip
            elif _even(value, found) != value:
                yield f"{name}, number {number} has more than {found.signal.decimals} decimals"


def _event_problems(events: object, episodes: int, forbidden: Sequence[str]) -> Iterator[str]:
    if not isinstance(events, list) or len(events) != episodes:
        yield f'"events" is not a list of {episodes} lists'
        return
    for number, sentences in enumerate(events, start=1):
        where = f"events, list {number}"
        if not isinstance(sentences, list) or len(sentences) not in _EVENTS:
            yield f"{where} is not a list of {_EVENTS[0]} to {_EVENTS[-1]} sentences"
            continue
        for sentence in sentences:
            yield from (f"{where} {problem}" for problem in _sentence(sentence, forbidden))


def _sentence(sentence: object, forbidden: Sequence[str]) -> Iterator[str]:
    """What is wrong with one event."""
    if not isinstance(sentence, str) or not sentence.strip() or "\n" in sentence:
        yield f"holds what is no sentence: {sentence!r}"
    elif len(sentence) > _LONGEST_EVENT:
        yield f"holds a sentence of more than {_LONGEST_EVENT} characters"
    elif _FIGURE.search(sentence):
        yield f"holds a figure: {sentence!r}"
    elif used := forbidden_in(sentence, forbidden):
        yield f"uses what may not be said: {', '.join(used)}"
