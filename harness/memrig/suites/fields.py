"""Reading JSON field by field: what is not as it must be is refused by its place."""

import json
from pathlib import Path
from typing import TypeVar

from memrig.errors import DataError
from memrig.suites.checks import check_text

T = TypeVar("T")

#: No format nests deeper than a tenth of it; what does is made to exhaust a reader.
DEEPEST = 64
_WORDS = {
    str: "text",
    dict: "a JSON object",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
}


def parsed(data: bytes, where: str, fix: str = "repair it, or give another file") -> object:
    """The value of a JSON text.

    Raises:
        DataError: it is not JSON, or nested deeper than any format.
    """
    try:
        value: object = json.loads(data)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"is not JSON: {error}", where=where, fix=fix) from error
    except ValueError as error:  # Python's limit, and a way to lift it, which is no use here
        message = "holds a whole number of thousands of digits"
        raise DataError(message, where=where, fix=fix) from error
    except RecursionError as error:
        raise too_deep(where) from error
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise too_deep(where)
    return value


def _inside(value: object) -> list[object]:
    """The lists and objects right inside a value."""
    if isinstance(value, dict):
        value = list(value.values())
    return [v for v in value if isinstance(v, dict | list)] if isinstance(value, list) else []


def too_deep(where: str) -> DataError:
    """That something is nested deeper than any format."""
    message = f"lists and objects are nested deeper than {DEEPEST} levels"
    return DataError(message, where=where, fix="no format of memrig's needs ten: repair the file")


def unreadable(path: Path, error: OSError, where: str = "") -> DataError:
    """That a file cannot be read, with what to give instead.

    Args:
        path: the file.
        error: why not.
        where: the flag that names it, where that is known.
    """
    fix = "give a path that exists"
    if isinstance(error, IsADirectoryError):
        fix = "it is a folder: give a file"
    elif isinstance(error, PermissionError):
        fix = f"make it readable: chmod u+r {path}"
    return DataError(f"cannot be read ({error.strerror})", where=where or str(path), fix=fix)


def check_is_file(path: Path, where: str) -> None:
    """Refuses a path with nothing at it, and a folder.

    Raises:
        DataError: it is no file.
    """
    if path.is_dir():
        raise DataError("is a folder", where=where, fix="give a file in it")
    if not path.is_file():
        raise DataError("there is no such file", where=where, fix="give a path that exists")


def expect(value: object, kind: type[T], where: str, fix: str = "") -> T:
    """The value, if it is of this kind; true and false are no numbers.

    Args:
        value: as it was parsed.
        kind: what it must be.
        where: its place.
        fix: the next step; without one, to put such a value there.

    Raises:
        DataError: it is not, or it is text that cannot be written as UTF-8.
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        got = "nothing" if value is None else f"{type(value).__name__} {value!r:.60}"
        fix = fix or f"put {_WORDS[kind]} there"
        raise DataError(f"expected {kind.__name__}, got {got}", where=where, fix=fix)
    if isinstance(value, str):
        check_text(value, where)
    return value


def some_text(value: object, where: str) -> str:
    """The value, if it is text with something in it.

    Raises:
        DataError: it is not.
    """
    text = expect(value, str, where)
    if not text.strip():
        raise DataError("is empty", where=where, fix="put text there")
    return text


def texts(value: object, where: str) -> list[str]:
    """The value, if it is a list of texts.

    Raises:
        DataError: it is not.
    """
    return [expect(e, str, f"{where}[{n}]") for n, e in enumerate(expect(value, list, where))]
