"""Texts made comparable: one spelling of letters, contractions and numbers; words and stems."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from memrig.grading.stemmer import porter

_WORD = re.compile(r"[a-z]+\d[a-z0-9]*|\d+(?:[.,:]\d+)*|[a-z]+(?:'[a-z]+)*")


def listed(text: str) -> list[str]:
    """A word list, written as a text."""
    return text.split()


_UNITS = {
    word: number
    for number, word in enumerate(
        listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMERAL = "|".join([*_UNITS, *_TENS])
_SCALE = "|".join(_SCALES)
_RUN = re.compile(
    rf"(?<!\d\s)\b(?:(?:an?\s+)?(?:{_SCALE})|{_NUMERAL})"
    rf"(?:[\s-]+(?:and\s+)?(?:{_NUMERAL}|{_SCALE}))*\b(?:\s+and\s+a\s+half\b(?:\s+(?:{_SCALE})\b)?)?"
)
_FIXED = (
    (re.compile(r"\bhalf\s+a\s+dozen\b"), "6"),
    (re.compile(r"\b(?:a|one)\s+dozen\b"), "12"),
    (re.compile(r"\btwo\s+dozen\b"), "24"),
    (re.compile(r"\btwice\b"), "2 times"),
    (re.compile(r"\bthrice\b"), "3 times"),
    (re.compile(r"\ba\s+couple\s+of\b"), "2"),
)

#: Runs of them would make the patterns after this slow, and mean nothing.
_SPACES, _LINES = re.compile(r"[^\S\n]+"), re.compile(r" ?\n[ \n]*")

_SPELLING = (
    (re.compile(r"[\u2018\u2019\u02bc`\u00b4]"), "'"),
    (re.compile("[\u201c\u201d\u00ab\u00bb]"), '"'),
    (re.compile("\u2014"), " - "),
    (re.compile("[\u2010-\u2013\u2212]"), "-"),
    (re.compile(r"\u2044"), "/"),
    (re.compile(r"\*+|__+|^#+\s*", re.MULTILINE), ""),
    (re.compile(r"(?:(?<=[:,;])|(?<=\band))\s+(?:\(\d\d?\)|\d\d?[.)])\s+(?=\D)"), " "),
    (re.compile(r"^\s*(?:[-\u2022]|\d{1,2}[.)])\s+(?=\S)", re.MULTILINE), "\n"),
)
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bain't\b"), "is not"),
    (re.compile(r"\b([a-z]+)n't\b"), r"\1 not"),
    (re.compile(r"\b(it|that|he|she|there|what|who|this|here)'s\b"), r"\1 is"),
    (re.compile(r"\b(we|you|they)'re\b"), r"\1 are"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"\b(i|we|you|they)'ve\b"), r"\1 have"),
    (re.compile(r"\b(i|we|you|they|he|she|it)'ll\b"), r"\1 will"),
    (re.compile(r"\b(i|we|you|they|he|she)'d\b"), r"\1 would"),
    (re.compile(r"\b(dr|mr|mrs|prof|st|vs|approx|ca|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec"
                r"|mon|tues?|thurs?|fri)\.(?=\s)"), r"\1"),
    # Not the milliseconds at a sentence's end.
    (re.compile(r"(?<!\d)(?<!\d\s)\bms\.(?=\s)"), "ms"),
    (re.compile(r"\b([ap])\.\s?m\b\.?"), r"\1m"),
    (re.compile(r"\b(e)\.g\.|\b(i)\.e\."), r"namely "),
    (re.compile(r"\bv(?=\d+\.\d)"), ""),
)  # fmt: skip

#: Words that say nothing of their own.
STOP = frozenset(
    listed("""
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing down during each for from further had has have having he her
    here hers herself him himself his how i if in into is it its itself just may me might more most
    must my myself nor of off on once one ones only or other our ours out over s same shall she
    should so some such than that the their theirs them themselves then there these they this those
    through to too under until up upon very was we were what when where which while who whom whose
    why will with would you your yours
    """)
)
#: Denial is judged by clause, never by counting these as words of a fact.
NEGATIVES = frozenset(listed("no not never neither nor none nobody nothing without cannot"))


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """One spelling: no accents or capitals, plain quotes, contractions and number words undone."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    text = _LINES.sub("\n", _SPACES.sub(" ", text))
    for pattern, plain in _SPELLING:
        text = pattern.sub(plain, text)
    text = text.lower()
    for pattern, plain in _CONTRACTIONS:
        text = pattern.sub(plain, text)
    return digits(text)


def digits(text: str) -> str:
    """Number words as digits. "one" alone stays: more often than not it is a pronoun."""
    for pattern, plain in _FIXED:
        text = pattern.sub(plain, text)
    return _RUN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    phrase = found.group()
    body, half, scale = phrase.partition(" and a half")
    if body == "one":
        return phrase if not half else "1.5"
    numbers = list(_values(re.findall(r"[a-z]+", body)))
    if half and numbers:
        numbers[-1] = (numbers[-1] + 0.5) * _SCALES.get(scale.strip(), 1)
    return " ".join(f"{number:.12g}" if number < 1e12 else str(number) for number in numbers)


def _values(run: list[str]) -> Iterator[float]:
    """The numbers that a run of number words spells, one after the other."""
    total, part, last = 0.0, 0.0, ""
    for word in run:
        if word in ("a", "an", "and"):
            continue
        if word in _SCALES:
            scale = _SCALES[word]
            if scale == 100:
                part = (part or 1) * 100
            else:
                total, part = total + (part or 1) * scale, 0
        else:
            value = _UNITS.get(word, _TENS.get(word, 0))
            if last and not _goes_on(last, word):
                yield total + part
                total, part = 0.0, 0.0
            part += value
        last = word
    yield total + part


def _goes_on(last: str, word: str) -> bool:
    """Whether a numeral belongs to the number before it: "twenty one", "hundred and five"."""
    return last in _SCALES or (last in _TENS and 0 < _UNITS.get(word, 0) < 10)


def tokens(folded: str) -> list[tuple[str, int, int]]:
    """The words of a folded text with their places."""
    return [(found.group(), found.start(), found.end()) for found in _WORD.finditer(folded)]


def words(folded: str) -> list[str]:
    """The words of a folded text."""
    return _WORD.findall(folded)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The Porter stem, without a possessive's ending; numbers as they are."""
    if word[0].isdigit():
        return word
    return porter().stem(word.removesuffix("'s").removesuffix("'"))


def content(folded: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in words(folded) if word not in STOP and word not in NEGATIVES]


def singular(word: str) -> str:
    """A name's word without possessive and plural ending: "Mondays", "Solveig's"."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
