"""A run's questions one by one, on pages of fifty, read a trial at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from memrig.grading.base import Grade
from memrig.leaderboard.texts import without_text
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import TrialSpec
from memrig.report.html import Crumb, render_page
from memrig.report.model import ShownQuestion
from memrig.report.shown import shown_question
from memrig.report.units import count, milliseconds
from memrig.report.view_answers import evidence_words, score_word, unknown_words, verdict_words
from memrig.report.view_pairs import Pair
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of, verdicts_of
from memrig.trial.directory import load_trial

PER_PAGE = 50
#: Pages that are named on each side of the one that is open.
_NEAR = 3
_LONG = 400


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question with its numbers worded. `number` names its place on the page, for links."""

    number: int
    shown: ShownQuestion
    seed: str
    rank: str
    latency: str
    score: str
    tone: str
    verdicts: tuple[Pair, ...]
    unknown: str


@dataclass(frozen=True, slots=True)
class Turner:
    """The pages around one, in order; a gap has no `href`."""

    pages: tuple[Crumb, ...]
    before: str
    after: str


def write_question_pages(
    directory: RunDirectory,
    *,
    total: int,
    texts: bool,
    head: Sequence[Crumb],
    write: Callable[[str, str], None],
) -> int:
    """Writes every page of a run's questions; memory does not grow with their number.

    Args:
        directory: a graded run with its scenarios.
        total: how many questions were settled.
        texts: whether the data's texts may be shown.
        head: the crumbs above the pages.
        write: told of each page: its name, its content.

    Returns:
        How many pages there are.
    """
    lines: list[QuestionLine] = []
    page, pages = 1, max(1, -(-total // PER_PAGE))

    def turn() -> None:
        crumbs = (*head, Crumb(f"questions, page {page} of {pages}"))
        write(
            page_name(page), rendered_page(lines, crumbs, (page, pages), total=total, texts=texts)
        )
        lines.clear()

    for number, (grade, shown) in enumerate(_questions(directory), 1):
        if len(lines) == PER_PAGE:
            turn()
            page += 1
        lines.append(line_of(number, grade, shown if texts else without_text(shown)))
    turn()
    return page


def page_name(page: int) -> str:
    """The file of a page, counted from 1."""
    return f"questions-{page}.html"


def rendered_page(
    lines: Sequence[QuestionLine],
    crumbs: Sequence[Crumb],
    place: tuple[int, int],
    *,
    total: int,
    texts: bool,
) -> str:
    """One page.

    Args:
        lines: its questions.
        crumbs: where it stands; the second names the memory system.
        place: its number, and how many there are.
        total: how many questions there are in all.
        texts: whether the data's texts are shown.
    """
    return render_page(
        "board_questions.html.j2",
        "crumbs.css",
        "board.css",
        crumbs=crumbs,
        lines=lines,
        turner=turner_of(*place),
        page=place[0],
        pages=place[1],
        total=count(total),
        texts=texts,
    )


def turner_of(page: int, pages: int) -> Turner:
    """The pages to turn to from one: those near by, and both ends."""
    near = range(page - _NEAR, page + _NEAR + 1)
    wanted = [n for n in range(1, pages + 1) if n in near or n in {1, pages}]
    links: list[Crumb] = []
    for place, number in enumerate(wanted):
        if place and number - wanted[place - 1] > 1:
            links.append(Crumb("…"))
        links.append(Crumb(str(number), page_name(number)))
    return Turner(
        pages=tuple(links),
        before=page_name(page - 1) if page > 1 else "",
        after=page_name(page + 1) if page < pages else "",
    )


def _questions(directory: RunDirectory) -> Iterator[tuple[Grade, ShownQuestion]]:
    """Every settled question in the order of its grades: trial by trial."""
    specs = {spec.trial_id: spec for spec in directory.specs()}
    judge = directory.lock().judge
    with directory.grades.open("rb") as file:
        grades = map(Grade.model_validate_json, file)
        for trial_id, of_trial in groupby(grades, key=lambda grade: grade.trial_id):
            yield from _of_trial(directory, specs[trial_id], list(of_trial), judge)


def _of_trial(
    directory: RunDirectory, spec: TrialSpec, grades: Sequence[Grade], judge: str
) -> Iterator[tuple[Grade, ShownQuestion]]:
    _, _, records = load_trial(directory.trials / spec.trial_id)
    asked = {
        (record.scenario_id, record.question_id): record
        for record in records
        if isinstance(record, QuestionRecord)
    }
    verdicts = verdicts_of(directory, spec.trial_id, judge) or {}
    for scenario_id, of_scenario in groupby(grades, key=lambda grade: grade.scenario_id):
        truth = truth_of(directory, spec, scenario_id)
        for grade in of_scenario:
            key = grade.question_id
            found = verdicts.get((spec.trial_id, scenario_id, key), {})
            yield (
                grade,
                shown_question(
                    grade,
                    truth.questions[key],
                    truth.gold[key],
                    asked[scenario_id, key],
                    truth.texts,
                    tuple(found.values()),
                ),
            )


def line_of(number: int, grade: Grade, shown: ShownQuestion) -> QuestionLine:
    """Words a question's numbers."""
    score = score_word(shown.score)
    repeat = f", repeat {grade.repeat}" if grade.repeat else ""
    return QuestionLine(
        number=number,
        shown=shown,
        seed=f"seed {grade.seed}{repeat}",
        rank=evidence_words(shown),
        latency=milliseconds(shown.latency_ms),
        score=score,
        tone={"right": "good", "wrong": "bad"}.get(score, "warn"),
        verdicts=tuple(
            Pair(
                verdict.task,
                verdict_words(verdict),
                " · ".join(_cut(vote.said, _LONG) for vote in verdict.votes if vote.said),
            )
            for verdict in shown.verdicts
        ),
        unknown=unknown_words(shown),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
