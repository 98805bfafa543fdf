"""Small things that several pages are made of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memrig.report.text import one_line
from memrig.report.units import count

T = TypeVar("T")
U = TypeVar("U")

_NAME = 80


@dataclass(frozen=True, slots=True)
class Badge:
    """A word on a coloured ground: good, warn, bad, or none of these."""

    text: str
    kind: str = ""


def named(text: str) -> str:
    """A name that others gave, on one line and no longer than names are."""
    return one_line(text, _NAME)


@dataclass(frozen=True, slots=True)
class Bar:
    """How much of something is done."""

    name: str
    done: int
    of: int

    @property
    def words(self) -> str:
        """``12 of 144``."""
        return f"{count(self.done)} of {count(self.of)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter that can be chosen, and how many it leaves."""

    text: str
    href: str
    n: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """A part of a long list, and the ways to the parts before and after it."""

    items: tuple[T, ...]
    page: int
    pages: int
    total: int
    before: str
    after: str

    @property
    def words(self) -> str:
        """``page 2 of 7``; empty where one page holds all."""
        return f"page {count(self.page)} of {count(self.pages)}" if self.pages > 1 else ""

    def holding(self, items: Iterable[U]) -> "Paged[U]":
        """The same part, shown as something else."""
        whole = self.page, self.pages, self.total, self.before, self.after
        return Paged(tuple(items), *whole)


def paged(items: Sequence[T], page: int, size: int, href: Callable[[int], str]) -> Paged[T]:
    """One page of a list; a page that is not there is the nearest one that is.

    Args:
        items: all of them.
        page: which, from 1.
        size: how many stand on a page.
        href: the address of a page.
    """
    pages = max(1, -(-len(items) // size))
    page = min(max(1, page), pages)
    first = (page - 1) * size
    return Paged(
        items=tuple(items[first : first + size]),
        page=page,
        pages=pages,
        total=len(items),
        before=href(page - 1) if page > 1 else "",
        after=href(page + 1) if page < pages else "",
    )
