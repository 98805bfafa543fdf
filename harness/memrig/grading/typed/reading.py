"""An answer as what it asserts: clauses, each with its polarity and whether it is of the past.

Scoring §2: "not", "never", "no longer", "it is false that", denied verbs, "now" against "before".
Rules over words, no model: the same text always reads the same. A value counts as asserted where it
stands in a clause that is neither denied (an odd number of denials), nor marked as former, nor a
mere condition. A question's own denials ("which drug must never be prescribed?") deny nothing
when an answer takes them up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache

from memrig.grading.typed.asking import Asking, ask, sentences_of
from memrig.grading.typed.clauses import Clause, clauses_of, denies_all
from memrig.grading.typed.denials import INNER
from memrig.grading.typed.hearsay import marked
from memrig.grading.typed.words import content, fold, words


class Status(Enum):
    """How a place of an answer is meant."""

    ASSERTED = "asserted"
    FORMER = "former"
    DENIED = "denied"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, read. `text` is folded; clauses lie over it in order, without overlap."""

    text: str
    asking: Asking
    clauses: tuple[Clause, ...]
    sentences: tuple[tuple[int, int], ...] = field(default=())

    def clause_at(self, start: int) -> Clause | None:
        """The clause over a place; None in what asserts nothing, such as a question."""
        for clause in self.clauses:
            if clause.start <= start < clause.end:
                return clause
        return None

    def status(self, start: int, end: int) -> Status:
        """How the value at a place is meant."""
        clause = self.clause_at(start)
        if clause is None or clause.open or clause.hearsay:
            return Status.OPEN
        denials = clause.outer
        if not self.asking.denies or self._identity(clause, start, end):
            denials += clause.inner
        if denials % 2:
            return Status.DENIED
        if clause.former or (clause.past and not clause.current and self._now_is_said()):
            return Status.FORMER
        if clause.current and self.asking.past and self._then_is_said():
            return Status.OPEN
        return Status.ASSERTED

    def _identity(self, clause: Clause, start: int, end: int) -> bool:
        """Whether a denial is of the value being the answer: "it is not X", "X is not it"."""
        before, after = self.text[clause.start : start], self.text[end : clause.end]
        return bool(_NOT_IT.search(before) or _IT_IS_NOT.match(after))

    def _now_is_said(self) -> bool:
        return not self.asking.past and any(
            clause.current and not clause.denied for clause in self.clauses
        )

    def _then_is_said(self) -> bool:
        """Whether an answer to a question of the past tells what was, beside what is now."""
        return any(
            clause.past and not (clause.current or clause.denied or clause.open)
            for clause in self.clauses
        )


_NOT_IT = re.compile(
    r"(?:^\W*(?:not|neither)|\b(?:is|are|was|were|be|been)\W*(?:not|never|no longer|neither))\W+"
    r"(?!(?:true|the case|correct)\b)"
    r"(?:(?:a|an|the|his|her|their|really|actually|called|in|on|at|by|about|any|"
    r"kind of|it is|it was|\"|')\W*)*"
    r"(?:(?:[\w'-]+\s+){0,3}[\w'-]+\s*(?:,|,?\s\band\b|,?\s\bor\b)\s*)*"
    r"(?:(?![a-z]+ing\b)[a-z'-]+\s+)?$"
)
_IT_IS_NOT = re.compile(
    r"\W*(?:(?:is|are|was|were|has|have)\W+(?:not|never|no longer)\b|(?:no longer|not|never)\W*$"
    r"|(?:need|should|must|may|can|does|do|did|would|will|might) not (?:be |have to be )?(?:left|le"
    r"ave|avoid|kept|keep|away|refus|out of the question|the\b|it\b|what\b))"
)

# ---------------------------------------------------------------------------------- sentences

_INTERROGATIVE = re.compile(
    r"\W*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could"
    r"|will|would|should|has|have|had|in what|on what|on which|in which|at what|from wh\w+|by what"
    r"|for how|of what|to wh\w+|until wh\w+|within what)\b"
)


def _echoes(text: str, asking: Asking) -> bool:
    """Whether a sentence is one of the question over again, or a question of its own."""
    said = words(text)
    if text.rstrip(" \"')").endswith("?") and _INTERROGATIVE.match(text) is not None:
        return True
    return any(_repeats(said, words(part)) for part in (asking.text, *asking.sentences))


def _repeats(said: list[str], asked: list[str]) -> bool:
    """Whether the one is the other but for a few words about it."""
    if min(len(said), len(asked)) < 3:
        return False
    if _within(said, asked):
        return len(said) >= 0.7 * len(asked)
    return _within(asked, said) and len(said) <= len(asked) + 4 and len(asked) >= 6


