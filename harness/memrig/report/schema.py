"""The published JSON Schema of `report.json`; `make schema` writes it, a test catches drift."""

import json
import sys
from pathlib import Path

from memrig.report.model import Report


def report_schema() -> str:
    """The schema as it is committed below docs/schema."""
    schema = Report.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = "urn:memrig:report:1"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main() -> None:
    """Writes every published schema into the folder that is given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.schema.json").write_text(report_schema(), "utf-8")


if __name__ == "__main__":
    main()
