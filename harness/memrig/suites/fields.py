"""Reading parsed JSON field by field: what is not as it must be is refused by its place."""

from typing import TypeVar

from memrig.errors import DataError
from memrig.suites.checks import check_text

T = TypeVar("T")


def expect(value: object, kind: type[T], where: str) -> T:
    """The value, if it is of this kind; true and false are no numbers.

    Raises:
        DataError: it is not, or it is text that cannot be written as UTF-8.
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        got = "nothing" if value is None else f"{type(value).__name__} {value!r:.60}"
        raise DataError(f"expected {kind.__name__}, got {got}", where=where)
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
        raise DataError("is empty", where=where)
    return text


def texts(value: object, where: str) -> list[str]:
    """The value, if it is a list of texts.

    Raises:
        DataError: it is not.
    """
    return [expect(e, str, f"{where}[{n}]") for n, e in enumerate(expect(value, list, where))]
