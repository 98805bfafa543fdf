"""Porter's stemmer, as NLTK has it."""

from functools import cache
from importlib import import_module
from typing import Protocol


class Stemmer(Protocol):
    """What is used of NLTK's class."""

    def stem(self, word: str) -> str:
        """A word's stem, lower case."""


@cache
def porter() -> Stemmer:
    """The one stemmer of the graders (Porter 1980, with NLTK's extensions)."""
    # Loaded at the first word: the package brings scipy along, half of what a command loads.
    stemmer: Stemmer = import_module("nltk.stem.porter").PorterStemmer()
    return stemmer
