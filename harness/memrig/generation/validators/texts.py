"""Validators that look at each document by itself: its words, its length, its distance to facts."""

import re
from collections.abc import Iterator
from functools import lru_cache

from memrig.generation.model import Draft, Finding, Sheet
from memrig.generation.phrases import FILLER
from memrig.generation.spec import Spec
from memrig.generation.textcheck import forbidden_in, word_count
from memrig.generation.validators.base import View, episode_place
from memrig.grading.typed.words import content, fold


class ForbiddenWords:
    """Implements `Validator`."""

    name = "forbidden-words"
    reason = "a word for the finding lets one episode tell what only several should show"

    def limit(self, spec: Spec) -> str:
        """See `Validator`."""
        return f"none of {len(spec.forbidden)} words in any form"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        view = View(draft)
        for episode in draft.plan.episodes:
            if used := forbidden_in(view.text(episode), draft.plan.spec.forbidden):
                yield Finding(
                    self.name,
                    episode_place(episode),
                    f"its text uses {', '.join(map(repr, used))}, expected none of `forbidden`",
                    "take the word out of labels and events, or out of `forbidden`",
                )


class LengthBand:
    """Implements `Validator`."""

    name = "length-band"
    reason = "a document that is much longer or shorter than the others is found by its length"

    def limit(self, spec: Spec) -> str:
        """See `Validator`."""
        least, most = spec.document.words
        return f"{least} to {most} words"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        view, (least, most) = View(draft), draft.plan.spec.document.words
        for episode in draft.plan.episodes:
            if not least <= (count := word_count(view.text(episode))) <= most:
                yield Finding(
                    self.name,
                    episode_place(episode),
                    f"its text has {count} words, expected {least} to {most}",
                    "render it again, or change document.words",
                )


#: The words in which facts of any story are put; they tell nothing of this one.
_FRAME = (
    "rose fell was then change percent highest lowest value back after returned stayed between "
    "first went above below left earlier range before did moved days lay same day changed most "
    "stood limit by from had its on exactly"
)


class Dissimilar:
    """Implements `Validator`.

    The words of a fact that tell of its story are held against each distractor: not its numbers,
    its units, the words in which any fact is put, and those of the house style, which documents of
    several kinds use beyond their sheets. One word of several may be shared by chance.
    """

    name = "dissimilar"
    reason = "a distractor that speaks of the story's things is no distractor but evidence"

    def limit(self, spec: Spec) -> str:
        """See `Validator`."""
        most = spec.thresholds.distractor_overlap
        return f"at most {most:g} of a fact's telling words, or one of several; no shared label"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        yield from self._labels(draft.plan.spec)
        most = draft.plan.spec.thresholds.distractor_overlap
        facts = _telling(draft)
        view = View(draft)
        for episode in draft.plan.episodes:
            if episode.kind != "distractor":
                continue
            said = _words(view.text(episode))
            shares = {fact: _share(of, said) for fact, of in facts.items()}
            closest = max(shares, key=lambda fact: shares[fact], default="")
            if closest and shares[closest] > most:
                shared = ", ".join(sorted(facts[closest] & said))
                yield Finding(
                    self.name,
                    episode_place(episode),
                    f"its text shares {shares[closest]:.2f} of the words of the fact "
                    f"{closest.strip()!r} ({shared}), expected at most {most:g}",
                    "give the theme other labels and events",
                )

    def _labels(self, spec: Spec) -> Iterator[Finding]:
        own = {signal.label.casefold() for signal in spec.signals}
        for theme in spec.distractors.themes:
            for signal in theme.signals:
                if signal.label.casefold() in own:
                    yield Finding(
                        self.name,
                        f"theme {theme.name}, signal {signal.name}",
                        f"its label {signal.label!r} is one of the story's, expected another",
                        "give the theme's series a label of its own",
                    )


def _telling(draft: Draft) -> dict[str, frozenset[str]]:
    """By wording of a fact, the words that tell what it is about."""
    units = (signal.unit for signal in draft.plan.spec.signals)
    plain = _words(" ".join([_FRAME, *units])) | _house(draft)
    texts = (fact.text for question in draft.plan.questions for fact in question.facts)
    parts = (part for text in texts for part in text.split("|"))
    return {part: told for part in parts if (told := _words(part) - plain)}


def _house(draft: Draft) -> frozenset[str]:
    """Words of the house style, whoever drew them.

    Those of our templates, and those that documents of the story and of a theme, or of two themes,
    add to their sheets.
    """
    users: dict[str, set[str]] = {}
    for episode in draft.plan.episodes:
        kind = episode.phase if episode.kind == "distractor" else ""
        added = _words(draft.texts[episode.episode_id]) - _words(_told(episode.sheet))
        for word in added:
            users.setdefault(word, set()).add(kind)
    return _templates() | {word for word, kinds in users.items() if len(kinds) > 1}


@lru_cache(maxsize=1)
def _templates() -> frozenset[str]:
    wordings = (re.sub(r"[{|}]", " ", template) for template in FILLER)
    return frozenset().union(*map(_words, wordings))


def _told(sheet: Sheet) -> str:
    """The words of a sheet."""
    readings = (reading for section in sheet.sections for reading in section.readings)
    labels = (f"{reading.label} {reading.unit}" for reading in readings)
    titles = (section.title for section in sheet.sections)
    return "\n".join([sheet.heading, *titles, *labels, *sheet.events])


def _share(of: frozenset[str], said: frozenset[str]) -> float:
    shared = of & said
    return len(shared) / len(of) if len(shared) > 1 or len(of) == 1 else 0.0


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning, without numbers."""
    return frozenset(
        word for word in content(fold(text)) if not word[0].isdigit() and len(word) > 2
    )
