"""Whose words they are: of an answer that tells what several said, what the question is about."""

import re

from memrig.grading.typed.numbers import find_numbers
from memrig.grading.typed.words import STOP, fold, listed, words

_NAME = r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*"
_SAYS = (
    r"(?:(?:has|had|have|is|was|also|only|clearly)\s+)*(?:says?|said|claim\w*|report\w*|estimat\w*"
    r"|nam(?:es|ed)|blam(?:es|ed)|puts?|gives?|gave|given|stat(?:es|ed)|thinks?|thought|believ\w*"
    r"|tells?|told|insist\w*|argu\w*|suggest\w*|mention\w*|sure|convinced|spoke|speaks)\b"
)
#: The source that a question is about: "What did X say …", "… according to X?"
_ASKED = re.compile(
    rf"\b(?:did|does|has)\s+(?P<one>{_NAME})\s+(?i:{_SAYS}|say|give|claim|name|blame|put)"
    rf"|\b(?:[Aa]ccording to|[Ii]n the (?:words|view) of)\s+(?P<two>{_NAME})"
)
_WHO = re.compile(
    rf"^\W*(?:who|which (?:source|person|of (?:them|these))|according to whom)\b.*?{_SAYS}"
    r"|^\W*according to whom\b",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"(?<=[.!?])\s+|\n+|;\s*"
    r"|,?\s+(?:while|whereas|but|and|although)\s+(?=[A-Z])|,\s+(?=[A-Z][\w'’-]+\s+[A-Z\d])"
)
_SPEAKER = re.compile(
    r"^\W*(?i:(?:however|but|and|yet|meanwhile|in contrast|by contrast)\W+)?"
    rf"(?P<by>(?:[Aa]ccording to|[Ii]n the (?:words|view) of)\s+)?(?P<who>{_NAME})"
    rf"(?P<says>\W+(?:{_SAYS})|\s*:)?"
)
#: Capitals of a sentence's beginning.
_NO_NAME = frozenset(
    listed(
        "the it he she they this that these those there however but and in on at a an then note i"
        " we based so yes no both all each only as for from their his her its"
    )
)


def attributed(answer: str, question: str) -> str:
    """The part of an answer that is about the source, or the claim, that a question asks for.

    "According to Abro, x; Garrow blamed y" answers what Abro said by x alone. All of an answer
    where the question is for nobody's words, or the answer does not tell them apart.

    Args:
        answer: as it was given.
        question: what was asked.
    """
    asked = _ASKED.search(question)
    if asked is None and _WHO.match(question) is None:
        return answer
    parts = _parts(answer)
    if len(parts) < 2:
        return answer
    kept = _of_source(parts, asked["one"] or asked["two"]) if asked else _of_claim(parts, question)
    return ". ".join(kept) if kept else answer


def _parts(answer: str) -> list[str]:
    """An answer cut where another may begin to speak; a mere name goes with what follows."""
    parts: list[str] = []
    held = ""
    for cut in _CUT.split(answer):
        part = f"{held} and {cut}" if held else cut
        bare = re.sub(r"\b[A-Z][\w'’-]*", " ", part)
        held = part if part.strip() and not set(words(fold(bare))) - STOP else ""
        if not held and part.strip():
            parts.append(part.strip(" .;"))
    return [*parts, held] if held else parts


def _of_source(parts: list[str], source: str) -> list[str]:
    """What is not said by anybody else; nothing where the source itself is not named."""
    own = words(fold(source))[-1]
    kept, spoken = [], False
    for part in parts:
        found = _SPEAKER.match(part)
        named = found is not None and not set(words(fold(found["who"]))) <= _NO_NAME
        speaks = bool(named and found and (found["by"] or found["says"] or spoken))
        spoken = spoken or speaks
        if not speaks or own in words(fold(part)):
            kept.append(part)
    return kept if any(own in words(fold(part)) for part in kept) else []


def _of_claim(parts: list[str], question: str) -> list[str]:
    """What holds the figure that somebody is asked for, or none at all."""
    asked = {quantity.value for quantity in find_numbers(fold(question))}
    told = [{quantity.value for quantity in find_numbers(fold(part))} for part in parts]
    if not any(values & asked for values in told):
        return []
    return [part for part, values in zip(parts, told, strict=True) if values & asked or not values]
