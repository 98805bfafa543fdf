"""A name and its value, as tables of facts hold them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A name and what it stands for."""

    name: str
    value: str
    note: str = ""