def _within(part: list[str], whole: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "


@lru_cache(maxsize=4096)
def read(
    answer: str,
    question: str = "",
    names: tuple[str, ...] = (),
    acts: frozenset[str] = frozenset(),
) -> Reading:
    """Reads an answer to a question.

    Args:
        answer: as it was given.
        question: what was asked.
        names: what may stand in it word for word, so that a denial within it denies nothing:
            "The Man Who Never Was".
        acts: stems of verbs that are to deny nothing: who looks for cancelled plans reads
            "cancelled" as an act like any other.
    """
    said, asking = fold(answer), replace(ask(question), acts=acts)
    text = _without_titles(said, (*names, *asking.lacking))
    clauses: list[Clause] = []
    kept: list[tuple[int, int]] = []
    sentences = sentences_of(text)
    for number, (start, end) in enumerate(sentences):
        sentence = text[start:end]
        if clauses and _takes_back(sentence, last=number == len(sentences) - 1):
            clauses = [_denied(clause) for clause in clauses]
        elif denies_all(sentence) and clauses:
            clauses = _deny_last(clauses)
        elif not _echoes(sentence, asking):
            clauses += clauses_of(text, start, end, number, asking)
            kept.append((start, end))
    return Reading(
        said, asking, tuple(marked(text, _wrapped(text, clauses, asking), asking)), tuple(kept)
    )


_FALSE = r"(?:false|wrong|untrue|incorrect|not (?:true|so|right|correct|the case|accurate))"
_NONE_OF_IT = re.compile(
    r"\W*(?:none of (?:this|that|it|these|those|the above)\W+(?:\w+\W+)?(?:is|are|was|were)\W+"
    r"(?:true|so|right|correct|the case|accurate)"
    rf"|(?:all (?:of )?(?:this|that|these|it)|(?:this|that|it) (?:is|was) all|everything above"
    rf"|the above|this (?:whole )?answer|these (?:claims|statements))\W+(?:(?:is|are|was|were)\W+)?"
    rf"{_FALSE})\W*$"
)
_RETRACTED = re.compile(rf"\W*(?:this|that|it) (?:is|was) {_FALSE}\W*$")
_WRAPPER = re.compile(
    rf"\W*(?:it is|it was|the following is)\W+(?:simply |just )?{_FALSE}\b\W*(?:that\b|:|$)"
)
_AFRESH = re.compile(
    r"\W*(?:instead|in fact|actually|rather|in reality|but|however|the (?:real|actual|true)|what"
    r"|yes|no|it is|it was)\b"
)


def _takes_back(sentence: str, *, last: bool) -> bool:
    """Whether a sentence takes back all that was said before it.

    So does "That is not true" as the last word of an answer.
    """
    return bool(_NONE_OF_IT.match(sentence) or (last and _RETRACTED.match(sentence)))


def _wrapped(text: str, clauses: list[Clause], asking: Asking) -> Iterator[Clause]:
    """ "It is false that A. B." denies B as well, up to a sentence that starts afresh.

    Unless A is what the question supposes: then that alone is denied, and B is the answer.
    """
    if not clauses or not _WRAPPER.match(text):
        yield from clauses
        return
    first = clauses[0].sentence
    opening = [c for c in clauses if c.sentence == first]
    told = content(text[_end_of_wrapper(text) : opening[-1].end])
    wraps = sum(word in asking.stems for word in told) <= len(told) / 2
    for clause in clauses:
        if clause.sentence != first:
            wraps = wraps and not _AFRESH.match(text[clause.start : clause.end])
        reached = wraps and clause.sentence != first and not clause.denied
        yield _denied(clause) if reached else clause


def _end_of_wrapper(text: str) -> int:
    found = _WRAPPER.match(text)
    return found.end() if found else 0


def _denied(clause: Clause) -> Clause:
    return replace(clause, outer=clause.outer + 1)


def _without_titles(text: str, names: tuple[str, ...]) -> str:
    """The text with the denials inside of names blanked out, every letter in its place."""
    for name in {fold(name) for name in names}:
        if INNER.search(name):
            blank = INNER.sub(lambda found: "x" * len(found.group()), name)
            text = text.replace(name, blank)
    return text


def _deny_last(clauses: list[Clause]) -> list[Clause]:
    last = clauses[-1].sentence
    return [_denied(clause) if clause.sentence == last else clause for clause in clauses]
