"""The project's own source, for the tests that hold it to its rules."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HARNESS = ROOT / "harness" / "memrig"
ADAPTERS = ROOT / "adapters" / "memrig_adapters"
#: Written by the generator; nobody's style.
GENERATED = ROOT / "proto" / "python" / "memrig_proto" / "v1"


@dataclass(frozen=True, slots=True)
class Import:
    """A module that is imported somewhere: its whole name, and where."""

    name: str
    place: str


@cache
def tree_of(path: Path) -> ast.Module:
    """A parsed module."""
    return ast.parse(path.read_text("utf-8"), str(path))


def modules(folder: Path) -> list[Path]:
    """Every Python module below a folder."""
    return sorted(p for p in folder.rglob("*.py") if GENERATED not in p.parents)


def imports(path: Path) -> Iterator[Import]:
    """Everything that a module imports, at the top or inside functions, for types or for use."""
    place = path.relative_to(ROOT)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, f"{place}:{node.lineno}")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = path.parents[node.level - 1].relative_to(ROOT / "harness")
                base = ".".join([*parent.parts, *([base] if base else [])])
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", f"{place}:{node.lineno}")


def tracked() -> list[Path]:
    """Every file of the project: what git knows, or all there is where there is no git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [p for p in ROOT.rglob("*") if not any(q.startswith(".venv") for q in p.parts)]
    return [path for path in paths if path.is_file()]
