"""The house of architecture.md §1: who may import whom."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.source import ADAPTERS, HARNESS, ROOT, Import, imports, modules, tree_of

_BELOW_TRIAL = {"model", "suites", "pod", "client", "gateway"}
_BELOW_RUNS = {*_BELOW_TRIAL, "answering", "trial", "judging"}
#: The terminal shows what commands return, images and conformance results too.
_BELOW_REPORT = {*_BELOW_RUNS, "runs", "grading", "stats", "conformance"} - {"gateway", "answering"}
_EVERYTHING = {
    *_BELOW_RUNS,
    *_BELOW_REPORT,
    *("generation", "report", "submission", "leaderboard", "viewer"),
}

#: model ← {suites, pod, client, gateway} ← answering ← trial ← runs ← cli, and
#: model ← grading ← {judging, stats ← report, submission} ← cli: a plan names its grader, and a run
#: has its trials judged. `errors` and `_version` are below all.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "_version": set(),
    "model": set(),
    "suites": {"model"},
    "pod": {"model"},
    "client": {"model"},
    "gateway": {"model"},
    "answering": {"model"},
    "trial": {*_BELOW_TRIAL, "answering"},
    "judging": {"model", "grading"},
    "runs": {*_BELOW_RUNS, "grading"},
    "grading": {"model"},
    "stats": {"model", "grading"},
    "generation": {"model", "suites", "grading"},
    "report": _BELOW_REPORT,
    "submission": {*_BELOW_REPORT, "gateway", "answering", "report"},
    "leaderboard": {*_BELOW_REPORT, "report", "submission"},
    "viewer": {*_BELOW_REPORT, "gateway", "report"},
    "conformance": {"client", "pod", "model"},
    "doctor": {"pod", "suites", "model"},
    "kit": {"pod", "model"},
    "generate": {"model", "suites", "gateway", "trial", "runs", "generation"},
    "api": _EVERYTHING,
    "cli": {*_EVERYTHING, "api", "generate", "doctor", "kit"},
}
LOWEST = {"errors", "_version"}

#: Heavy or telling libraries, each at home in one package.
HOMES = {
    "docker": {"pod"},
    "anthropic": {"gateway"},
    "openai": {"gateway"},
    "nacl": {"submission"},
    "starlette": {"gateway", "viewer"},
    "uvicorn": {"gateway", "viewer"},
    "nltk": {"gateway", "grading"},
    "typer": {"cli"},
    "rich": {"report"},
    "scipy": {"stats"},
    "jinja2": {"report"},
    "yaml": {"generation"},
}


def package_of(path: Path) -> str:
    """The first name below `memrig`."""
    first = path.relative_to(HARNESS).parts[0]
    return first.removesuffix(".py")


def harness_modules() -> list[Path]:
    """All but the package's own face, which loads names of everybody lazily."""
    return [path for path in modules(HARNESS) if path != HARNESS / "__init__.py"]


def crossings() -> Iterator[tuple[str, str, str]]:
    """Every import of one package by another: who, whom, where."""
    for path in harness_modules():
        for found in imports(path):
            parts = found.name.split(".")
            if parts[0] == "memrig" and len(parts) > 1:
                yield package_of(path), parts[1], found.place


def imported(folder: Path) -> list[Import]:
    """All imports below a folder."""
    return [found for path in modules(folder) for found in imports(path)]


def test_every_package_has_a_place_in_the_house():
    """A new package gets its arrows here first."""
    assert {package_of(path) for path in harness_modules()} <= set(MAY_IMPORT)


def test_the_arrows_have_no_circle():
    """What may import each other is one package."""
    order: list[str] = []
    waiting = {name: below - {name} for name, below in MAY_IMPORT.items()}
    while waiting:
        ready = [name for name, below in waiting.items() if below <= set(order)]
        assert ready, f"a circle among {sorted(waiting)}"
        order += ready
        for name in ready:
            del waiting[name]


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_a_package_imports_only_what_is_below_it(package):
    """If a change needs an arrow turned round, the shape is wrong."""
    allowed = MAY_IMPORT[package] | LOWEST | {package}
    if package in LOWEST:
        allowed = {package}
    version = {"__version__"}  # `from memrig import api` names a package, this one a value
    wrong = [
        f"{place}: {who} imports {whom}"
        for who, whom, place in crossings()
        if who == package and whom not in allowed | version
    ]
    assert wrong == []


def test_the_crossings_are_seen():
    """The rules above look at something."""
    found = {(who, whom) for who, whom, _ in crossings()}
    assert {("trial", "client"), ("runs", "trial"), ("stats", "grading")} <= found
    assert len(found) > 25


def test_the_harness_never_imports_the_adapters():
    """It speaks to them through the contract alone."""
    assert [f for f in imported(HARNESS) if f.name.split(".")[0] == "memrig_adapters"] == []


def test_the_adapters_never_import_the_harness():
    """A vendor's image does not carry it."""
    assert [f for f in imported(ADAPTERS) if f.name.split(".")[0] == "memrig"] == []


def test_the_contract_imports_neither():
    """Both sides depend on it."""
    found = imported(ROOT / "proto" / "python")
    assert [f for f in found if f.name.split(".")[0] in {"memrig", "memrig_adapters"}] == []


def test_the_adapters_core_needs_grpc_and_protobuf_only():
    """What else an adapter needs is an extra, imported where it is used."""
    known = {"grpc", "grpc_health", "google", "memrig_proto", "memrig_adapters"}
    extras = {
        "bm25.py": {"bm25s", "numpy", "Stemmer"},
        "dense.py": {"numpy"},
        "ranking.py": {"numpy"},
        "vectors.py": {"numpy"},
        "embedder.py": {"numpy"},
        "minilm.py": {"numpy", "onnxruntime", "tokenizers"},
    }
    foreign = [
        found
        for path in modules(ADAPTERS)
        for found in imports(path)
        if not _standard(found.name) and found.name.split(".")[0] not in known
        and found.name.split(".")[0] not in extras.get(path.name, set())
    ]  # fmt: skip
    assert foreign == []


def _standard(name: str) -> bool:
    import sys

    return name.split(".", maxsplit=1)[0] in sys.stdlib_module_names


@pytest.mark.parametrize("library", sorted(HOMES))
def test_a_library_is_imported_by_one_package_alone(library):
    """Replacing it means one package."""
    wrong = [
        found.place
        for path in harness_modules()
        for found in imports(path)
        if found.name.split(".")[0] == library and package_of(path) not in HOMES[library]
    ]
    assert wrong == []


def test_nothing_below_cli_and_report_prints():
    """Text goes through who asked for it."""
    import ast

    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in harness_modules()
        if package_of(path) not in {"cli", "report"}
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert wrong == []


def test_grading_needs_no_container_and_no_network():
    """It is pure: transcripts and gold in, grades out."""
    banned = {"grpc", "docker", "socket", "asyncio", "subprocess", "urllib", "http", "requests"}
    found = [f for name in ("grading", "stats", "model") for f in imported(HARNESS / name)]
    assert [f for f in found if f.name.split(".")[0] in banned] == []
