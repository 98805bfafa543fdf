"""Checks of what an adapter says about itself: health, capabilities, the process it is."""

import asyncio
import contextlib
import json
import re
import statistics
import time
from collections.abc import Awaitable, Iterator
from typing import Protocol

import grpc

from memrig.client.connection import SERVICE
from memrig.client.convert import CONTRACT_MAJOR, MAX_LIMITATION_BYTES, MAX_LIMITATIONS
from memrig.conformance.check import Check, check
from memrig.conformance.context import Context, callable_tool, health_status, status
from memrig.conformance.verdict import NotApplicable, require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RIG_TOOLS = frozenset({"memory_search", "memory_retrieve", "memory_capabilities"})
#: Field 1000 of type varint, with the value 1.
_UNKNOWN_FIELD = b"\xc0\x3e\x01"
_REPEATS = 20
_CHEAP_S = 0.5
_MODES = {pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID}


@check(
    "health.service",
    reason="The rig begins to ingest when this name is SERVING, and gives up when it never is.",
    spec="protocol §3.1",
)
async def health_service(context: Context) -> None:
    """The health service answers SERVING for the name memrig.v1.MemoryAdapter."""
    got = await health_status(context.link, SERVICE)
    require(got == "SERVING", f"health of {SERVICE!r}", expected="SERVING", got=got)


@check(
    "health.server",
    reason="Container platforms and gRPC tools probe a server by the empty name.",
    spec="protocol §3.1",
)
async def health_server(context: Context) -> None:
    """The health service answers SERVING for the empty name too."""
    got = await health_status(context.link, "")
    require(got == "SERVING", 'health of ""', expected="SERVING", got=got)


@check(
    "health.under-load",
    reason="An adapter that answers nothing while it works cannot be told from one that hangs.",
    spec="protocol §3.4",
)
async def health_under_load(context: Context) -> None:
    """Health answers SERVING while an Ingest runs."""
    if await health_status(context.link, SERVICE) != "SERVING":
        raise NotApplicable("health is not SERVING at rest either")
    episodes = [fact.episode() for fact in context.facts(512)]
    ingest = asyncio.create_task(context.ingest(episodes, per_message=16))
    seen: set[str] = set()
    while not (seen and ingest.done()):
        seen.add(await health_status(context.link, SERVICE))
    await ingest
    require(seen == {"SERVING"}, "health during Ingest", expected="SERVING", got=sorted(seen))


@check(
    "capabilities.valid",
    reason="The rig refuses a handshake that lacks a field or contradicts itself.",
    spec="protocol §4.2, §4.3",
)
async def capabilities_valid(context: Context) -> None:
    """Name, version and boot_id are set, and search modes and max_results of what can search."""
    problems = list(_handshake_problems(context.capabilities))
    require(not problems, "; ".join(problems), expected="a complete handshake", got=problems)


def _handshake_problems(declared: pb.CapabilitiesResponse) -> Iterator[str]:
    needed = ["name", "version", "boot_id"]
    if declared.search_modes or not declared.supports_answer:
        needed += ["max_results", "search_modes"]
    for name in needed:
        if not getattr(declared, name):
            yield f"{name} is not set"
    if unknown := [mode for mode in declared.search_modes if mode not in _MODES]:
        yield f"search_modes holds {unknown}"
    if len(set(declared.search_modes)) != len(declared.search_modes):
        yield "search_modes repeats a mode"


@check(
    "capabilities.contract-major",
    reason="Another major means other rules: the rig does not run it.",
    spec="protocol §4.2",
)
async def contract_major(context: Context) -> None:
    """contract_version has the major that this rig speaks."""
    version = context.capabilities.contract_version
    require(
        re.fullmatch(rf"{CONTRACT_MAJOR}\.\d+", version),
        "contract_version",
        expected=f"{CONTRACT_MAJOR}.<minor>",
        got=version,
    )


@check(
    "capabilities.filter-fields",
    reason="An agent writes filters from this list; a field without a type cannot be written.",
    spec="protocol §9.2, §9.3",
)
async def filter_fields(context: Context) -> None:
    """Each filter field has a unique name and a type, enums list values, timestamp is a time."""
    problems = list(_filter_problems(context.capabilities))
    require(not problems, "; ".join(problems), expected="usable filter fields", got=problems)


def _filter_problems(declared: pb.CapabilitiesResponse) -> Iterator[str]:
    names = [field.name for field in declared.filter_fields]
    if len(set(names)) != len(names) or not all(names):
        yield f"names are empty or repeated: {names}"
    for field in declared.filter_fields:
        if field.type not in {
            pb.FILTER_TYPE_STRING,
            pb.FILTER_TYPE_NUMBER,
            pb.FILTER_TYPE_TIMESTAMP,
            pb.FILTER_TYPE_ENUM,
        }:
            yield f"{field.name} has type {field.type}"
        if (field.type == pb.FILTER_TYPE_ENUM) != bool(field.enum_values):
            yield f"{field.name}: enum_values go with FILTER_TYPE_ENUM, and only with it"
        if field.name == "timestamp" and field.type != pb.FILTER_TYPE_TIMESTAMP:
            yield "timestamp is not of FILTER_TYPE_TIMESTAMP"


@check(
    "capabilities.tools",
    reason="Tools are handed to a model as they are: a wrong name or schema fails every call.",
    spec="protocol §14.1",
)
async def tools(context: Context) -> None:
    """Each extra tool has a valid, unique, unreserved name, a description and an object schema."""
    problems = list(_tool_problems(context.capabilities))
    require(not problems, "; ".join(problems), expected="usable tools", got=problems)


