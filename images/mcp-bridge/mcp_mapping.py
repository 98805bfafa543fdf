"""The mapping file: which tools of an MCP server store, search, read and delete, and how."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin

from memrig_adapters.errors import AdapterBug
from memrig_adapters.types import Json, SearchMode

T = TypeVar("T")
#: What the placeholders stand for.
Values = Mapping[str, str | int]

#: How much text one call stores, unless a single item has more: servers were seen to end at
#: messages of 10 MB.
MAX_CALL_CHARACTERS: Final = 1_000_000

_PLACEHOLDER: Final = re.compile(r"\{([a-z]+)\}")
_EACH: Final = "{each}"


@dataclass(frozen=True, slots=True)
class Server:
    """`[server]`: what is run. `{state}` in a value is a folder that is empty after a Reset.

    `keeps`: a server that is started again finds in that folder what it held.
    """

    command: list[str]
    name: str
    version: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    keeps: bool = False
    limitations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Store:
    """`[store]`: an item of the memory is a `passage` (a turn, or a chunk) or an `episode`.

    Arguments know `{id}`, `{text}`, `{time}` (ISO 8601, or nothing) and `{episode}`. With `each`,
    one call stores many: `{each}` in `arguments` is a list with an `each` for every item. `id` is
    the path of the id in the reply of a server that gives its own, one item a call.
    """

    PLACEHOLDERS: ClassVar = frozenset({"id", "text", "time", "episode"})

    tool: str
    arguments: dict[str, Any]
    each: dict[str, Any] | None = None
    id: str = ""
    item: str = "passage"


@dataclass(frozen=True, slots=True)
class Search:
    """`[search]`: asked once with the `question`, or once a `word` where the server looks for that.

    Arguments know `{query}` and `{limit}`. Results are a list in the reply's JSON, at the path
    `results`; `id`, `text` and `score` are paths within one of them. A path is of keys and
    numbers: `observations.0`. Without a score the server's order holds.
    """

    PLACEHOLDERS: ClassVar = frozenset({"query", "limit"})

    tool: str
    arguments: dict[str, Any]
    results: str
    id: str
    text: str
    score: str = ""
    mode: str = "keyword"
    by: str = "question"
    max_results: int = 100
    max_words: int = 24
    ignore: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Read:
    """`[read]`, optional: fetches the item `{id}`; paths as in `[search]`."""

    PLACEHOLDERS: ClassVar = frozenset({"id"})

    tool: str
    arguments: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """`[delete]`, optional: removes the item `{id}`."""

    PLACEHOLDERS: ClassVar = frozenset({"id"})

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServerMapping:
    """A whole mapping file."""

    server: Server
    store: Store
    search: Search
    read: Read | None = None
    delete: Delete | None = None

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it names."""
        sections = (self.store, self.search, self.read, self.delete)
        return frozenset(section.tool for section in sections if section is not None)


def load_mapping(path: Path) -> ServerMapping:
    """Reads a mapping file.

    Raises:
        AdapterBug: it cannot be read; a key is missing, unknown or of another type; a placeholder
            is unknown. The message names file and key.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise AdapterBug(f"{path}: {error}") from error
    kinds = {"server": Server, "store": Store, "search": Search, "read": Read, "delete": Delete}
    _refuse_unknown(tables, set(kinds), str(path))
    found: dict[str, Any] = {
        name: _section(kind, tables[name], f"{path}: [{name}]")
        for name, kind in kinds.items()
        if name in tables
    }
    for name in ("server", "store", "search"):
        if name not in found:
            raise AdapterBug(f"{path}: [{name}] is missing")
    mapping = ServerMapping(**found)
    _check_choices(mapping, str(path))
    return mapping


def filled(template: object, values: Values) -> Json:
    """A template with its placeholders filled; a text that is one placeholder takes its type."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        if whole:
            return values[whole[1]]
        return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    assert template is None or isinstance(template, bool | int | float)  # noqa: S101  TOML's others
    return template


