"""A run's questions: filtered, a page at a time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memrig.grading.base import Grade
from memrig.report.scores import score_of
from memrig.report.text import question_name
from memrig.report.units import count
from memrig.runs.directory import RunDirectory
from memrig.viewer import links
from memrig.viewer.marks import KINDS, WORDS, mark_of
from memrig.viewer.parts import Badge, Choice, Paged, named, paged
from memrig.viewer.scenarios import Texts
from memrig.viewer.shelf import Shelf

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One question in a list."""

    href: str
    text: str
    name: str
    where: str
    badges: tuple[Badge, ...]


@dataclass(frozen=True, slots=True)
class QuestionsPage:
    """The list of a run's graded questions. `graded` is False where nothing was graded yet."""

    rows: Paged[Row]
    kinds: tuple[Choice, ...]
    categories: tuple[Choice, ...]
    graded: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """What is wanted; empty: all."""

    category: str = ""
    how: str = ""

    def takes(self, grade: Grade) -> bool:
        """Whether a question is wanted."""
        if self.category and self.category not in {grade.category, *grade.tags}:
            return False
        return not self.how or mark_of(grade).kind == self.how


def questions_page(
    shelf: Shelf, texts: Texts, key: str, wanted: Filter, page: int
) -> QuestionsPage:
    """The questions that a filter leaves, in the order of the grades.

    Raises:
        UsageError: there is no such run, or its grades are of another version.
    """
    directory = shelf.run(key)
    grades = shelf.grades(directory)
    chosen = [grade for grade in grades if wanted.takes(grade)]

    def href(number: int) -> str:
        values = {"category": wanted.category, "how": wanted.how}
        return links.questions(key, **values, page=str(number) if number > 1 else "")

    part = paged(chosen, page, _PAGE, href)
    rows = tuple(rows_of(shelf, texts, key, directory, part.items))
    return QuestionsPage(
        rows=Paged(rows, part.page, part.pages, part.total, part.before, part.after),
        kinds=tuple(_kinds(key, grades, wanted)),
        categories=tuple(_categories(key, grades, wanted)),
        graded=bool(grades),
    )


def rows_of(
    shelf: Shelf, texts: Texts, key: str, directory: RunDirectory, grades: Sequence[Grade]
) -> Iterator[Row]:
    """Grades as rows, each with its question's words."""
    several = len({grade.scenario_id for grade in grades}) > 1
    for grade in grades:
        spec = shelf.spec(directory, grade.trial_id)
        asked = texts.question(directory, spec, grade.scenario_id, grade.question_id)
        places = [named(grade.category), grade.scenario_id if several else ""]
        places += [f"seed {grade.seed}", f"repeat {grade.repeat}" if grade.repeat else ""]
        yield Row(
            href=links.question(key, grade.trial_id, grade.scenario_id, grade.question_id),
            text=asked.text if asked else "(its words are gone: the scenario is missing)",
            name=question_name(grade.scenario_id, grade.question_id),
            where=" · ".join(dict.fromkeys(filter(None, places))),
            badges=tuple(_badges(grade)),
        )


def _badges(grade: Grade) -> Iterator[Badge]:
    yield mark_of(grade).badge
    if score_of(grade) is not None and grade.rank is not None:
        yield Badge(f"evidence at rank {grade.rank}")
    if grade.outcome in {"abstained", "budget_exceeded"}:
        yield Badge(grade.outcome.replace("_", " "), "warn")


def _kinds(key: str, grades: Sequence[Grade], wanted: Filter) -> Iterator[Choice]:
    pool = [grade for grade in grades if Filter(wanted.category).takes(grade)]
    found = Counter(mark_of(grade).kind for grade in pool)
    by_rank = all(score_of(grade) is None for grade in pool)
    href = partial(links.questions, key, category=wanted.category)
    yield Choice("all", href(), count(len(pool)), not wanted.how)
    for kind in KINDS:
        if found[kind] or kind == wanted.how:
            text = WORDS[kind][by_rank]
            yield Choice(text, href(how=kind), count(found[kind]), kind == wanted.how)


def _categories(key: str, grades: Sequence[Grade], wanted: Filter) -> Iterator[Choice]:
    pool = [grade for grade in grades if Filter(how=wanted.how).takes(grade)]
    names = _names(grades)
    if len(names) < 2:
        return
    href: Callable[..., str] = partial(links.questions, key, how=wanted.how)
    yield Choice("every category", href(), count(len(pool)), not wanted.category)
    for name in names:
        n = sum(Filter(name).takes(grade) for grade in pool)
        yield Choice(named(name), href(category=name), count(n), name == wanted.category)


def _names(grades: Iterable[Grade]) -> list[str]:
    """Categories, then the tags that cut across them."""
    categories: dict[str, None] = {}
    tags: dict[str, None] = {}
    for grade in grades:
        categories[grade.category] = None
        tags.update(dict.fromkeys(grade.tags))
    return [*sorted(categories), *sorted(tag for tag in tags if tag not in categories)]
