"""The base class of an adapter: a few plain methods, sync or async."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

from memrig_adapters.errors import AdapterBug, Rejected
from memrig_adapters.types import (
    Answer,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    FilterType,
    Hit,
    Json,
    JsonObject,
    Query,
    Question,
    ToolResult,
)

T = TypeVar("T")
#: What a method may return: a value (plain method) or something to await (``async def``).
Maybe: TypeAlias = T | Awaitable[T]
#: What became of one episode: the number of items stored, or why none was.
IngestResult: TypeAlias = int | Duplicate | Rejected

Method = TypeVar("Method", bound=Callable[..., Any])

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: What `Capabilities.limitations` may hold (protocol §4.6).
MAX_LIMITATIONS, MAX_LIMITATION_BYTES = 16, 500
_RESERVED_TOOLS = frozenset({"memory_search", "memory_retrieve", "memory_capabilities"})


class Adapter:
    """A memory system behind the contract. Subclass it; `memrig-adapter serve` does the rest.

    Methods may be plain or ``async def``. They are called one at a time unless `concurrent` is
    True. Plain methods are called from changing threads, never the main one (open SQLite with
    ``check_same_thread=False``); async ones all run on one event loop. A call whose deadline has
    passed is answered with DEADLINE_EXCEEDED at once; a coroutine is cancelled, while a plain
    method runs on to its end, holding its turn.

    Class attributes:
        capabilities: what the adapter declares; may be set in `start` on the instance instead.
        concurrent: True if any of the methods may run at the same time as any other.
    """

    capabilities: Capabilities
    concurrent: ClassVar[bool] = False

    def start(self) -> Maybe[None]:
        """Optional: opens the store. Health turns SERVING when it returns."""

    def close(self) -> Maybe[None]:
        """Optional: called once at shutdown, after the last call; has what is left of 5 s."""

    def ingest(self, episode: Episode) -> Maybe[int | Duplicate]:
        """Takes one episode; returns how many items it stored, or `Duplicate()`.

        Raises:
            Rejected: the episode is not stored, on purpose.
        """
        raise NotImplementedError(f"{type(self).__name__} implements no ingest")

    def ingest_batch(self, episodes: Sequence[Episode]) -> Maybe[Sequence[IngestResult]]:
        """Optional: takes up to 256 episodes at once; returns one result for each, in order.

        Without it, the SDK calls `ingest` for each. If it raises, none of the batch counts as
        acknowledged.
        """
        raise NotImplementedError(f"{type(self).__name__} implements no ingest_batch")

    def flush(self) -> Maybe[int | None]:
        """The barrier: on return, all that was ingested is searchable.

        Returns the number of items in the memory, or None where it cannot say.
        """
        raise NotImplementedError(f"{type(self).__name__} implements no flush")

    def search(self, query: Query) -> Maybe[Sequence[Hit]]:
        """Returns the best hits, best first, at most `query.limit`.

        A system that cannot search leaves it out, declares no search mode, and has an `answer`.
        """
        raise NotImplementedError(f"{type(self).__name__} implements no search")

    def reset(self) -> Maybe[None]:
        """Empties the memory."""
        raise NotImplementedError(f"{type(self).__name__} implements no reset")

    def retrieve(self, ref_id: str) -> Maybe[Document]:
        """Optional: returns one item in full.

        Raises:
            NotFound: there is no such item.
        """
        raise NotImplementedError(f"{type(self).__name__} implements no retrieve")

    def answer(self, question: Question) -> Maybe[Answer]:
        """Optional: answers by the system's own means."""
        raise NotImplementedError(f"{type(self).__name__} implements no answer")

    def forget(self, episode_ids: Sequence[str]) -> Maybe[int]:
        """Optional: removes all that came from these episodes; returns how many it knew."""
        raise NotImplementedError(f"{type(self).__name__} implements no forget")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """An extra tool: what an agent sees of it, and the method that runs it."""

    name: str
    description: str
    input_schema_json: str
    method: str


