"""Validators of what can be known from documents: from one alone, from the evidence, from all."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from statistics import fmean

from memrig.generation.model import (
    Draft,
    Finding,
    KeyFact,
    PlannedEpisode,
    PlannedQuestion,
    Stuffed,
)
from memrig.generation.spec import Spec
from memrig.generation.validators.base import View, episode_place
from memrig.generation.validators.shown import (
    all_in,
    dates_in,
    places,
    readings,
    shown,
    underived,
)
from memrig.grading.typed.facts import fact_score
from memrig.grading.typed.reading import read
from memrig.grading.typed.words import content, fold
from memrig.model.longitudinal import CONTROL, QUESTION_TYPES, SYNTHESIS, QuestionType

#: Mean fact recall of a context-stuffed answer, by type, where a spec gives no band of its own.
#: Above the upper end, a question needs no memory: to hand everything over is enough. Below the
#: lower end, a control cannot be looked up where everything is at hand.
BANDS: Mapping[QuestionType, tuple[float, float]] = {
    kind: (0.5, 1.0) if kind in CONTROL else (0.0, 0.5) for kind in QUESTION_TYPES
}
#: From here on the matcher counts a fact as found, but for rounding.
_FOUND = 0.99
#: What stands for a line that has nothing of a fact, so many times at most.
_OTHER, _APART = "Something else", 3
_FIGURE = re.compile(r"\d[\d.,:-]*\d")


class SingleEpisodeCoverage:
    """Implements `Validator`.

    A fact counts as covered by an episode as far as the typed matcher finds it in the document's
    lines, and in full where the document gives all values that the fact rests on.
    """

    name = "single-episode-coverage"
    reason = "what one episode tells needs no memory over time"

    def limit(self, spec: Spec) -> str:
        """See `Validator`."""
        most = spec.thresholds.single_episode_coverage
        return f"at most {most:g} of a synthesis question's facts in one episode"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        most = draft.plan.spec.thresholds.single_episode_coverage
        known: dict[tuple[str, str, str], float] = {}
        for question in draft.plan.questions:
            if question.type not in SYNTHESIS or not question.facts:
                continue
            shares = [
                (self._share(draft, question, e, known), e) for e in View(draft).until(question)
            ]
            if not shares:  # asked before anything: evidence-before-checkpoint says so
                continue
            share, episode = max(shares, key=lambda found: found[0])
            if share > most:
                yield Finding(
                    self.name,
                    f"question {question.question_id}",
                    f"{episode_place(episode)} alone gives {share:.2f} of its facts, expected at "
                    f"most {most:g}",
                    "ask for facts of more episodes, or take out those of a single one",
                )

    def _share(
        self,
        draft: Draft,
        question: PlannedQuestion,
        episode: PlannedEpisode,
        known: dict[tuple[str, str, str], float],
    ) -> float:
        text = draft.texts[episode.episode_id]
        scores = []
        for fact in question.facts:
            key = episode.episode_id, fact.text, question.prompt
            if key not in known:
                known[key] = covered(text, fact, question, episode)
            scores.append(known[key])
        return fmean(scores)


def covered(text: str, fact: KeyFact, question: PlannedQuestion, episode: PlannedEpisode) -> float:
    """How far one document tells a fact."""
    labels = [r.label for r in readings(episode) if r.label.casefold() in fact.text.casefold()]
    if fact.values and labels and all_in(text, labels, fact.values):
        return 1.0
    excerpt = _excerpt(text, fact.text)
    if all(_lacks(excerpt, part) for part in fact.text.split("|")):
        return 0.0
    return fact_score(read(excerpt, question.prompt), fact.text)


def _excerpt(text: str, fact: str) -> str:
    """The lines that share a word or a figure with the fact, as far apart as they are.

    The matcher is slow on whole documents, and looks at three sentences in a row at most.
    """
    wanted = set(_stems(fact)) | set(_FIGURE.findall(fact))
    kept: list[str] = []
    for line in filter(None, text.splitlines()):
        shares = not wanted.isdisjoint(_stems(line))
        if shares or kept[-_APART:] != [_OTHER] * _APART:
            kept.append(line if shares else _OTHER)
    return "\n".join(kept)


@lru_cache(maxsize=65536)
def _stems(line: str) -> frozenset[str]:
    """The words of a line, and its figures."""
    return frozenset(content(fold(line))).union(_FIGURE.findall(line))


def _lacks(text: str, fact: str) -> bool:
    """Whether a figure of two or more digits of the fact does not stand in the text."""
    said = set(_FIGURE.findall(text))
    return any(figure not in said for figure in _FIGURE.findall(fact))


class ControlAnswerable:
    """Implements `Validator`."""

    name = "control-answerable"
    reason = "a control measures looking up: one episode must answer it, whole"

    def limit(self, spec: Spec) -> str:  # noqa: ARG002 - the same for every scope
        """See `Validator`."""
        return f"facts, all shown by the one evidence episode, whose lines score {_FOUND:g} or more"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        view = View(draft)
        for question in draft.plan.questions:
            if question.type in CONTROL and (message := self._message(view, question)):
                fix = "ask for values of one episode, and name its date and their labels"
                yield Finding(self.name, f"question {question.question_id}", message, fix)

    def _message(self, view: View, question: PlannedQuestion) -> str:
        if not question.facts:
            return "it has no facts, expected one at least"
        if len(set(question.evidence)) != 1:
            return f"its evidence is {len(set(question.evidence))} episodes, expected exactly one"
        (number,) = set(question.evidence)
        hidden = [fact for fact in question.facts
                  if fact.evidence != (number,) or unshown(view, fact)]  # fmt: skip
        if hidden:
            return f"signal episode {number} does not show the fact {hidden[0].text!r}"
        uncredited = [fact for fact in question.facts if not _credited(view, question, fact)]
        if uncredited:
            return f"its lines are not credited for the fact {uncredited[0].text!r}"
        return ""


def _credited(view: View, question: PlannedQuestion, fact: KeyFact) -> bool:
    """Whether the matcher finds the fact in the readings that it rests on, put side by side."""
    lines = [
        f"{at.reading.label}: {at.reading.value} {at.reading.unit}, on {at.episode.sheet.day}."
        for value in fact.values
        for at in places(view, fact, value)
    ]
    return fact_score(read("\n".join(lines), question.prompt), fact.text) >= _FOUND


class Recoverable:
    """Implements `Validator`."""

    name = "recoverable"
    reason = "a fact that its evidence does not show can be known by nobody"

    def limit(self, spec: Spec) -> str:  # noqa: ARG002 - the same for every scope
        """See `Validator`."""
        return "every value beside its label, every date, every number given or worked out"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        view = View(draft)
        for question in draft.plan.questions:
            for fact in question.facts:
                for message in unshown(view, fact):
                    yield Finding(
                        self.name,
                        f"question {question.question_id}, fact {fact.fact_id}",
                        message,
                        "render the evidence again, or let the fact rest on other values",
                    )


def unshown(view: View, fact: KeyFact) -> list[str]:
    """What of a fact its evidence does not show."""
    if not fact.evidence or not fact.values:
        return ["it rests on no value of any episode"]
    found = []
    for value in fact.values:
        known = places(view, fact, value)
        if not any(shown(view, place) for place in known):
            labels = " or ".join(sorted({place.reading.label for place in known})) or "its label"
            found.append(f"no evidence episode's text gives {value} beside {labels}")
    signals = view.signals()
    texts = [view.text(signals[number]) for number in fact.evidence if number in signals]
    first = fact.text.split("|")[0]
    found += [f"no evidence episode's text gives the date {date}" for date in dates_in(first)
              if not any(date in text for text in texts)]  # fmt: skip
    found += [f"{number} neither stands in the evidence nor follows from it"
              for number in underived(view, fact)]  # fmt: skip
    return found


class StuffedBand:
    """Checks what an answer is worth that gets all documents as one context.

    Not a `Validator`: it needs an answerer, and so a model, be it a built-in one.
    """

    name = "stuffed-band"
    reason = "a question that a heap of all documents answers needs no memory"

    def limit(self, spec: Spec) -> str:
        """The bands of the question types, as provenance names them."""
        bands = {**BANDS, **spec.thresholds.stuffed}
        return "; ".join(f"{kind} {bands[kind][0]:g} to {bands[kind][1]:g}" for kind in bands)

    async def check(self, draft: Draft, stuffed: Stuffed) -> tuple[Finding, ...]:
        """Every type whose mean fact recall is outside its band."""
        bands = {**BANDS, **draft.plan.spec.thresholds.stuffed}
        found = []
        for kind, recall in (await recalls(draft, stuffed)).items():
            least, most = bands[kind]
            if not least <= recall <= most:
                message = f"a context-stuffed answer finds {recall:.2f} of its facts on average, "
                message += f"expected {least:g} to {most:g}"
                fix = "ask for more of what lies between episodes, or set thresholds.stuffed"
                found.append(Finding(self.name, f"questions of type {kind}", message, fix))
        return tuple(found)


async def recalls(draft: Draft, stuffed: Stuffed) -> dict[QuestionType, float]:
    """Mean fact recall of context-stuffed answers, by question type."""
    view, found = View(draft), defaultdict[QuestionType, list[float]](list)
    for question in draft.plan.questions:
        texts = tuple(view.text(episode) for episode in reversed(view.until(question)))
        reading = read(await stuffed(question, texts), question.prompt)
        scores = [fact_score(reading, fact.text) for fact in question.facts]
        found[question.type].append(fmean(scores) if scores else 0.0)
    return {kind: fmean(values) for kind, values in found.items()}
