"""Judges the sealed trials of a run, and says how each question did."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memrig.grading.base import Grade, Grader
from memrig.grading.grade import Truth, Verdicts, asked_of, grade_trial
from memrig.judging import judge_trial, read_verdicts, write_verdicts
from memrig.judging.panel import Panel
from memrig.model.chat import Chat
from memrig.model.judgement import Verdict
from memrig.model.transcript import QuestionRecord, Record
from memrig.model.trial import TrialSpec
from memrig.runs.audit_judge import judge_steering, steering_asked
from memrig.runs.directory import RunDirectory
from memrig.trial.audits import plan_of
from memrig.trial.directory import load_trial

#: Where the verdicts of a trial stand while some are missing.
ASIDE = "unfinished"


@dataclass(frozen=True, slots=True)
class Judged:
    """One question of a trial that was graded as soon as it was sealed."""

    grade: Grade
    record: QuestionRecord
    verdicts: tuple[Verdict, ...]
    score: float | None

    @property
    def costs(self) -> Iterator[float | None]:
        """What each model call of the question cost; None where no price is known."""
        yield from (call.cost_usd for call in self.record.paid_calls)
        for verdict in self.verdicts:
            yield from (vote.cost_usd for vote in verdict.votes)


def truth_of(directory: RunDirectory, spec: TrialSpec, scenario_id: str) -> Truth:
    """What is known of a scenario, verified against its digest."""
    scenario = directory.scenario(spec, scenario_id)
    scenario.verify()
    questions, texts, positions = scenario.truth()
    return Truth(questions, scenario.gold(), texts, positions)


def verdicts_of(directory: RunDirectory, trial_id: str, judge: str) -> Verdicts | None:
    """The verdicts of one trial by question and task; None where no judge was asked for.

    While a trial waits for its judge there are none: what is judged is then missing, and not graded
    by other means.

    Args:
        directory: the run's.
        trial_id: the trial.
        judge: the run's judge; empty for none.
    """
    path = directory.verdicts_of(trial_id)
    if path.exists():
        return by_task(read_verdicts(path))
    return {} if judge else None


def by_task(verdicts: Iterable[Verdict]) -> Verdicts:
    """Verdicts by question and task."""
    found: dict[tuple[str, str, str], dict[str, Verdict]] = {}
    for verdict in verdicts:
        key = verdict.trial_id, verdict.scenario_id, verdict.question_id
        found.setdefault(key, {})[verdict.task] = verdict
    return found


class TrialJudge:
    """Judges and grades trials one by one.

    Args:
        directory: the run's.
        grader: the protocol's.
        chat: where judges are asked; None: whatever is not judged yet stays so.
        model: the judge's; empty where the protocol needs none.
    """

    def __init__(
        self, directory: RunDirectory, grader: Grader, chat: Chat | None, model: str
    ) -> None:
        self._directory = directory
        self._grader = grader
        self._chat = chat
        self._model = model

    def open(self, spec: TrialSpec) -> bool:
        """Whether a sealed trial still waits for its judge."""
        if spec.kind == "isolation-audit" or not self._model:
            return False
        return not self._directory.verdicts_of(spec.trial_id).exists()

    async def settle(self, spec: TrialSpec) -> list[Judged]:
        """Judges a sealed trial if that is still open, and grades it; of audits there is no grade.

        Raises:
            GatewayError: a judge could not be had; nothing is written.
        """
        _, _, records = await asyncio.to_thread(load_trial, self._directory.trials / spec.trial_id)

        def truth(scenario_id: str) -> Truth:
            return truth_of(self._directory, spec, scenario_id)

        if spec.kind == "audits":
            await self._judge_audits(spec, truth)
            return []
        if self._chat is not None and self.open(spec):
            await self._judge(self._chat, spec, records, truth)
        found = verdicts_of(self._directory, spec.trial_id, self._model)
        grades = list(grade_trial(spec, records, truth, self._grader, found))
        return _joined(grades, records, found or {}, self._grader.metrics[0].name)

    async def _judge_audits(self, spec: TrialSpec, truth: Callable[[str], Truth]) -> None:
        """Has the judge itself audited, by wrong answers that say they are right."""
        if self._chat is None or not self.open(spec):
            return
        name = spec.scenarios[0].scenario_id
        plan = plan_of(spec, self._directory.scenario(spec, name).events())
        panel = Panel(self._chat, self._model)
        items = tuple(steering_asked(spec, plan, truth(name)))
        verdicts = await judge_steering(panel, spec, self._grader, items)
        write_verdicts(self._directory.verdicts_of(spec.trial_id), verdicts)

    async def _judge(
        self,
        chat: Chat,
        spec: TrialSpec,
        records: list[Record],
        truth: Callable[[str], Truth],
    ) -> None:
        """Asks the judge. What an interrupted try had decided stands, and is kept again."""
        path = self._directory.verdicts_of(spec.trial_id)
        aside = path.parent / ASIDE / path.name
        known = by_task(read_verdicts(aside))
        questions = asked_of(spec, records, truth, known)
        fresh: list[Verdict] = []
        try:
            verdicts = await judge_trial(
                chat, self._model, spec, questions, self._grader, keep=fresh.append
            )
        except BaseException:
            old = [verdict for tasks in known.values() for verdict in tasks.values()]
            write_verdicts(aside, [*old, *fresh])
            raise
        write_verdicts(path, verdicts)
        aside.unlink(missing_ok=True)


def _joined(
    grades: list[Grade], records: list[Record], verdicts: Verdicts, metric: str
) -> list[Judged]:
    settled = (record for record in records if isinstance(record, QuestionRecord))
    joined = []
    for grade, record in zip(grades, settled, strict=True):
        key = grade.trial_id, grade.scenario_id, grade.question_id
        votes = tuple(verdicts.get(key, {}).values())
        joined.append(Judged(grade, record, votes, grade.scores.get(metric)))
    return joined
