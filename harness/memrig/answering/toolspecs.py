"""The tools that an agent is offered, from what the adapter declared."""

import json
import re
from collections.abc import Mapping

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from memrig.answering.filters import filters_schema, offered
from memrig.answering.prompts import TEXTS
from memrig.errors import ContractError
from memrig.model.chat import ToolSpec
from memrig.model.transcript import CapabilitiesRecord, ToolRecord

SEARCH, RETRIEVE, CAPABILITIES = "memory_search", "memory_retrieve", "memory_capabilities"
_OWN = frozenset({SEARCH, RETRIEVE, CAPABILITIES})
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: A query may have 64 KiB (protocol §8.2), and a character up to 4 bytes.
_LONGEST_QUERY = 16_000
_MODE_PREFIX = "SEARCH_MODE_"


def tool_specs(capabilities: CapabilitiesRecord) -> tuple[ToolSpec, ...]:
    """The rig's own tools, as far as the adapter can serve them, and the adapter's.

    Raises:
        ContractError: a tool of the adapter's breaks protocol §14.1.
    """
    own = [ToolSpec(SEARCH, TEXTS[SEARCH], _search_schema(capabilities))]
    if "retrieve" in capabilities.optional:
        handle = {"type": "string", "minLength": 1, "description": TEXTS["memory_retrieve.handle"]}
        own.append(ToolSpec(RETRIEVE, TEXTS[RETRIEVE], _object({"handle": handle}, "handle")))
    own.append(ToolSpec(CAPABILITIES, TEXTS[CAPABILITIES], _object({})))
    extra = tuple(map(_extra, capabilities.tools))
    names = [tool.name for tool in extra]
    if doubled := sorted({name for name in names if names.count(name) > 1 or name in _OWN}):
        message = f"tool names must be unique and none of the rig's, got {doubled} (protocol §14.1)"
        raise ContractError(message, where="rpc=Capabilities")
    return (*own, *extra)


def mode_names(capabilities: CapabilitiesRecord) -> dict[str, str]:
    """The declared modes: as a model names them → as the contract does."""
    return {mode.removeprefix(_MODE_PREFIX).lower(): mode for mode in capabilities.search_modes}


def _object(properties: Mapping[str, object], *required: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _search_schema(capabilities: CapabilitiesRecord) -> dict[str, object]:
    properties: dict[str, object] = {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": _LONGEST_QUERY,
            "description": TEXTS["memory_search.query"],
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": capabilities.max_results,
            "description": TEXTS["memory_search.limit"],
        },
    }
    if modes := list(mode_names(capabilities)):
        text = TEXTS["memory_search.mode"]
        properties["mode"] = {"type": "string", "enum": modes, "description": text}
    if fields := offered(capabilities.filter_fields):
        properties["filters"] = filters_schema(fields, TEXTS["memory_search.filters"])
    return _object(properties, "query")


def _extra(tool: ToolRecord) -> ToolSpec:
    where = "rpc=Capabilities"
    if not _NAME.fullmatch(tool.name) or not tool.description:
        message = (
            f"tool {tool.name!r} needs a name of [A-Za-z0-9_-] and a description (protocol §14.1)"
        )
        raise ContractError(message, where=where)
    try:
        schema = json.loads(tool.input_schema)
        Draft202012Validator.check_schema(schema)
    except (ValueError, RecursionError, SchemaError) as error:
        told = error.message if isinstance(error, SchemaError) else str(error)
        message = f"input_schema_json of tool {tool.name!r} is no JSON Schema: {told:.200}"
        raise ContractError(f"{message} (protocol §14.1)", where=where) from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        message = f"input_schema_json of tool {tool.name!r} is not of type object (protocol §14.1)"
        raise ContractError(message, where=where)
    return ToolSpec(tool.name, tool.description, schema)


def problem_with(arguments: object, tool: ToolSpec) -> str:
    """What is wrong with a tool's arguments, by its schema; empty where nothing is.

    A schema may refer to itself, but not to anything outside: nothing is fetched.
    """
    validator = Draft202012Validator(tool.schema, registry=Registry())
    try:
        found = best_match(validator.iter_errors(arguments))
    except (Unresolvable, RecursionError) as error:
        raise ContractError(
            f"the schema of tool {tool.name!r} cannot be applied: {error!s:.200} (protocol §14.1)",
            where="rpc=Capabilities",
        ) from error
    if found is None:
        return ""
    place = ".".join(map(str, found.absolute_path))
    return f"{place}: {found.message}" if place else found.message
