"""A question as far as it decides how its answers are to be read."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memrig.grading.typed.succession import BEFORE, FORMER
from memrig.grading.typed.words import content, fold

_SENTENCE_END = re.compile(r"(?<=[.!?])(?=[\"')\]]*(?:\s|$))|\n+|(?<=\s)\|(?=\s)")


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a folded text lie, but for those without a word."""
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(cuts) if text[start:end].strip(" \n.;!?")]


@dataclass(frozen=True, slots=True)
class Asking:
    """What of a question decides how its answers are to be read.

    `acts`: stems of verbs that deny nothing in the answer, because they are what is asked for.
    `lacking`: things that are named by what they lack, "payments without delivery note".
    """

    text: str
    denies: bool
    past: bool
    of_former: bool
    stems: frozenset[str]
    sentences: tuple[str, ...] = ()
    acts: frozenset[str] = frozenset()
    lacking: tuple[str, ...] = ()


_DENYING_QUESTION = re.compile(
    r"\b(not|never|nobody|no one|nothing|none|avoid\w*|left out|leave out|leave off|left off"
    r"|out of the question|away from|far away|refus\w+|without|forbid\w*|better not|dislik\w+)\b"
)
_PAST_QUESTION = re.compile(r"\b(did|was|were|had)\b")
_OF_NOW = re.compile(
    r"\b(now|nowadays|today|these days|at present|at the moment|presently|currently|current|present"
    r"|still|any ?more|any longer|latest|as of)\b"
)
_OF_FORMER = re.compile(rf"\b(?:{FORMER}|{BEFORE})\b")


_LACKING = re.compile(r"\b[a-z][\w-]+ without (?:(?:an?|the|any) )?[a-z][\w-]+")


@lru_cache(maxsize=1024)
def ask(question: str) -> Asking:
    """Reads a question."""
    text = fold(question)
    return Asking(
        text=text,
        denies=_DENYING_QUESTION.search(text) is not None,
        past=_PAST_QUESTION.search(text) is not None and _OF_NOW.search(text) is None,
        of_former=_OF_FORMER.search(text) is not None and _OF_NOW.search(text) is None,
        lacking=tuple(_LACKING.findall(text)),
        stems=frozenset(content(text)),
        sentences=tuple(text[start:end] for start, end in sentences_of(text)),
    )
