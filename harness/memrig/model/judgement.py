"""What a judge is asked, and what it said: lines of `verdicts.jsonl`."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One thing that a judge decides about one answer.

    Args:
        name: unique within the question, such as "answer" or "fact 2, canonical first".
        prompt: the user message; everything foreign in it is escaped and delimited.
        max_tokens: of the reply.
        votes: how many votes are wanted; odd.
        parse: turns a reply into a score from 0 to 1; None where it is no verdict. A vote that
            is none is asked for again, and then missing: it never becomes 0.
        system: the system message, where the protocol has one.
    """

    name: str
    prompt: str
    max_tokens: int
    votes: int
    parse: Callable[[str], float | None]
    system: str = ""


class Vote(_Record):
    """One vote. `score` is None where no reply could be had or parsed; `reason` says why.

    `asked` counts calls of the model, `attempts` calls to its provider: 0 of a replayed one.
    """

    score: float | None = Field(default=None, ge=0, le=1)
    reason: str = ""
    reply: str = ""
    served_model: str = ""
    key: str = ""
    asked: int = 1
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    ns: int = 0


class Verdict(_Record):
    """What a judge made of one task. `score` is the median of the valid votes.

    It is None where fewer than `quorum` votes were valid: the question is then ungraded.
    `agreement` is the share of valid votes that equal the most common one; None where fewer than
    two are valid. `grader` names the protocol, version and prompts that asked.
    """

    trial_id: str
    scenario_id: str
    question_id: str
    protocol: str
    model: str
    task: str
    votes: tuple[Vote, ...]
    quorum: int
    score: float | None
    agreement: float | None
    reason: str = ""
    grader: str = ""
