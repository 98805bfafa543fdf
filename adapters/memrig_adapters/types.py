"""What an adapter takes and gives: plain frozen dataclasses, no protobuf.

Every time is an aware `datetime` in UTC. Ids are opaque: keep them, compare them, read nothing
into them.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

#: A value that JSON can carry.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
#: The arguments of a tool, or its schema.
JsonObject: TypeAlias = Mapping[str, Json]
#: A filter's value, already of the type that its field declares.
FilterValue: TypeAlias = str | float | datetime


class SearchMode(enum.Enum):
    """How a query is matched against the memory."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class FilterType(enum.Enum):
    """The type of a filter field's values."""

    STRING = "string"
    NUMBER = "number"
    TIMESTAMP = "timestamp"
    ENUM = "enum"


class Operator(enum.Enum):
    """How a filter compares. Strings and enums know EQUAL alone."""

    EQUAL = "=="
    GREATER_OR_EQUAL = ">="
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation. `text` may be empty."""

    turn_id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Episode:
    """One unit of experience: a session, a turn, a document, a report.

    Where `turns` is set, `text` is their rendering, a line a turn: use either, not both.
    """

    episode_id: str
    text: str
    timestamp: datetime | None = None
    turns: tuple[Turn, ...] = ()
    media_type: str = "text/plain"
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """What `ingest` returns for an episode that the memory already held; it did not grow."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a declared field. `value` has the type that the field declares."""

    field: str
    operator: Operator
    value: FilterValue

    def matches(self, actual: FilterValue | None) -> bool:
        """Tells whether an item's own value meets the condition; a missing value never does."""
        if actual is None:
            return False
        if self.operator is Operator.EQUAL:
            return actual == self.value
        is_less: bool = actual < self.value  # type: ignore[operator]
        return is_less if self.operator is Operator.LESS else not is_less


@dataclass(frozen=True, slots=True)
class Query:
    """A search. `mode` None: the adapter's own default. All of `filters` must hold."""

    text: str
    limit: int
    mode: SearchMode | None = None
    filters: tuple[Filter, ...] = ()
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit. `ref_id` is the adapter's own name for the item, 1 to 256 bytes.

    Sources stand the most important first. Each one takes a rank of its own when retrieval is
    graded, so claim what the text comes from and nothing else.
    """

    ref_id: str
    text: str
    score: float
    source_episode_ids: tuple[str, ...] = ()
    source_turn_ids: tuple[str, ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A stored item in full."""

    ref_id: str
    text: str
    source_episode_ids: tuple[str, ...] = ()
    source_turn_ids: tuple[str, ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question to answer. `limit`: how many memories may be used at most, 0 leaves it free."""

    text: str
    time: datetime | None = None
    limit: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One step that a system took on its way to an answer. Reported, not graded."""

    name: str
    arguments: JsonObject = field(default_factory=dict)
    result: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Model usage as the adapter counts it."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The system's own answer. `text` is empty only together with `abstained`.

    `confidence` is the belief, 0 to 1, that the answer is right; None where there is none.
    """

    text: str
    cited_ref_ids: tuple[str, ...] = ()
    source_episode_ids: tuple[str, ...] = ()
    confidence: float | None = None
    abstained: bool = False
    tool_uses: tuple[ToolUse, ...] = ()
    reasoning_trace: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back: a value, and the memories that it is built from."""

    value: Json
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that filters may name: "timestamp", or a key of an episode's metadata."""

    name: str
    type: FilterType
    enum_values: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an adapter declares. The rig holds it to each line.

    Whether retrieve, answer, forget and tools are supported is not declared: the SDK derives it
    from the methods that the class has.

    Args:
        name: the memory system's name, shown in every table.
        version: the memory system's version, likewise.
        search_modes: the modes that search honours; the first is not special. None: the system
            cannot search, and answers by itself.
        filter_fields: the fields that search can filter by.
        max_results: the most hits that one search returns.
        supports_as_of: search honours `Query.as_of`.
        questions_change_memory: searching or answering changes what later questions find.
        reports_source_turns: hits name source turns where an episode had turns.
        limitations: what the system drops, cuts short or changes of what it is given, and what the
            adapter makes up for; at most 16 sentences of at most 500 bytes, shown in every report.
    """

    name: str
    version: str
    search_modes: tuple[SearchMode, ...] = (SearchMode.KEYWORD,)
    filter_fields: tuple[FilterField, ...] = ()
    max_results: int = 100
    supports_as_of: bool = False
    questions_change_memory: bool = False
    reports_source_turns: bool = False
    limitations: tuple[str, ...] = ()
