"""A longitudinal dataset as it was read: scopes of episodes in time order, and their questions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["signal", "distractor", ""]


@dataclass(frozen=True, slots=True)
class StreamEpisode:
    """One episode. `kind` is empty where the data does not say; it never leaves the host."""

    episode_id: str
    timestamp: datetime
    text: str
    kind: Kind = ""


@dataclass(frozen=True, slots=True)
class CheckpointQuestion:
    """A question asked after the first `checkpoint` episodes of its scope, in time order."""

    question_id: str
    question_type: str
    prompt: str
    checkpoint: int
    answer: str
    evidence: tuple[str, ...]
    key_facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """One story: episodes in time order (equal times as in the file), questions as in the file.

    `as_filed` says whether the file had the episodes in this order already.
    """

    scope_id: str
    episodes: tuple[StreamEpisode, ...]
    questions: tuple[CheckpointQuestion, ...] = ()
    as_filed: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """A whole file. `name` is empty in LENS's."""

    name: str
    version: str
    scopes: tuple[Scope, ...]
