"""The published JSON Schema of `board.json`; `make schema` writes it, a test catches drift."""

import json
import sys
from pathlib import Path

from memrig.leaderboard.model import Board


def board_schema() -> str:
    """That of `board.json`, as it is committed below docs/schema."""
    schema = Board.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = "urn:memrig:board:1"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main() -> None:
    """Writes it into the folder that is given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "board.schema.json").write_text(board_schema(), "utf-8")


if __name__ == "__main__":
    main()
