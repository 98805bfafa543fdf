"""The published JSON Schemas; `make schema` writes them, a test catches drift."""

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from memrig.report.compare_model import Comparison
from memrig.report.model import Report


def report_schema() -> str:
    """That of `report.json`, as it is committed below docs/schema."""
    return _published(Report, "report")


def compare_schema() -> str:
    """That of `memrig compare --json`."""
    return _published(Comparison, "compare")


def _published(model: type[BaseModel], name: str) -> str:
    schema = model.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = f"urn:memrig:{name}:1"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main() -> None:
    """Writes every published schema into the folder that is given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.schema.json").write_text(report_schema(), "utf-8")
    (folder / "compare.schema.json").write_text(compare_schema(), "utf-8")


if __name__ == "__main__":
    main()