def tool(
    schema: JsonObject, *, name: str | None = None, description: str | None = None
) -> Callable[[Method], Method]:
    """Declares a method as an extra tool. It takes the arguments and returns JSON or a ToolResult.

    Args:
        schema: a JSON Schema (draft 2020-12) of type "object" for the arguments.
        name: the tool's name; default: the method's.
        description: for the agent; default: the method's docstring.

    Raises:
        ValueError: name, schema or description is not one that the contract allows.
    """

    def mark(method: Method) -> Method:
        title = name or method.__name__
        if not _TOOL_NAME.fullmatch(title) or title in _RESERVED_TOOLS:
            raise ValueError(f"tool {title!r}: not 1 to 64 of [A-Za-z0-9_-], or a name of the rig")
        if schema.get("type") != "object":
            raise ValueError(f"tool {title!r}: the schema's type is not 'object'")
        text = (description or method.__doc__ or "").strip()
        if not text:
            raise ValueError(f"tool {title!r}: neither a description nor a docstring")
        spec = ToolSpec(title, text, json.dumps(schema, allow_nan=False), method.__name__)
        method.__memrig_tool__ = spec  # type: ignore[attr-defined]
        return method

    return mark


def tools_of(adapter: Adapter) -> dict[str, ToolSpec]:
    """The extra tools of an adapter by name, in the order of their definition.

    Raises:
        AdapterBug: two tools share a name.
    """
    found: dict[str, ToolSpec] = {}
    members: dict[str, object] = {}
    for cls in reversed(type(adapter).__mro__):
        members.update(vars(cls))
    for member in members.values():
        spec = getattr(member, "__memrig_tool__", None)
        if not isinstance(spec, ToolSpec):
            continue
        if spec.name in found:
            raise AdapterBug(f"two tools are named {spec.name!r}")
        found[spec.name] = spec
    return found


def overrides(adapter: Adapter, method: str) -> bool:
    """Tells whether an adapter has a method of its own under this name."""
    return getattr(type(adapter), method) is not getattr(Adapter, method)


def check_capabilities(adapter: Adapter) -> Capabilities:
    """Returns what an adapter declares.

    Raises:
        AdapterBug: it declares nothing, or something that the contract does not allow.
    """
    declared = getattr(adapter, "capabilities", None)
    if not isinstance(declared, Capabilities):
        raise AdapterBug(f"{type(adapter).__name__}.capabilities is {declared!r}")
    _check_declared(declared)
    find = "search" if declared.search_modes else "answer"
    missing = [m for m in ("flush", find, "reset") if not overrides(adapter, m)]
    if not (overrides(adapter, "ingest") or overrides(adapter, "ingest_batch")):
        missing.insert(0, "ingest")
    if missing:
        why = "" if declared.search_modes else " (capabilities.search_modes is empty)"
        raise AdapterBug(f"{type(adapter).__name__} lacks {', '.join(missing)}{why}")
    if overrides(adapter, "search") and not declared.search_modes:
        raise AdapterBug(f"{type(adapter).__name__} searches, but declares no search mode")
    return declared


def _check_declared(declared: Capabilities) -> None:
    if not declared.name or not declared.version:
        raise AdapterBug(f"capabilities: no name or no version: {declared!r}")
    modes = declared.search_modes
    if len(set(modes)) != len(modes):
        raise AdapterBug(f"capabilities.search_modes repeats a mode: {modes}")
    if not 1 <= declared.max_results < 2**32:
        raise AdapterBug(f"capabilities.max_results is {declared.max_results}")
    said = declared.limitations
    if len(said) > MAX_LIMITATIONS or not all(
        0 < len(text.encode()) <= MAX_LIMITATION_BYTES for text in said
    ):
        raise AdapterBug(
            f"capabilities.limitations: at most {MAX_LIMITATIONS}, each of 1 to "
            f"{MAX_LIMITATION_BYTES} bytes: {said}"
        )
    names = [item.name for item in declared.filter_fields]
    if len(set(names)) != len(names) or not all(names):
        raise AdapterBug(f"capabilities.filter_fields: empty or repeated names in {names}")
    for item in declared.filter_fields:
        if (item.type is FilterType.ENUM) != bool(item.enum_values):
            raise AdapterBug(f"capabilities.filter_fields: {item.name!r}: enum_values go with ENUM")
        if item.name == "timestamp" and item.type is not FilterType.TIMESTAMP:
            raise AdapterBug("capabilities.filter_fields: 'timestamp' is not of type TIMESTAMP")


#: What a tool method may return.
ToolReturn: TypeAlias = "Json | ToolResult"
