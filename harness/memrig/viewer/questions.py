"""A run's questions: filtered, a page at a time, and one after the other."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from memrig.errors import MemrigError, UsageError
from memrig.grading.base import Grade
from memrig.report.scores import score_of
from memrig.report.text import question_name
from memrig.report.units import count
from memrig.runs.directory import RunDirectory
from memrig.viewer import links
from memrig.viewer.marks import EVIDENCE, KINDS, WORDS, evidence_of, mark_of, standing_of
from memrig.viewer.parts import Badge, Choice, Paged, named, paged
from memrig.viewer.scenarios import Texts
from memrig.viewer.shelf import Shelf, ask_the_same

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
    evidence: tuple[Choice, ...]
    categories: tuple[Choice, ...]
    against: tuple[Choice, ...]
    other: str
    graded: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """What is wanted; empty: all. `against` is another run's key, and `than` worse or better."""

    category: str = ""
    how: str = ""
    evidence: str = ""
    against: str = ""
    than: str = ""

    @property
    def values(self) -> dict[str, str]:
        """What an address says of it."""
        return {name: value for name, value in asdict(self).items() if value}

    def takes(self, grade: Grade) -> bool:
        """Whether a question is wanted, whatever another run made of it."""
        if self.category and self.category not in {grade.category, *grade.tags}:
            return False
        if self.evidence and evidence_of(grade) != self.evidence:
            return False
        return not self.how or mark_of(grade).kind == self.how


#: No filter at all.
EVERY = Filter()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A question's neighbours in a filtered list, and the way back to it."""

    href: str
    words: str
    before: str
    after: str


def questions_page(
    shelf: Shelf, texts: Texts, key: str, wanted: Filter, page: int
) -> QuestionsPage:
    """The questions that a filter leaves, in the order of the grades.

    Raises:
        UsageError: there is no such run, or its grades are of another version.
    """
    directory = shelf.run(key)
    grades = shelf.grades(directory)
    pool = _against(shelf, key, wanted)
    chosen = [grade for grade in pool if wanted.takes(grade)]

    def href(number: int) -> str:
        return links.questions(key, **wanted.values, page=str(number) if number > 1 else "")

    part = paged(chosen, page, _PAGE, href)
    return QuestionsPage(
        rows=part.holding(rows_of(shelf, texts, key, directory, part.items, wanted)),
        kinds=tuple(_kinds(key, pool, wanted)),
        evidence=tuple(_evidence(key, pool, wanted)),
        categories=tuple(_categories(key, pool, wanted)),
        against=tuple(_others(shelf, key, wanted)),
        other=wanted.against,
        graded=bool(grades),
    )


def neighbours_of(
    shelf: Shelf, key: str, wanted: Filter, trial_id: str, scenario_id: str, question_id: str
) -> Neighbours | None:
    """Where a question stands in a filtered list; None where nothing is filtered, or it is not.

    Raises:
        UsageError: there is no such run, or its grades are of another version.
    """
    if not wanted.values:
        return None
    pool = _against(shelf, key, wanted)
    names = [(g.trial_id, g.scenario_id, g.question_id) for g in pool if wanted.takes(g)]
    name = trial_id, scenario_id, question_id
    if name not in names:
        return None
    at = names.index(name)

    def href(place: int) -> str:
        there = 0 <= place < len(names)
        return links.question(key, *names[place], **wanted.values) if there else ""

    words = f"{count(at + 1)} of {count(len(names))} in this list"
    return Neighbours(links.questions(key, **wanted.values), words, href(at - 1), href(at + 1))


def _against(shelf: Shelf, key: str, wanted: Filter) -> list[Grade]:
    """The grades that another run's are compared with: all, the worse or the better ones."""
    grades = shelf.grades(shelf.run(key))
    if not wanted.against or wanted.than not in {"worse", "better"}:
        return grades
    theirs = {_asked(grade): standing_of(grade) for grade in _theirs(shelf, key, wanted)}
    pairs = ((grade, standing_of(grade), theirs.get(_asked(grade))) for grade in grades)
    known = [(grade, mine, their) for grade, mine, their in pairs if None not in {mine, their}]
    if wanted.than == "worse":
        return [grade for grade, mine, their in known if (mine or 0) < (their or 0)]
    return [grade for grade, mine, their in known if (mine or 0) > (their or 0)]


def _theirs(shelf: Shelf, key: str, wanted: Filter) -> list[Grade]:
    mine, theirs = shelf.run(key), shelf.run(wanted.against)
    if not ask_the_same(shelf.lock(mine), shelf.lock(theirs)):
        raise UsageError("these two runs do not ask the same", where=f"{key}, {wanted.against}")
    return shelf.grades(theirs)


def _asked(grade: Grade) -> tuple[str, str, int, int]:
    """What two runs share where they asked the same."""
    return grade.scenario_id, grade.question_id, grade.seed, grade.repeat


