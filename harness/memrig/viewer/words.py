"""What a model was sent and what it said, from the record of exchanges."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import MemrigError
from memrig.gateway.jsons import as_list, as_object, as_text, load_object
from memrig.gateway.keys import Key
from memrig.gateway.record import Exchange, Record
from memrig.gateway.wire.base import WireError
from memrig.gateway.wire.formats import CHAT_WIRES
from memrig.report.text import clean

#: A text is handed on in pieces, each short enough to be shown whole, and no more of them.
_PIECE, _PIECES = 1900, 24


@dataclass(frozen=True, slots=True)
class Said:
    """One message: whose, and its text in pieces that follow one another."""

    role: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """An exchange, as the model saw it and as it answered."""

    sent: tuple[Said, ...]
    reply: tuple[Said, ...]


def words_of(record: Path, keys: Iterable[str]) -> tuple[Mapping[str, Words], str]:
    """Exchanges by key, and why there are none where that is so.

    A record that a run has open is left alone: SQLite would lock it to read it.
    """
    wanted = [key for key in keys if key]
    if not wanted:
        return {}, ""
    if not record.is_file():
        return {}, "this run keeps no record of models"
    if record.with_name(f"{record.name}-wal").exists():
        return {}, "the record is in use; what models said can be seen once the run is at rest"
    try:
        return asyncio.run(_read(record, wanted)), ""
    except MemrigError as error:
        return {}, error.message


async def _read(path: Path, keys: Iterable[str]) -> dict[str, Words]:
    record = Record(path, read_only=True)
    try:
        found: dict[str, Words] = {}
        for key in keys:
            exchange = record.exact(Key(key, "", "", b"", 0))
            if exchange is not None:
                found[key] = _words(exchange, record.request(exchange.request) or "")
        return found
    finally:
        await record.close()


def _words(exchange: Exchange, request: str) -> Words:
    asked = as_object(as_object(load_object(request)).get("request"))
    return Words(tuple(_sent(asked)), tuple(_reply(exchange, asked)))


def _sent(asked: Mapping[str, object]) -> Iterator[Said]:
    if system := _text(asked.get("system")):
        yield Said("system", pieces(system))
    for item in as_list(asked.get("messages")):
        message = as_object(item)
        yield Said(as_text(message.get("role")) or "?", pieces(_message(message)))


def _message(message: Mapping[str, object]) -> str:
    """A message's text, and the tool calls that it holds."""
    calls = [
        as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))
    ]
    said = [f"{as_text(c.get('name'))}({as_text(c.get('arguments'))})" for c in calls]
    return "\n".join(filter(None, [_text(message.get("content")), *said]))


def _text(content: object) -> str:
    """The text of either wire's content: a string, or blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_block(as_object(block)) for block in as_list(content))))


def _block(block: Mapping[str, object]) -> str:
    if block.get("type") == "tool_use":
        return f"{as_text(block.get('name'))}({block.get('input')})"
    return as_text(block.get("text")) or _text(block.get("content"))


def _reply(exchange: Exchange, asked: Mapping[str, object]) -> Iterator[Said]:
    if exchange.state != "ok":
        yield Said(exchange.state, pieces(exchange.error))
        return
    wire = CHAT_WIRES.get(exchange.format)
    if wire is None or exchange.response is None:
        return
    try:
        said = wire.said(wire.read(exchange.response.encode(), asked).value)
    except WireError:
        return
    calls = (f"{call.name}({call.arguments_json})" for call in said.tool_calls)
    yield Said("assistant", pieces("\n".join(filter(None, [said.text, *calls]))))


def pieces(text: str) -> tuple[str, ...]:
    """A text in pieces that can be shown; what is beyond the last is left out, and said to be."""
    whole = clean(text)
    found = [whole[at : at + _PIECE] for at in range(0, len(whole), _PIECE)]
    if len(found) > _PIECES:
        left = len(whole) - _PIECE * _PIECES
        found = [*found[:_PIECES], f"\n… and {left:,} characters more"]
    return tuple(found)
