"""How a check says what it found, short of passing."""

from typing import NoReturn

from memrig.pod.text import plain_text

_MAX_SHOWN = 300


class Violation(Exception):  # noqa: N818 - a verdict on the adapter, not an error of the rig
    """The adapter breaks the rule."""

    def __init__(self, message: str, *, expected: object = "", got: object = "") -> None:
        self.message = show(message)
        self.expected = show(expected)
        self.got = show(got)
        super().__init__(message)


class NotApplicable(Exception):  # noqa: N818 - likewise
    """The rule says nothing about this adapter; the message says why."""


def require(condition: object, message: str, *, expected: object = "", got: object = "") -> None:
    """Raises `Violation` unless the condition holds."""
    if not condition:
        fail(message, expected=expected, got=got)


def fail(message: str, *, expected: object = "", got: object = "") -> NoReturn:
    """Raises `Violation`."""
    raise Violation(message, expected=expected, got=got)


def show(value: object) -> str:
    """A value as one short line without control characters."""
    text = value if isinstance(value, str) else repr(value)
    line = " ".join(plain_text(text).split())
    return line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}…"
