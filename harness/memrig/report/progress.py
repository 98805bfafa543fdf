"""What people see while something goes on: a live display, or plain lines without a terminal.

All of it goes to stderr. The rig measures while this draws, so little is drawn, and seldom: noting
progress is a few additions, and a thread turns the notes into one short block a few times a second.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from memrig.errors import MemrigError
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.report.score import Score, question_line
from memrig.report.terminal.base import BAD, DIM, WARN, make_console
from memrig.report.text import one_line
from memrig.report.units import count, plural, seconds, size
from memrig.runs.executor import Observer
from memrig.runs.judge import Judged
from memrig.runs.plan import Plan
from memrig.suites.datasets import Dataset
from memrig.trial import Progress as TrialProgress

#: Redraws a second. Each takes about 1.5 ms: less than one search in a hundred can meet one.
REFRESH = 4
_SCENARIOS, _NAME, _MESSAGE = 3, 24, 300


def is_live(console: Console) -> bool:
    """Whether a display may move the cursor there: a terminal, without NO_COLOR, outside CI."""
    refused = any(os.environ.get(name) for name in ("NO_COLOR", "CI"))
    file = console.file
    return file.isatty() and not console.is_dumb_terminal and not refused


@dataclass(slots=True)
class Tally:
    """A run in numbers, kept up to date as observers are told of it."""

    trials: int = 0
    trials_done: int = 0
    failed: int = 0
    questions: int = 0
    questions_done: int = 0
    episodes: int = 0
    running: dict[str, TrialProgress] = field(default_factory=dict)
    asked: int = 0

    def plan(self, plan: Plan) -> None:
        """Takes in what is to be done, and what an earlier command did of it."""
        self.trials, self.questions = len(plan.specs), plan.questions
        for spec in plan.specs:
            if _is_over(plan, spec):
                self.trials_done += 1
                self.questions_done += _questions(spec)

    def note(self, progress: TrialProgress) -> None:
        """Takes in a trial's progress. Called for every question while calls are timed."""
        running = self.running
        last = running.get(progress.trial_id)
        running[progress.trial_id] = progress
        if last is None:
            # Answers kept from an earlier attempt are done, but this command did not ask them.
            new = progress.questions
            self.asked += progress.last is not None
            self.episodes += progress.episodes
        else:
            new = progress.questions - last.questions
            self.asked += max(0, new)
            self.episodes += progress.episodes - last.episodes
        self.questions_done += new

    def end(self, spec: TrialSpec, *, failed: bool) -> None:
        """Takes in that a trial is over."""
        last = self.running.pop(spec.trial_id, None)
        seen = last.questions if last else 0
        if failed:
            self.failed += 1
            self.questions_done -= seen
        else:
            self.trials_done += 1
            self.questions_done += _questions(spec) - seen


def _is_over(plan: Plan, spec: TrialSpec) -> bool:
    """Whether nothing is left to do: a sealed trial may still wait for its judge."""
    if plan.directory.finished(spec) is None:
        return False
    judged = bool(plan.lock.judge) and spec.kind != "isolation-audit"
    return not judged or plan.directory.verdicts_of(spec.trial_id).exists()


def _questions(spec: TrialSpec) -> int:
    return sum(ref.questions for ref in spec.scenarios) if spec.kind == "scored" else 0