def marks_of(shelf: Shelf, directory: RunDirectory, trial_id: str) -> dict[tuple[str, str], Badge]:
    """How a trial's questions went, by scenario and question, as far as that can be read."""
    try:
        grades = shelf.grades(directory)
    except MemrigError:
        return {}  # pages of questions say so; what happened can be seen without
    return {
        (grade.scenario_id, grade.question_id): mark_of(grade).badge
        for grade in grades
        if grade.trial_id == trial_id
    }


def rows_of(
    shelf: Shelf,
    texts: Texts,
    key: str,
    directory: RunDirectory,
    grades: Sequence[Grade],
    wanted: Filter = EVERY,
) -> Iterator[Row]:
    """Grades as rows, each with its question's words; their pages know the list by its filter."""
    several = len({grade.scenario_id for grade in grades}) > 1
    for grade in grades:
        spec = shelf.spec(directory, grade.trial_id)
        asked = texts.question(directory, spec, grade.scenario_id, grade.question_id)
        places = [named(grade.category), grade.scenario_id if several else ""]
        places += [f"seed {grade.seed}", f"repeat {grade.repeat}" if grade.repeat else ""]
        yield Row(
            href=links.question(
                key, grade.trial_id, grade.scenario_id, grade.question_id, **wanted.values
            ),
            text=asked.text if asked else "(its words are gone: the scenario is missing)",
            name=question_name(grade.scenario_id, grade.question_id),
            where=" · ".join(dict.fromkeys(filter(None, places))),
            badges=tuple(_badges(grade)),
        )


def _badges(grade: Grade) -> Iterator[Badge]:
    yield mark_of(grade).badge
    if score_of(grade) is not None:
        if grade.rank is not None:
            yield Badge(f"evidence at rank {grade.rank}")
        elif evidence_of(grade) == "missed":
            yield Badge(EVIDENCE["missed"], "bad")
    if grade.outcome in {"abstained", "budget_exceeded"}:
        yield Badge(grade.outcome.replace("_", " "), "warn")


def _kinds(key: str, grades: Sequence[Grade], wanted: Filter) -> Iterator[Choice]:
    free = replace(wanted, how="")
    pool = [grade for grade in grades if free.takes(grade)]
    found = Counter(mark_of(grade).kind for grade in pool)
    by_rank = all(score_of(grade) is None for grade in pool)
    href: Callable[..., str] = partial(links.questions, key, **free.values)
    yield Choice("all", href(), count(len(pool)), not wanted.how)
    for kind in KINDS:
        if found[kind] or kind == wanted.how:
            text = WORDS[kind][by_rank]
            yield Choice(text, href(how=kind), count(found[kind]), kind == wanted.how)


def _evidence(key: str, grades: Sequence[Grade], wanted: Filter) -> Iterator[Choice]:
    """Whether what was needed was found: it tells a memory's misses from a reader's."""
    if all(score_of(grade) is None for grade in grades) and not wanted.evidence:
        return  # where only ranks were graded, how they went says it
    free = replace(wanted, evidence="")
    pool = [grade for grade in grades if free.takes(grade)]
    found = Counter(map(evidence_of, pool))
    if not any(map(evidence_of, grades)) and not wanted.evidence:
        return
    href: Callable[..., str] = partial(links.questions, key, **free.values)
    yield Choice("either", href(), count(len(pool)), not wanted.evidence)
    for name, text in EVIDENCE.items():
        yield Choice(text, href(evidence=name), count(found[name]), name == wanted.evidence)


def _others(shelf: Shelf, key: str, wanted: Filter) -> Iterator[Choice]:
    """Those that went worse or better than in another run, where one was named."""
    if not wanted.against:
        return
    for than, text in (("", "all"), ("worse", "went worse"), ("better", "went better")):
        other = replace(wanted, than=than)
        pool = _against(shelf, key, other)
        n = sum(map(other.takes, pool))
        yield Choice(text, links.questions(key, **other.values), count(n), than == wanted.than)


def _categories(key: str, grades: Sequence[Grade], wanted: Filter) -> Iterator[Choice]:
    free = replace(wanted, category="")
    pool = [grade for grade in grades if free.takes(grade)]
    names = _names(grades)
    if len(names) < 2 and not wanted.category:
        return
    href: Callable[..., str] = partial(links.questions, key, **free.values)
    yield Choice("every category", href(), count(len(pool)), not wanted.category)
    for name in names:
        n = sum(Filter(name).takes(grade) for grade in pool)
        if n or name == wanted.category:
            yield Choice(named(name), href(category=name), count(n), name == wanted.category)


def _names(grades: Iterable[Grade]) -> list[str]:
    """Categories, then the tags that cut across them."""
    categories: dict[str, None] = {}
    tags: dict[str, None] = {}
    for grade in grades:
        categories[grade.category] = None
        tags.update(dict.fromkeys(grade.tags))
    return [*sorted(categories), *sorted(tag for tag in tags if tag not in categories)]
