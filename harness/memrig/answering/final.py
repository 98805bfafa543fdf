"""From a model's last words to an answer."""

import json
import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.answering.handles import Handles
from memrig.answering.prompts import MARKER
from memrig.model.transcript import AnswerRecord
from memrig.model.trial import PromptStyle

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_MARKER = re.compile(re.escape(MARKER), re.IGNORECASE)
#: The sentence that models are told to abstain by, whatever follows its colon.
_ABSTAINS = re.compile(r"[\"'“*]*i (?:don['’]?t|do not) know\s*(?:[:.!*\"'”]|$)", re.IGNORECASE)


class _Final(BaseModel):
    """What one is told to reply that is to cite. Members it was not told of are passed over."""

    model_config = ConfigDict(strict=True)

    answer: str
    cited: list[str] = Field(default_factory=list)
    confidence: float | None = Field(default=None, ge=0, le=1)
    abstained: bool = False


def abstains(text: str) -> bool:
    """Whether an answer says, in the words that were agreed, that the memories do not hold it."""
    return bool(_ABSTAINS.match(text.strip()))


def reader_answer(
    reply: str, handles: Handles, style: PromptStyle, *, reserved: bool
) -> AnswerRecord:
    """A reader's answer.

    Args:
        reply: all that it wrote.
        handles: what it was shown.
        style: how it was asked. Step by step, the answer follows the last marker, and is all of the
            reply where there is none; cited, it is of an agent's shape.
        reserved: whether its budget was used up before.
    """
    if style == "cited":
        return cited_answer(reply, handles, reserved=reserved)
    text = (_after_marker(reply) if style == "step-by-step" else "") or reply.strip()
    return AnswerRecord(
        text=text,
        abstained=abstains(text),
        reserved_turn=reserved,
        raw=reply if text != reply else "",
        memories=handles.memories,
    )


def _after_marker(reply: str) -> str:
    """What follows the last marker; empty where there is none, or nothing after it."""
    ends = [found.end() for found in _MARKER.finditer(reply)]
    return reply[ends[-1] :].strip().strip("*").strip() if ends else ""


def cited_answer(reply: str, handles: Handles, *, reserved: bool) -> AnswerRecord:
    """An answer with its citations; a reply that is not of the shape is one without any.

    Args:
        reply: all that it wrote.
        handles: what it was shown; anything else that it cites is counted, and nothing more.
        reserved: whether this is the turn after its budget was used up.
    """
    final = _parsed(reply)
    text = final.answer.strip() if final else reply.strip()
    cited = list(dict.fromkeys(handle.strip() for handle in final.cited)) if final else []
    known = tuple(handle for handle in cited if handles.was_shown(handle))
    return AnswerRecord(
        text=text,
        abstained=(final is not None and final.abstained) or abstains(text),
        confidence=final.confidence if final else None,
        cited=known,
        unknown_citations=len(cited) - len(known),
        reserved_turn=reserved,
        raw=reply if text != reply else "",
        memories=handles.memories,
    )


def _parsed(reply: str) -> _Final | None:
    """The object that the reply is, or that its last fence holds; None where there is none."""
    candidates: Sequence[str] = [reply, *reversed(_FENCED.findall(reply))]
    for text in candidates:
        try:
            return _Final.model_validate(json.loads(text))
        except (ValidationError, ValueError, RecursionError):
            continue
    return None
