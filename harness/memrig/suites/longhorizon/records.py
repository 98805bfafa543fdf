"""The lines of a world's three files; their published JSON Schemas are made from these models.

``python -m memrig.suites.longhorizon.records docs/schema`` writes the schemas; tests catch drift.
"""

import json
import sys
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from memrig.suites.longhorizon.model import Block, EventKind, Reliability
from memrig.suites.longhorizon.questions import WorldQuestion

_TURN_ID = r"^t[0-9]{6}$"
_ENTITY = r"^[a-z]+/[a-z0-9-]+$"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TurnRecord(_Frozen):
    """A line of `turns.jsonl`; docs/formats.md explains every field."""

    turn_id: str = Field(pattern=_TURN_ID)
    index: int = Field(ge=0)
    block: Block
    speaker: str = Field(min_length=1)
    told_at: str = Field(pattern=r"^[0-9-]{10}T[0-9:]{8}Z$")
    text: str = Field(min_length=1)
    events: tuple[int, ...]


class EventRecord(_Frozen):
    """A line of `events.jsonl`; docs/formats.md explains every field."""

    event_id: int = Field(ge=0)
    turn: int = Field(ge=0)
    entity: str = Field(pattern=_ENTITY)
    attribute: str
    kind: EventKind
    value: str = Field(min_length=1)
    unit: str
    valid_from: str = Field(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")
    source: str = Field(min_length=1)
    reliability: Reliability
    supersedes: int | None
    refers_to: int | None
    turn_id: str = Field(pattern=_TURN_ID)
    entity_name: str = Field(min_length=1)
    holdout: bool


#: By the name of the file without its ending.
RECORDS: dict[str, type[BaseModel]] = {
    "turns": TurnRecord,
    "events": EventRecord,
    "questions": WorldQuestion,
}


def schema_of(name: str) -> str:
    """The JSON Schema of a line of ``<name>.jsonl``, as it is committed below docs/schema."""
    schema = RECORDS[name].model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = f"urn:memrig:longhorizon-{name}:1"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def file_of(name: str) -> str:
    """The name of that schema's file."""
    return f"longhorizon-{name}.schema.json"


def main() -> None:
    """Writes the three schemas into the folder that is given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in RECORDS:
        (folder / file_of(name)).write_text(schema_of(name), "utf-8")


if __name__ == "__main__":
    main()
