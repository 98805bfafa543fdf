"""Which questions are asked when, about what was told where.

Every category gets its share. Within it the forms take turns, and what the answers rest on is
spread evenly over the turns told before: ten depth bins, by the place of the last evidence.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeVar

from memrig.errors import UsageError
from memrig.model.canonical import derive
from memrig.suites.longhorizon.interpreter import Interpreter
from memrig.suites.longhorizon.lexicon import Lexicon
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.programs import CATEGORIES, forms_of
from memrig.suites.longhorizon.programs.base import Anchors, Form, Scene
from memrig.suites.longhorizon.questions import WorldQuestion, question_of

T = TypeVar("T")

#: After which percentage of the turns so many percent of the questions are asked.
CHECKPOINTS: tuple[tuple[int, int], ...] = ((25, 15), (50, 15), (75, 15), (100, 55))
BINS = 10
#: Those that need rare constellations choose first; the last ones can fill any gap.
_RARE_FIRST = (
    "meta_memory",
    "security_log_analysis",
    "temporal_trap",
    "multi_hop_reasoning",
    "cross_reference",
    "distractor_resistance",
    "numerical_reasoning",
    "problem_solving",
    "adversarial_distractor",
    "temporal_evolution",
    "incident_tracking",
    "source_attribution",
    "infrastructure_knowledge",
    "numerical_precision",
    "needle_in_haystack",
)
#: Events tried for one question: in one depth bin, and anywhere.
_DRAWS_IN_BIN = 10
_DRAWS = 60


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """A whole number divided by weights: largest remainders, the first of equals first."""
    whole = sum(weights)
    parts = [total * weight // whole for weight in weights]
    rests = [(-(total * weight % whole), place) for place, weight in enumerate(weights)]
    for _, place in sorted(rests)[: total - sum(parts)]:
        parts[place] += 1
    return parts


def quotas(total: int) -> dict[str, int]:
    """The questions of each category."""
    return dict(zip(CATEGORIES, shares(total, [1] * len(CATEGORIES)), strict=True))


def allocate(
    log: EventLog, lexicon: Lexicon, questions: int, *, holdout: bool = False
) -> tuple[WorldQuestion, ...]:
    """Draws questions about a world, in the order in which they are asked.

    Args:
        log: of the world.
        lexicon: how things are called.
        questions: how many.
        holdout: about what is held out, or about everything else.

    Raises:
        UsageError: the world does not have so many; says how many.
    """
    deal = _Deal(log, lexicon, questions, holdout=holdout)
    wanted = quotas(questions)
    short = 0
    for category in _RARE_FIRST:
        short += wanted[category] - deal.take(category, wanted[category])
    for category in reversed(_RARE_FIRST):
        short -= deal.take(category, short)
    if short:
        there = questions - short
        message = f"a world of {log.turns:,} turns has {there:,} such questions, not {questions:,}"
        fix = f"ask for at most {there}, or for more turns"
        raise UsageError(message, where=f"--questions {questions}", fix=fix)
    return tuple(deal.numbered())


@dataclass(slots=True)
class _Tally:
    """How many of a category were taken: by checkpoint, depth bin and form."""

    moments: Counter[int] = field(default_factory=Counter)
    bins: Counter[int] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)


class _Deal:
    """Questions as they are taken, one by one."""

    def __init__(self, log: EventLog, lexicon: Lexicon, total: int, *, holdout: bool) -> None:
        purpose = "holdout" if holdout else "standard"
        self._chance = random.Random(derive(log.seed, "questions", purpose))  # noqa: S311 - no secret
        anchors = Anchors(log)
        counts = shares(total, [share for _, share in CHECKPOINTS])
        self._total = total
        self._left: list[int] = counts
        self._planned = tuple(counts)
        self._scenes = [
            Scene(log, lexicon, Interpreter(log, told), anchors, holdout, self._chance)
            for told in (max(1, log.turns * percent // 100) for percent, _ in CHECKPOINTS)
        ]
        self._bins: Counter[int] = Counter()
        self._seen: set[str] = set()
        self._spent: set[tuple[Form, int, int]] = set()
        self._exhausted: set[tuple[Form, int]] = set()
        self._taken: list[WorldQuestion] = []

    def take(self, category: str, wanted: int) -> int:
        """Takes so many questions of a category, or as many as there are; how many."""
        tally = _Tally()
        for number in range(wanted):
            found = self._next(category, wanted, tally)
            if found is None:
                return number
            self._keep(*found, tally)
        return wanted

    def numbered(self) -> Iterator[WorldQuestion]:
        """All that were taken, by checkpoint, and in a drawn order there."""
        order = [(q.asked_after, self._chance.random(), n) for n, q in enumerate(self._taken)]
        for number, (_, _, place) in enumerate(sorted(order), 1):
            yield self._taken[place].model_copy(update={"question_id": f"q{number:04d}"})

    def _next(
        self, category: str, wanted: int, tally: _Tally
    ) -> tuple[WorldQuestion, int, Form] | None:
        """A question of the form that was least used, at the checkpoint that lacks most."""
        forms = self._shuffled(forms_of(category))
        forms.sort(key=lambda form: tally.forms[form.name])
        open_ones = self._moments(wanted, tally)
        closed = [n for n in range(len(CHECKPOINTS))[::-1] if n not in open_ones]
        # First all rules hold, then fewer and fewer.
        rules: tuple[tuple[int | None, list[int]], ...] = (
            (0, open_ones),
            (1, open_ones),
            (None, open_ones),
            (None, closed),
        )
        for slack, moments in rules:
            for moment, form in product(moments, forms):
                if (form, moment) in self._exhausted:
                    continue
                found = self._try(form, moment, tally, slack)
                if found is not None:
                    return found, moment, form
                if slack is None:
                    self._exhausted.add((form, moment))
        return None

    def _moments(self, wanted: int, tally: _Tally) -> list[int]:
        """The checkpoints that have questions left to ask, what the category lacks most first."""
        open_ones = [n for n, left in enumerate(self._left) if left > 0]
        lacking = {n: self._planned[n] * wanted - tally.moments[n] * self._total for n in open_ones}
        return sorted(open_ones, key=lambda n: (-lacking[n], n))

    def _try(
        self, form: Form, moment: int, tally: _Tally, slack: int | None
    ) -> WorldQuestion | None:
        """A question of a form, or none after many draws.

        `slack` is by how many the category may have more in its bin than in its emptiest one; none:
        any number, and bins that are full take more.
        """
        bins = range(BINS) if slack is None else self._open_bins(tally, slack)
        if not bins and "abstention" not in form.tags:
            return None
        if "abstention" in form.tags or not form.anchored:
            return self._anywhere(form, moment, bins)
        order = self._shuffled(bins)
        order.sort(key=lambda place: (self._bins[place], tally.bins[place]))
        for place in order:
            told = self._scenes[moment].now.told
            stretch = range(told * place // BINS, told * (place + 1) // BINS)
            for _ in range(_DRAWS_IN_BIN):
                found = self._drawn(form, moment, stretch)
                if found is not None and _bin(found) == place:
                    return found
        return None

    def _anywhere(self, form: Form, moment: int, bins: Sequence[int]) -> WorldQuestion | None:
        stretch = range(self._scenes[moment].now.told)
        for _ in range(_DRAWS):
            found = self._drawn(form, moment, stretch)
            if found is not None and _bin(found) in {*bins, None}:
                return found
        return None

    def _open_bins(self, tally: _Tally, slack: int) -> list[int]:
        """The bins that are not full, and have hardly more of the category than any."""
        full = self._total // BINS
        fewest = min(tally.bins[place] for place in range(BINS))
        return [
            place
            for place in range(BINS)
            if self._bins[place] < full and tally.bins[place] <= fewest + slack
        ]

    def _drawn(self, form: Form, moment: int, stretch: range) -> WorldQuestion | None:
        scene = self._scenes[moment]
        predicate = form.predicates[int(self._chance.random() * len(form.predicates))]
        place = scene.anchors.draw(predicate, form.kinds, stretch, self._chance)
        if place is None or (form, moment, place) in self._spent:
            return None
        found = question_of(scene, form, scene.log.event(place))
        if found is None or self._seen & _marks(found):
            self._spent.add((form, moment, place))
            return None
        return found

    def _keep(self, question: WorldQuestion, moment: int, form: Form, tally: _Tally) -> None:
        self._taken.append(question)
        self._seen |= _marks(question)
        self._left[moment] -= 1
        tally.moments[moment] += 1
        tally.forms[form.name] += 1
        place = _bin(question)
        if place is not None:
            self._bins[place] += 1
            tally.bins[place] += 1

    def _shuffled(self, items: Sequence[T]) -> list[T]:
        keyed = [(self._chance.random(), n, item) for n, item in enumerate(items)]
        return [item for _, _, item in sorted(keyed, key=lambda entry: entry[:2])]


def _bin(question: WorldQuestion) -> int | None:
    return None if question.depth is None else int(question.depth * BINS)


def _marks(question: WorldQuestion) -> set[str]:
    """What no two questions share: the words, and what is asked."""
    return {question.text, question.program.model_dump_json()}


def per_category(questions: Sequence[WorldQuestion]) -> Mapping[str, int]:
    """How many questions each category has."""
    counts = Counter(question.category for question in questions)
    return {category: counts[category] for category in CATEGORIES}
