"""`local/extractive`: picks the sentence that supports an answer best, and trims it.

It is no language model and writes nothing of its own but "Yes", "No", a date, a difference of two
dates, and that it does not know. The same conversation gives the same answer everywhere.
"""

import re
from dataclasses import dataclass

from memrig.gateway.local.conversation import (
    Asked,
    Conversation,
    abstention,
    json_keys,
    read,
    search_tool,
)
from memrig.gateway.local.dates import TIME_NAMES, stamp_day
from memrig.gateway.local.kinds import Kind, kind_of
from memrig.gateway.local.scoring import Support, rank
from memrig.gateway.local.text import stem, words
from memrig.gateway.local.timing import elapsed, first_of
from memrig.gateway.local.trimming import shorten
from memrig.model.canonical import canonical_json

UNKNOWN = "I don't know: the memories do not say."
#: Below this share of the question's weight, a match is taken for chance.
_ENOUGH = 0.3
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b(?!I\b)[A-Z][\w'’]*[a-z]\w*")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the handles of the memories it comes from, and how sure of it, from 0 to 1."""

    text: str
    cited: tuple[str, ...] = ()
    confidence: float = 0.0

    @property
    def known(self) -> bool:
        """Whether the memories told."""
        return self.text != UNKNOWN


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: text, or one call of a tool (its name, and its argument and value)."""

    text: str
    tool: str = ""
    arguments: tuple[tuple[str, str], ...] = ()


def reply(conversation: Conversation) -> Reply:
    """Searches once where a search is offered and none was made yet, else answers."""
    asked = read(conversation)
    if asked.question and (tool := search_tool(conversation)):
        return Reply("", tool.name, ((tool.query_field, asked.question),))
    answer = answer_to(asked)
    text = answer.text if answer.known else abstention(conversation) or UNKNOWN
    if not (keys := json_keys(conversation)):
        return Reply(text)
    values: dict[str, object] = {
        "answer": text,
        "cited": list(answer.cited),
        "confidence": answer.confidence,
        "abstained": not answer.known,
    }
    return Reply(canonical_json({key: values[key] for key in keys}).decode())


def answer_to(asked: Asked) -> Answer:
    """Answers from the memories, or says that they do not tell."""
    if unheard(asked):
        return Answer(UNKNOWN)
    kind = kind_of(asked.question)
    if kind in {Kind.ELAPSED, Kind.ORDER}:
        derive = elapsed if kind is Kind.ELAPSED else first_of
        if derived := derive(asked):
            return _given(derived.text, derived.supports)
        kind = Kind.DURATION if kind is Kind.ELAPSED else Kind.THING
    ranked = rank(asked.question, kind, asked.passages, stamp_day(asked.date))
    if not ranked or ranked[0].coverage < _ENOUGH:
        return Answer(UNKNOWN, confidence=round(ranked[0].coverage, 2) if ranked else 0.0)
    return _given(shorten(asked.question, kind, ranked[0]), ranked[:1])


def unheard(asked: Asked) -> bool:
    """Whether the question names something that no memory ever names."""
    told = "\n".join(passage.text for passage in asked.passages).lower()
    names = [words(name)[0] for name in _NAME.findall(asked.question)]
    spelled = [{name, stem(name)} for name in names if name not in TIME_NAMES]
    return not all(any(part in told for part in parts) for parts in spelled)


def _given(text: str, supports: "tuple[Support, ...] | list[Support]") -> Answer:
    handles = dict.fromkeys(support.passage.handle for support in supports)
    sure = min(support.coverage for support in supports)
    return Answer(text, tuple(name for name in handles if name), round(min(1.0, sure), 2))