def arguments_of(store: Store, items: list[Values]) -> list[dict[str, Json]]:
    """The arguments of the calls that store items: one an item, or one for as many as go in."""
    if store.each is None:
        return [_table(filled(store.arguments, item)) for item in items]
    calls: list[list[Json]] = []
    room = 0
    for item in items:
        size = len(str(item["text"]))
        if size > room or not calls:
            calls.append([])
            room = MAX_CALL_CHARACTERS
        calls[-1].append(filled(store.each, item))
        room -= size
    return [_table(_with_each(store.arguments, every)) for every in calls]


def at(value: object, path: str) -> Any:
    """What stands at a path in a JSON value; None where there is nothing."""
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def json_of(result: Mapping[str, Any]) -> object:
    """What a tool's result holds: its structured content, or the JSON of its first text."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    texts = [c.get("text") for c in result.get("content") or [] if isinstance(c, dict)]
    try:
        return json.loads(texts[0] or "") if texts else None
    except ValueError:
        return None


def _with_each(template: object, every: list[Json]) -> Json:
    if template == _EACH:
        return every
    if isinstance(template, dict):
        return {key: _with_each(value, every) for key, value in template.items()}
    if isinstance(template, list):
        return [_with_each(value, every) for value in template]
    return filled(template, {})


def _table(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)  # noqa: S101  `arguments` was checked to be a table
    return value


def _section(kind: type[T], table: object, where: str) -> T:
    if not isinstance(table, dict):
        raise AdapterBug(f"{where} is not a table")
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    _refuse_unknown(table, set(known), where)
    for name, item in known.items():
        if name not in table:
            if item.default is MISSING and item.default_factory is MISSING:
                raise AdapterBug(f"{where}: {name} is missing")
            continue
        wanted = _class_of(item.type)
        if type(table[name]) is not wanted:
            raise AdapterBug(f"{where}: {name} is not a {wanted.__name__}: {table[name]!r}")
    allowed = getattr(kind, "PLACEHOLDERS", None)
    if allowed is not None:
        _check_placeholders(table.get("arguments"), allowed | {"each"}, where)
        _check_placeholders(table.get("each"), allowed, where)
    return kind(**table)


def _class_of(annotation: object) -> type:
    first = get_args(annotation)[0] if isinstance(annotation, UnionType) else annotation
    found = get_origin(first) or first
    assert isinstance(found, type)  # noqa: S101  the sections are annotated with plain types
    return found


def _refuse_unknown(table: Mapping[str, object], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise AdapterBug(f"{where}: unknown: {', '.join(unknown)}; known are {sorted(known)}")


def _check_placeholders(template: object, known: frozenset[str] | set[str], where: str) -> None:
    unknown = set(_PLACEHOLDER.findall(json.dumps(template))) - known
    if unknown:
        names = ", ".join(f"{{{name}}}" for name in sorted(unknown))
        raise AdapterBug(f"{where}: nothing stands for {names}; known are {sorted(known)}")


def _check_choices(mapping: ServerMapping, path: str) -> None:
    choices = (
        ("[store] item", mapping.store.item, {"passage", "episode"}),
        ("[search] by", mapping.search.by, {"question", "word"}),
        ("[search] mode", mapping.search.mode, {mode.value for mode in SearchMode}),
    )
    for where, value, allowed in choices:
        if value not in allowed:
            raise AdapterBug(f"{path}: {where} is {value!r}, not one of {sorted(allowed)}")
    if not mapping.server.command:
        raise AdapterBug(f"{path}: [server] command is empty")
    given_each = mapping.store.each is not None
    if given_each and mapping.store.id:
        raise AdapterBug(f"{path}: [store] id is of one item, and each stores many")
    if given_each != (_EACH in json.dumps(mapping.store.arguments)):
        raise AdapterBug(f"{path}: [store] each and {{each}} in arguments go together")
