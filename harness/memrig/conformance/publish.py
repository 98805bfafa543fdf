"""What is published of the checks: the table in docs/conformance.md, and the report's JSON Schema.

``python -m memrig.conformance.publish docs`` writes both; tests catch drift.
"""

import json
import sys
from pathlib import Path

from memrig.conformance.catalogue import CHECKS
from memrig.conformance.check import Check
from memrig.conformance.model import ConformanceReport

PAGE = "conformance.md"
SCHEMA = "schema/conformance.schema.json"
_BEGIN = "<!-- checks: written by python -m memrig.conformance.publish docs -->\n"
_END = "<!-- /checks -->\n"


def conformance_schema() -> str:
    """The JSON Schema of a conformance report, as it is committed below docs/schema."""
    schema = ConformanceReport.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = "urn:memrig:conformance:1"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def checks_table() -> str:
    """All checks as a Markdown table."""
    head = "| check | what must be | why | spec | asked |\n|---|---|---|---|---|\n"
    return head + "".join(_row(check) for check in CHECKS)


def with_table(page: str) -> str:
    """The page with its table written anew.

    Raises:
        ValueError: the page has no place for the table.
    """
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{PAGE} lacks {_BEGIN.strip()} … {_END.strip()}")
    return f"{before}{begin}{checks_table()}{end}{after}"


def _row(check: Check) -> str:
    otherwise = check.condition.otherwise
    asked = ["only with `--slow`"] if check.slow else []
    asked += [f"unless {otherwise}"] if otherwise else []
    cells = (
        f"`{check.id}`",
        check.title,
        check.reason,
        f"[{check.spec}](protocol.md)",
        "; ".join(asked) or "always",
    )
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    """Writes the table and the schema into the docs folder that is given."""
    docs = Path(sys.argv[1])
    page = docs / PAGE
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")
    (docs / SCHEMA).write_text(conformance_schema(), "utf-8")


if __name__ == "__main__":
    main()
