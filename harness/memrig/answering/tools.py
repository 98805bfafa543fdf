"""An agent's tools at work: arguments in, a JSON result out that holds handles and no refs."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memrig.answering.base import Memory, Trace
from memrig.answering.filters import FilterError, filter_uses, offered
from memrig.answering.handles import Handles, Item
from memrig.answering.jsonfit import LEAST, cleaned, dumps, fit, strings_of
from memrig.answering.meter import Meter
from memrig.answering.steps import note_memory, note_search
from memrig.answering.toolspecs import (
    CAPABILITIES,
    RETRIEVE,
    SEARCH,
    mode_names,
    problem_with,
    tool_specs,
)
from memrig.model.chat import ToolCall, estimate_tokens
from memrig.model.transcript import HitRecord, ToolUseRecord

#: Characters of an error that a model is told.
_LONGEST_ERROR = 1000

Arguments = dict[str, object]


class ToolError(Exception):
    """A tool call that cannot be made; the message is for the model, which may try again."""


@dataclass(frozen=True, slots=True)
class _Result:
    """A JSON object, and what the memory took for it.

    `counts` tells that it is made of what the memory returned, and so has to fit what is left.
    """

    value: dict[str, object]
    is_error: bool = False
    counts: bool = False
    ns: int = 0
    payload_bytes: int = 0


class Toolbox:
    """The tools of one question.

    Args:
        memory: the memory under test.
        limit: how many results a search gives that names no limit.
        handles: issues handles, and is told what was shown.
        meter: what the memory returns is charged to it.
        trace: gets a record of each call.
    """

    def __init__(
        self, memory: Memory, limit: int, handles: Handles, meter: Meter, trace: Trace
    ) -> None:
        self._memory = memory
        self._limit = limit
        self._handles = handles
        self._meter = meter
        self._trace = trace
        self.specs = tool_specs(memory.capabilities)
        self._by_name = {tool.name: tool for tool in self.specs}
        #: Results of the adapter's own tools, by name, as they were shown.
        self.extra_results: list[tuple[str, str]] = []

    async def use(self, call: ToolCall) -> str:
        """Makes a tool call and returns its result, valid JSON that fits what the budget has left.

        Unknown tools and arguments that are no JSON, or not what the schema asks for, give a
        result that tells so.

        Raises:
            AdapterError: the memory system failed.
        """
        if not self._meter.take_tool_call():
            return self.refuse(call)
        room = max(LEAST, self._meter.payload_left)
        try:
            result = await self._run(call)
        except ToolError as error:
            result = _Result({"error": str(error)[:_LONGEST_ERROR]}, is_error=True)
        else:
            self._meter.took_payload(result.payload_bytes)
        shown = fit(result.value, room) if result.counts else result.value
        self._note_shown(shown)
        text = dumps(shown)
        if call.name not in {SEARCH, RETRIEVE, CAPABILITIES} and not result.is_error:
            self.extra_results.append((call.name, text))
        self._note(call, text, result)
        return text

    def refuse(self, call: ToolCall) -> str:
        """Does not make a call for which there is no budget left."""
        result = _Result({"error": f"the budget of {self._meter.hit} is used up"}, is_error=True)
        self._note(call, dumps(result.value), result)
        return dumps(result.value)

    def _note(self, call: ToolCall, text: str, result: _Result) -> None:
        self._trace.tool_uses.append(
            ToolUseRecord(
                name=call.name,
                arguments_json=call.arguments_json,
                result=text,
                is_error=result.is_error,
                ns=result.ns,
                payload_bytes=result.payload_bytes,
            )
        )

    def _note_shown(self, shown: object) -> None:
        """Every memory that is in a result counts as shown, with the text that is left of it."""
        members = shown if isinstance(shown, dict) else {}
        for name in ("results", "memories"):
            for item in members.get(name, []):
                self._handles.show(
                    item["handle"], item.get("text", ""), estimate_tokens(dumps(item))
                )

    async def _run(self, call: ToolCall) -> _Result:
        tool = self._by_name.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name!r}; there are {sorted(self._by_name)}")
        arguments = parse_arguments(call.arguments_json)
        own = {SEARCH: self._search, RETRIEVE: self._retrieve, CAPABILITIES: self._declared}
        given = arguments
        if call.name not in own:  # what the adapter gets is what must be valid (protocol §14.2)
            revealed = self._handles.reveal(arguments)
            arguments = revealed if isinstance(revealed, dict) else arguments
        if problem_with(arguments, tool):  # told of what the model wrote, which has no refs
            told = problem_with(given, tool) or "a handle stands where the schema wants none"
            raise ToolError(f"the arguments do not fit: {told}")
        if call.name != CAPABILITIES and not self._meter.may_ask_memory():
            raise ToolError("the memory may return nothing more for this question")
        if call.name in own:
            return await own[call.name](arguments)
        return await self._extra(call.name, arguments)

    async def _search(self, arguments: Arguments) -> _Result:
        capabilities = self._memory.capabilities
        limit, given = arguments.get("limit"), arguments.get("filters")
        mode = mode_names(capabilities).get(str(arguments.get("mode")), "")
        try:
            fields = offered(capabilities.filter_fields)
            filters = filter_uses(given if isinstance(given, dict) else {}, fields)
        except FilterError as error:
            raise ToolError(str(error)) from error
        found = await self._memory.search(
            str(arguments["query"]),
            int(limit) if isinstance(limit, int | float) else self._limit,
            mode,
            filters,
        )
        note_search(found, self._trace)
        value: dict[str, object] = {"results": self._shown_of(found.hits)}
        return _Result(value, counts=True, ns=found.ns, payload_bytes=found.payload_bytes)

    async def _retrieve(self, arguments: Arguments) -> _Result:
        handle = str(arguments["handle"])
        ref_id = self._handles.ref_of(handle)
        if ref_id is None:
            raise ToolError(f"there is no memory {handle!r}; handles come from results of a search")
        started = time.monotonic_ns()
        document = await self._memory.retrieve(ref_id)
        if document is None:  # it comes without a record, but not without waiting
            ns = time.monotonic_ns() - started
            note_memory(ns, 0, self._trace)
            return _Result({"error": f"memory {handle} is no longer there"}, is_error=True, ns=ns)
        note_memory(document.ns, document.payload_bytes, self._trace)
        value: dict[str, object] = {"results": self._shown_of([document.hit])}
        return _Result(value, counts=True, ns=document.ns, payload_bytes=document.payload_bytes)

    async def _declared(self, _arguments: Arguments) -> _Result:
        """What a model can make use of. Who the memory system is, is none of it."""
        capabilities = self._memory.capabilities
        return _Result(
            {
                "search_modes": list(mode_names(capabilities)),
                "filters": [
                    field.model_dump(mode="json") for field in offered(capabilities.filter_fields)
                ],
                "max_results": capabilities.max_results,
                "tools": sorted(self._by_name),
            }
        )

    async def _extra(self, tool: str, arguments: Arguments) -> _Result:
        given = await self._memory.call_tool(tool, dumps(arguments))
        note_memory(given.ns, given.payload_bytes, self._trace)
        result = cleaned(json.loads(given.result_json))
        items = [self._handles.item(hit) for hit in given.hits]
        name = "error" if given.is_error else "result"
        value: dict[str, object] = {name: self._handles.hide(result)}
        if items:
            told = "\n".join(strings_of(result))
            value["memories"] = [_member(item, told) for item in items]
        return _Result(value, given.is_error, True, given.ns, given.payload_bytes)

    def _shown_of(self, hits: Sequence[HitRecord]) -> list[object]:
        return [_member(self._handles.item(hit)) for hit in hits]


def _member(item: Item, told: str = "") -> dict[str, object]:
    """A memory in a result; a text that the result tells already is not told twice."""
    member: dict[str, object] = {"handle": item.handle}
    if item.date:
        member["date"] = item.date
    if not (told and item.text in told):
        member["text"] = item.text
    return member


def parse_arguments(text: str) -> Arguments:
    """A model's arguments; none at all is an empty object.

    Raises:
        ToolError: they are no JSON object, or hold what JSON cannot carry.
    """
    try:
        value = json.loads(text.strip() or "{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments are not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise ToolError("the arguments must be one JSON object")
    clean = cleaned(value)
    if clean != value or not isinstance(clean, dict):
        raise ToolError("the arguments are nested too deeply, or hold broken characters")
    return clean


def _no_constant(name: str) -> object:
    """Python reads NaN and Infinity, JSON does not."""
    raise ValueError(f"{name} is no JSON value")


def sound_call(call: ToolCall) -> ToolCall:
    """A call as it goes back to the model: providers refuse arguments that are no JSON object."""
    try:
        parse_arguments(call.arguments_json)
    except ToolError:
        return ToolCall(call.call_id, call.name, "{}")
    return call
