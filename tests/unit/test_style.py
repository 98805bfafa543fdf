"""The limits of style.md, where a linter does not hold them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.source import ADAPTERS, GENERATED, HARNESS, ROOT, modules, tracked, tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef

LONGEST_FUNCTION = 60
LONGEST_MODULE = 500
LONGEST_COMMAND = 15

FOLDERS = [HARNESS, ADAPTERS, ROOT / "proto", ROOT / "images", ROOT / "tests", ROOT / "benchmarks"]
SOURCE = [path for folder in FOLDERS for path in modules(folder)]

#: Folders of one machine, without their first slash, so that this file names none. `app` is the
#: user of many an image.
_HOMES = "work/(?:main|shared)|root/|home/(?!app\\b)[a-z]|Users/[A-Za-z]|tmp/dk"
MACHINE = re.compile(rf"(?<![\w.$}}/-])/(?:{_HOMES})")


def functions(path: Path) -> Iterator[Function]:
    """Every function of a module, methods and inner ones too."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def named(path: Path, node: Function) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def length(node: Function) -> int:
    """Lines from `def` to the end."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def body_length(node: Function) -> int:
    """Lines of the body, without the docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_the_source_is_found():
    """The limits are held against something."""
    assert len(SOURCE) > 100


def test_no_function_is_longer_than_60_lines():
    """What is longer does two things."""
    long = [f"{named(p, f)}: {length(f)} lines" for p in SOURCE for f in functions(p)
            if length(f) > LONGEST_FUNCTION]  # fmt: skip
    assert long == []


def test_no_module_is_longer_than_500_lines():
    """What is longer is two modules."""
    lengths = {p.relative_to(ROOT): len(p.read_text("utf-8").splitlines()) for p in SOURCE}
    assert {p: n for p, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_a_command_parses_calls_one_function_and_renders():
    """At most 15 lines of code; its flags are its signature."""
    long = [
        f"{named(path, function)}: {body_length(function)} lines"
        for path in modules(HARNESS / "cli")
        for function in functions(path)
        if any("command" in ast.unparse(d) or "callback" in ast.unparse(d)
               for d in function.decorator_list)
        and body_length(function) > LONGEST_COMMAND
    ]  # fmt: skip
    assert long == []


def test_every_test_says_what_it_proves():
    """Its docstring is the sentence of the spec."""
    silent = [
        named(path, function)
        for path in modules(ROOT / "tests")
        for function in functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_no_exception_is_swallowed_without_a_word():
    """`except Exception: pass` hides what it met."""
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
        and all(isinstance(statement, ast.Pass) for statement in node.body)
    ]
    assert bare == []


def test_no_file_names_a_folder_of_one_machine():
    """What is published works elsewhere."""
    found = []
    for path in tracked():
        if GENERATED in path.parents or b"\0" in (data := path.read_bytes()):
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert found == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /" + "work/main/x", True),
        ('"/' + 'root/.cache"', True),
        ("/" + "home/ada/x", True),
        ("the /" + "worker node", False),
        ("$HOME/" + "work/main", False),
        ("path/" + "home/x", False),
    ],
)
def test_such_a_folder_is_recognised(text, expected):
    """The rule bites, and only where it should."""
    assert bool(MACHINE.search(text)) is expected
