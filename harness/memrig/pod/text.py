"""Text that comes out of a pod, made safe to show."""

import re
import unicodedata

#: The 7-bit control sequences of ECMA-48, and their 8-bit forms as code points: strings (DCS, SOS,
#: OSC, PM, APC) up to their terminator, CSI, and short escapes. An unterminated string ends at the
#: end of its line, so that one stray introducer cannot swallow a log.
_SEQUENCE = re.compile(
    r"(?:\x1b[PX\]^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|(?=\n)|$|(?=\x1b))"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)

#: Cc: control characters. Cf: invisible format characters, the ones that turn the reading direction
#: included. Cs: lone surrogates. Zl, Zp: line breaks that a terminal does not count as such.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KEPT = frozenset("\n\t")


def plain_text(text: str) -> str:
    """The text without anything that could move a cursor, recolour, retitle or reorder it.

    Newlines and tabs stay; a carriage return, with or without a newline, becomes a newline.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCE.sub("", text)
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in _HIDDEN)


def last_lines(text: str, lines: int) -> str:
    """The last `lines` lines."""
    return "\n".join(text.splitlines()[-lines:]) if lines > 0 else ""
