"""From a sentence to a short answer, where that is reliably possible."""

import re

from memrig.gateway.local.dates import Moment, mentioned
from memrig.gateway.local.kinds import NUMBER, Kind, asked, shape_of
from memrig.gateway.local.scoring import Support
from memrig.gateway.local.text import STOP, content_stems, stem, words

_LONGEST = 60  #: words of an answer
_REACH = 4  #: words between a number and what it counts
_COUNTED = re.compile(
    r"\bhow many (?:\w+ )??(.+?)\s+(?:do|does|did|have|has|had|are|is|was|were|can|could|will|"
    r"would|should|there|left|in|on|at|of|for|from)\b"
)
_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_SPANS = {
    Kind.PERCENT: re.compile(r"\d+(?:\.\d+)?\s?(?:%|percent)", re.IGNORECASE),
    Kind.MONEY: re.compile(
        r"[$€£]\s?\d[\d,]*(?:\.\d+)?(?:\s?[kKmM]\b)?|\b\d[\d,]* (?:dollars|euros|pounds)\b"
    ),
    Kind.TIME: re.compile(
        r"\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b\.?|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b", re.IGNORECASE
    ),
    Kind.DURATION: shape_of(Kind.DURATION),
}
_DENIES = re.compile(
    r"\b(?:not|never|no longer|no|none|nothing)\b|n't\b|\b(?:stopped|quit|gave up)\b", re.IGNORECASE
)
_EXACT = re.compile(r"\b(?:date|day|when)\b")


def shorten(question: str, kind: Kind, support: Support) -> str:
    """The answer that a sentence gives to a question: a span of it, or the sentence."""
    text = support.line.text
    if kind is Kind.DATE:
        return _moment(question, support) or clip(text, question)
    if kind is Kind.COUNT:
        return _count(question, text) or clip(text, question)
    if kind is Kind.POLAR:
        return f"{'No' if _denied(question, text) else 'Yes'}: {clip(text, question)}"
    spans = _SPANS.get(kind)
    found = list(dict.fromkeys(spans.findall(text))) if spans else []
    return found[0] if len(found) == 1 else clip(text, question)


def clip(text: str, question: str, longest: int = _LONGEST) -> str:
    """At most so many words of a text: those around the question's own words."""
    parts = text.split()
    if len(parts) <= longest:
        return " ".join(parts)
    wanted = set(content_stems(question))
    hits = [n for n, part in enumerate(parts) if wanted.intersection(map(stem, words(part)))]
    first = max(0, min(hits[0] - 5, len(parts) - longest)) if hits else 0
    return " ".join(parts[first : first + longest])


def _moment(question: str, support: Support) -> str:
    """The day that the sentence names, else the day on which it was told."""
    found = mentioned(support.line.text, support.day)
    moment = found or (Moment(support.day) if support.day else None)
    if not moment:
        return ""
    text = asked(question)
    if re.search(r"\b(?:what|which) year\b", text):
        return str(Moment(moment.day, "year"))
    if re.search(r"\b(?:what|which) month\b", text):
        return str(Moment(moment.day, "month"))
    return str(moment)


def _count(question: str, text: str) -> str:
    """The one number that stands before what is counted, with the words up to it."""
    found = _COUNTED.search(asked(question) + " of")
    counted = {stem(word) for word in words(found[1]) if word not in STOP} if found else set()
    spans = {}
    for number in _NUMBER.finditer(text):
        following = text[number.end() :].split()[:_REACH]
        for n, word in enumerate(following):
            if counted.intersection(map(stem, words(word))):
                told = " ".join([number[0], *following[: n + 1]]).rstrip(".,;:!?)\"'")
                spans[number[0].lower()] = told
                break
    return next(iter(spans.values())) if len(spans) == 1 else ""


def _denied(question: str, text: str) -> bool:
    return bool(_DENIES.search(text)) != bool(_DENIES.search(asked(question)))
