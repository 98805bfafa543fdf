"""`local/hash-embed`: a text as a vector of its hashed words and letter groups.

Feature hashing after Weinberger et al. (2009): each feature adds a signed whole number at a place
that its hash names. Sums are whole and the norm is rounded once, so that every platform and every
Python gives the same bits. No meaning is learned: texts are near when they share words.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from memrig.gateway.local.text import STOP

DIMENSIONS = 384
#: Words count most; pairs carry order, letter groups carry endings and misspellings.
_WORD, _STOP_WORD, _PAIR, _LETTERS = 8, 1, 3, 3
_MOST = 3  #: a word that is repeated counts this often
_GROUP = 4
#: Letters and digits of ASCII, or anything beyond it: no table of Unicode that changes with Python.
_TOKEN = re.compile(r"[a-z0-9]+|[^\x00-\x7f]+")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def embed(texts: Sequence[str | Sequence[int]], dimensions: int) -> npt.NDArray[np.float32]:
    """One unit vector a text (or list of token numbers): float32 [texts, dimensions]."""
    return np.stack([_vector(text, dimensions) for text in texts])


def _vector(text: str | Sequence[int], dimensions: int) -> npt.NDArray[np.float32]:
    sums = [0] * dimensions
    for feature, weight in _features(text):
        value = _hash(feature)
        sums[(value >> 1) % dimensions] += weight if value & 1 else -weight
    if not any(sums):  # every feature met another that undid it, or there was none
        sums[_hash(repr(text)) % dimensions] = 1
    norm = math.sqrt(sum(value * value for value in sums))
    return np.array([value / norm for value in sums], dtype=np.float32)


def _features(text: str | Sequence[int]) -> Iterator[tuple[str, int]]:
    found = text.translate(_LOWER) if isinstance(text, str) else ""
    tokens = _TOKEN.findall(found) if isinstance(text, str) else [f"#{number}" for number in text]
    for token, count in Counter(tokens).items():
        times = min(count, _MOST)
        yield f"w {token}", times * (_STOP_WORD if token in STOP else _WORD)
        if token not in STOP and len(token) > _GROUP:
            padded = f"<{token}>"
            for start in range(len(padded) - _GROUP + 1):
                yield f"l {padded[start : start + _GROUP]}", times * _LETTERS
    for pair in dict.fromkeys(pairwise(tokens)):
        yield f"p {pair[0]} {pair[1]}", _PAIR


@lru_cache(maxsize=200_000)
def _hash(feature: str) -> int:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