class RunDisplay:
    """Shows a run while it goes on.

    Example::

        with RunDisplay() as display:
            memrig.run(config, Watch(display.say, display.observer, display.planned))

    Args:
        console: where to; default: stderr.
        clock: monotonic seconds.
    """

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console or make_console(stderr=True)
        self._clock = clock
        self._started = self._over = clock()
        self._tally = Tally()
        self._score = Score()
        self._live: Live | None = None
        #: The plan, once it is made.
        self.plan: Plan | None = None
        #: What the executor tells.
        self.observer = Observer(
            progress=self._tally.note,
            finished=self._finished,
            failed=self._failed,
            judged=self._judged,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self.plan is not None:
            self._print(self._last_line())

    def say(self, line: str) -> None:
        """Prints a line of text above what moves."""
        self._print(Text(one_line(line, 2000), style=DIM))

    def planned(self, plan: Plan) -> None:
        """Takes in the plan, and starts to count."""
        self.plan = plan
        self._started = self._over = self._clock()
        self._tally.plan(plan)
        # What an earlier command settled is numbered, but not graded again.
        self._score.done = self._tally.questions_done
        if plan.resumed:
            done = f"{count(self._tally.trials_done)} of {plural(self._tally.trials, 'trial')}"
            self.say(f"Resuming {plan.directory.root}: {done} finished.")
        if is_live(self._console):
            self._live = Live(
                console=self._console,
                get_renderable=self._render,
                refresh_per_second=REFRESH,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def _finished(self, spec: TrialSpec, outcome: TrialOutcome) -> None:
        self._tally.end(spec, failed=False)
        bad = {name: n for name, n in outcome.statuses.items() if name != "answered"}
        line = self._trial_line(spec)
        if self._answers:  # each question had a line of its own
            return
        if self._live is None or bad:
            said = "".join(f", {count(number)} {name}" for name, number in bad.items())
            names = {"isolation-audit": "audit", "audits": "audits"}
            what = names.get(spec.kind) or plural(outcome.questions, "question")
            self._print(line.append(what).append(said, WARN))

    def _judged(self, judged: Judged) -> None:
        """The line that users of answer benchmarks know, one a question."""
        if self._answers:
            self._score.take(judged)
            self._print(question_line(judged, self._score, self._tally.questions))

    @property
    def _answers(self) -> bool:
        return self.plan is not None and self.plan.lock.mode != "retrieval"

    def _failed(self, spec: TrialSpec, error: MemrigError) -> None:
        self._tally.end(spec, failed=True)
        line = self._trial_line(spec)
        self._print(line.append(f"failed: {one_line(error.message, _MESSAGE)}", BAD))

    def _trial_line(self, spec: TrialSpec) -> Text:
        tally = self._tally
        self._over = self._clock()
        total = str(tally.trials)
        over = str(tally.trials_done + tally.failed).rjust(len(total))
        spent = seconds(self._over - self._started)
        return Text(f"[{over}/{total}] {spent:>8}  {one_line(spec.trial_id, 80)}  ")

    def _last_line(self) -> Text:
        tally = self._tally
        text = Text(
            f"{count(tally.trials_done)} of {plural(tally.trials, 'trial')}, "
            f"{count(tally.questions_done)} of {plural(tally.questions, 'question')}"
        )
        ran = self._over > self._started
        if not ran and tally.trials_done == tally.trials:
            text.append(", nothing left to do")
        else:
            text.append(f", in {seconds((self._over if ran else self._clock()) - self._started)}")
        return text.append(f", {count(tally.failed)} failed", BAD) if tally.failed else text

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)

    def _render(self) -> RenderableType:
        tally = self._tally
        spent = max(1e-3, self._clock() - self._started)
        grid = Table.grid(padding=(0, 1))
        numbers = f"{count(tally.questions_done)}/{count(tally.questions)}"
        grid.add_row("questions", _bar(tally.questions_done, tally.questions), numbers)
        numbers = f"{count(tally.trials_done)}/{count(tally.trials)}"
        if tally.failed:
            numbers += f", {count(tally.failed)} failed"
        grid.add_row("trials", _bar(tally.trials_done, tally.trials), numbers)
        return Group(grid, Text(self._now(spent), style=DIM, no_wrap=True, overflow="ellipsis"))

    def _now(self, spent: float) -> str:
        tally = self._tally
        if tally.trials_done + tally.failed >= tally.trials:
            return f"{seconds(spent)}  grading"
        rates = f"{tally.episodes / spent:,.0f} episodes/s  {tally.asked / spent:,.0f} questions/s"
        # A copy: the loop's thread goes on while this one draws.
        running = list(self._tally.running.values())
        names = [one_line(item.scenario_id, _NAME) for item in running[:_SCENARIOS]]
        more = f" and {len(running) - _SCENARIOS} more" if len(running) > _SCENARIOS else ""
        return f"{seconds(spent)}  {rates}  {', '.join(names)}{more}"


def _bar(done: int, total: int) -> ProgressBar:
    return ProgressBar(total=max(1, total), completed=done if total else 1, width=36)


class Download:
    """Shows a download; its `advance` fits `suites.datasets.fetch`.

    Args:
        item: what is fetched.
        console: where to; default: stderr.
    """

    def __init__(self, item: Dataset, console: Console | None = None) -> None:
        self._console = console or make_console(stderr=True)
        self._item = item
        self._bar: Progress | None = None
        self._tenth = -1

    def __enter__(self) -> Self:
        if is_live(self._console):
            self._bar = Progress(
                "{task.description}",
                BarColumn(36),
                DownloadColumn(binary_units=True),
                TransferSpeedColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.add_task(self._item.name, total=self._item.size)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Takes in how many bytes are here; without a terminal, prints a line every tenth."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
            return
        tenth = 10 * done // max(1, total)
        if tenth > self._tenth:
            self._tenth = tenth
            line = f"{self._item.name}: {size(done)} of {size(total)} ({10 * tenth} %)"
            self._console.print(Text(line), soft_wrap=True)