def _tool_problems(declared: pb.CapabilitiesResponse) -> Iterator[str]:
    names = [tool.name for tool in declared.tools]
    if len(set(names)) != len(names):
        yield f"names are repeated: {names}"
    for tool in declared.tools:
        if not _TOOL_NAME.fullmatch(tool.name) or tool.name in _RIG_TOOLS:
            yield f"the name {tool.name!r} is not allowed"
        if not tool.description:
            yield f"{tool.name} has no description"
        try:
            schema = json.loads(tool.input_schema_json)
        except ValueError:
            schema = None
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"{tool.name}: input_schema_json is not a JSON Schema of type object"


@check(
    "capabilities.limitations",
    reason="Whoever reads a table must learn what a system drops, in sentences that fit into it.",
    spec="protocol §4.6",
)
async def limitations(context: Context) -> None:
    """Limitations are at most 16 sentences of 1 to 500 bytes, each on one line."""
    said = list(context.capabilities.limitations)
    require(len(said) <= MAX_LIMITATIONS, "too many limitations", expected="16", got=len(said))
    wrong = [
        text
        for text in said
        if not 0 < len(text.encode()) <= MAX_LIMITATION_BYTES or len(text.splitlines()) != 1
    ]
    require(not wrong, "a limitation is empty, too long or on several lines", got=wrong)


@check(
    "capabilities.repeatable",
    reason="The rig asks again in mid-run to see who is there; it must be cheap and say the same.",
    spec="protocol §4.1",
)
async def repeatable(context: Context) -> None:
    """Capabilities answers the same each time, in well under half a second."""
    took = []
    for _ in range(_REPEATS):
        started = time.monotonic()
        again = await context.declared()
        took.append(time.monotonic() - started)
        changed = [
            name
            for name in pb.CapabilitiesResponse.DESCRIPTOR.fields_by_name
            if name != "boot_id" and getattr(again, name) != getattr(context.capabilities, name)
        ]
        require(
            not changed, f"changed between two calls: {changed}", expected="the same", got=again
        )
    usual = statistics.median(took)  # one slow call says more about the machine
    require(
        usual <= _CHEAP_S,
        f"the median of {_REPEATS} calls",
        expected=f"at most {_CHEAP_S} s",
        got=f"{usual:.3f} s",
    )


@check(
    "boot-id.stable",
    reason="A new boot_id means a new process: the rig then ends the trial as a crash.",
    spec="protocol §1.4",
)
async def boot_id_stable(context: Context) -> None:
    """boot_id stays the same while the process lives."""
    seen = {(await context.declared()).boot_id for _ in range(_REPEATS)}
    require(
        seen == {context.boot_id},
        "boot_id changed between calls to Capabilities",
        expected=context.boot_id,
        got=sorted(seen),
    )


@check(
    "boot-id.every-response",
    reason="It is how a silent restart is seen in the middle of a trial, call by call.",
    spec="protocol §1.4",
)
async def boot_id_everywhere(context: Context) -> None:
    """Every response carries the boot_id of Capabilities."""
    fact = context.fact()
    seen = {"Reset": (await context.reset()).boot_id}
    for number, response in enumerate(await context.stream([fact.episode()])):
        seen[f"Ingest[{number}]"] = response.boot_id
    seen["Flush"] = (await context.flush()).boot_id
    found = await context.search(fact.query)
    seen["Search"] = found.boot_id
    for name, call in _optional_calls(context, found.hits[0].ref_id if found.hits else ""):
        with contextlib.suppress(grpc.aio.AioRpcError):  # other checks ask whether it works
            seen[name] = (await call).boot_id
    wrong = {name: boot_id for name, boot_id in seen.items() if boot_id != context.boot_id}
    require(
        not wrong,
        f"another boot_id than that of Capabilities in {', '.join(wrong)}",
        expected=context.boot_id,
        got=wrong,
    )


@check(
    "wire.unknown-fields",
    reason="A newer rig may send fields that this adapter does not know.",
    spec="protocol §1.7",
)
async def unknown_fields(context: Context) -> None:
    """A field that the contract does not have is ignored."""
    code = await status(
        context.asking(context.fact().query, context.deadlines.flush, _UNKNOWN_FIELD)
    )
    require(code == "OK", "a request with an unknown field", expected="OK", got=code)


class _FromProcess(Protocol):
    """A response that says which process sent it."""

    @property
    def boot_id(self) -> str: ...


def _optional_calls(context: Context, ref_id: str) -> Iterator[tuple[str, Awaitable[_FromProcess]]]:
    declared, stub, limit = context.capabilities, context.stub, context.deadlines.search
    if declared.supports_retrieve and ref_id:
        yield "Retrieve", stub.Retrieve(pb.RetrieveRequest(ref_id=ref_id), timeout=limit)
    if declared.supports_answer:
        yield "Answer", stub.Answer(pb.AnswerRequest(question="Who is there?"), timeout=limit)
    if tool := callable_tool(declared):
        request = pb.CallToolRequest(name=tool, arguments_json="{}")
        yield "CallTool", stub.CallTool(request, timeout=limit)
    if declared.supports_forget:
        ids = [context.fact().episode_id]
        yield "Forget", stub.Forget(pb.ForgetRequest(episode_ids=ids), timeout=limit)


CHECKS: tuple[Check, ...] = (
    health_service,
    health_server,
    health_under_load,
    capabilities_valid,
    contract_major,
    filter_fields,
    tools,
    limitations,
    repeatable,
    boot_id_stable,
    boot_id_everywhere,
    unknown_fields,
)
