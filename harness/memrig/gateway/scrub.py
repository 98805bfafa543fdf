"""Keeps keys out of everything that is shown or written."""

import re
from collections.abc import Iterable

from pydantic import SecretStr

HIDDEN = "[key]"
#: A shorter key is a dummy, such as "none" or "EMPTY": replacing it would corrupt replies.
SHORTEST_SECRET = 12
#: Keys as the known providers make them: one that is not ours is none of anybody's business too.
_LIKELY = re.compile(r"\bsk-[A-Za-z0-9_*-]{6,}")


class Scrubber:
    """Replaces keys by a mark.

    Args:
        keys: every key that the gateway holds; those under `SHORTEST_SECRET` are no secrets.
    """

    def __init__(self, keys: Iterable[SecretStr]) -> None:
        values = {key.get_secret_value() for key in keys}
        secrets = (value for value in values if len(value) >= SHORTEST_SECRET)
        # The longest first: one may be part of another.
        self._texts = sorted(secrets, key=len, reverse=True)
        self._data = [text.encode() for text in self._texts]

    def text(self, text: str) -> str:
        """An error's text without keys, ours or likely ones."""
        for key in self._texts:
            text = text.replace(key, HIDDEN)
        return _LIKELY.sub(HIDDEN, text)

    def data(self, data: bytes) -> bytes:
        """A reply without our keys; it is left as it is otherwise."""
        for key in self._data:
            if key in data:
                data = data.replace(key, HIDDEN.encode())
        return data
