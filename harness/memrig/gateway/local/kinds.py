"""What kind of answer a question expects, and what such an answer looks like."""

import re
from enum import StrEnum

from memrig.gateway.local.dates import NUMBER_WORDS
from memrig.gateway.local.text import sentences

_UNIT = "second|minute|hour|day|night|week|month|year|decade"
_SMALL = "|".join(NUMBER_WORDS)
_TENS = "thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen"
NUMBER = rf"(?:\d[\d,]*(?:\.\d+)?|\b(?:{_SMALL}|{_TENS})\b)"
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|march|april|may \\d|june|july|august|sept(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)


class Kind(StrEnum):
    """What is asked for."""

    ELAPSED = "elapsed"
    ORDER = "order"
    PERCENT = "percent"
    MONEY = "money"
    DURATION = "duration"
    COUNT = "count"
    TIME = "time"
    DATE = "date"
    PERSON = "person"
    PLACE = "place"
    POLAR = "polar"
    THING = "thing"


#: Tried in this order.
_ASKED: dict[Kind, str] = {
    Kind.ELAPSED: r"\bhow (?:many (?:days|weeks|months|years)|long)\b.*"
    r"\b(?:ago|passed|elapsed|before|after|between)\b",
    Kind.ORDER: r"\b(?:first|earlier|last|later|most recently)\b.*[,:-]\s*.+\bor\b.+",
    Kind.PERCENT: r"\bpercent(?:age)?\b",
    Kind.MONEY: r"\bhow much\b(?!.*\b(?:time|weight|weigh|older|taller)\b)"
    r"|\bwhat (?:was|is|were|are) the (?:total )?(?:price|cost|amount|budget)\b",
    Kind.DURATION: rf"\bhow long\b|\bhow many (?:{_UNIT})s?\b|\bhow much time\b|\btotal time\b",
    Kind.COUNT: r"\bhow many\b|\b(?:what|which) (?:is the |was the )?(?:total )?number\b",
    Kind.TIME: r"\b(?:what|which) time\b|\bat what hour\b",
    Kind.DATE: r"\bwhen\b|\b(?:what|which)(?: \w+)? (?:date|day|month|year)\b",
    Kind.PERSON: r"\bwho(?:m|se)?\b",
    Kind.PLACE: r"\bwhere\b",
    Kind.POLAR: r"^(?:and |so |but )?(?:do|does|did|is|are|was|were|have|has|had|will|"
    r"(?:can|could|should|would) (?!you\b))\b",
}
_SHAPES: dict[Kind, re.Pattern[str]] = {
    Kind.PERCENT: re.compile(r"\d(?:\.\d+)?\s?(?:%|percent)", re.IGNORECASE),
    Kind.MONEY: re.compile(r"[$€£]\s?\d|\b\d[\d,]* (?:dollars|euros|pounds)\b", re.IGNORECASE),
    Kind.DURATION: re.compile(
        rf"(?:{NUMBER}|\b(?:an?|half an|several|few))(?:-|\s+)(?:and a half )?(?:{_UNIT})s?\b",
        re.IGNORECASE,
    ),
    Kind.COUNT: re.compile(NUMBER, re.IGNORECASE),
    Kind.TIME: re.compile(
        r"\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]\.?m\b|\bnoon\b|\bmidnight\b", re.IGNORECASE
    ),
    Kind.DATE: re.compile(
        rf"\b(?:{_MONTH})\b|\b\d{{1,2}}/\d{{1,2}}\b|\b(?:19|20)\d\d\b|\byesterday\b|\bago\b|"
        r"\b(?:last|next|this) (?:week|month|year|weekend|\w+day)\b|\btoday\b|\b\w{3,6}day\b",
        re.IGNORECASE,
    ),
    Kind.PERSON: re.compile(
        r"(?<![.!?\n] )(?<!^)\b[A-Z][a-z]+\b|\b(?:mom|mother|dad|father|sister|brother|wife|"
        r"husband|partner|friends?|cousin|aunt|uncle|boss|colleagues?|parents|son|daughter|"
        r"grandm\w+|grandf\w+|neighbou?r|roommate|therapist|doctor)\b"
    ),
    Kind.PLACE: re.compile(
        r"\b(?:in|at|from|to|near|under|on|inside|behind)\s+(?:the |my |a |an |our |this )?\w"
    ),
}


def asked(question: str) -> str:
    """The part of a question that asks: its last sentence with a question mark, lower case."""
    parts = [part for part in sentences(question) if part.endswith("?")] or [question]
    return " ".join(parts[-1].lower().split())


def kind_of(question: str) -> Kind:
    """What a question asks for; THING where nothing tells."""
    text = asked(question)
    for kind, pattern in _ASKED.items():
        if re.search(pattern, text):
            return kind
    return Kind.THING


def fits(kind: Kind, sentence: str) -> bool | None:
    """Whether a sentence holds something of the kind; None for kinds without a shape."""
    shape = _SHAPES.get(kind)
    return bool(shape.search(sentence)) if shape else None


def shape_of(kind: Kind) -> re.Pattern[str] | None:
    """What an answer of the kind looks like in a sentence."""
    return _SHAPES.get(kind)
