"""Judges what a trial left to be judged."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from memrig.grading.base import Asked, Grader
from memrig.judging.panel import JudgedQuestion, Panel
from memrig.judging.pool import AT_ONCE, run_all
from memrig.model.chat import Chat
from memrig.model.judgement import JudgeTask, Verdict
from memrig.model.trial import TrialSpec

Keep = Callable[[Verdict], None]


def grader_name(grader: Grader) -> str:
    """How grades and verdicts name who made them."""
    return f"{grader.protocol}/{grader.version}"


def tasks_of(asked: Asked, grader: Grader) -> tuple[JudgeTask, ...]:
    """What a judge has to decide on one question: nothing where the rig itself failed it."""
    if asked.record.outcome.status == "harness_error":
        return ()
    return grader.tasks(asked)


async def judge_trial(
    chat: Chat,
    model: str,
    spec: TrialSpec,
    asked: Iterable[Asked],
    grader: Grader,
    limit: int = AT_ONCE,
    keep: Keep | None = None,
) -> list[Verdict]:
    """Judges every question of a trial that needs it.

    A verdict that `asked` brings along stands if this model gave it on this grader's terms: nobody
    is asked again. Once the judge cannot be had, nothing new is begun; what is under way is brought
    to its end, so that no vote that was paid for is lost.

    Args:
        chat: where the judge is reached.
        model: the judge.
        spec: the trial.
        asked: its settled questions.
        grader: says what is to be decided.
        limit: how many verdicts are in the making at once.
        keep: is given every new verdict as it comes.

    Returns:
        All verdicts, old and new, in the order of the questions and their tasks.

    Raises:
        GatewayError: the judge could not be had for some question; `keep` has the others.
    """
    session = _Session(Panel(chat, model), spec, grader, keep)
    jobs = (partial(session.settle, one, task) for one in asked for task in tasks_of(one, grader))
    return await run_all(jobs, limit)


@dataclass(frozen=True, slots=True)
class _Session:
    """One pass over a trial."""

    panel: Panel
    spec: TrialSpec
    grader: Grader
    keep: Keep | None

    async def settle(self, asked: Asked, task: JudgeTask) -> Verdict:
        """The verdict on one task: the one that stands, or a new one."""
        known = asked.verdicts.get(task.name)
        if known is not None and self._stands(known):
            return known
        verdict = await self.panel.judge(task, self._where(asked))
        if self.keep is not None:
            self.keep(verdict)
        return verdict

    def _stands(self, verdict: Verdict) -> bool:
        asked_by = verdict.model, verdict.grader
        return asked_by == (self.panel.model, grader_name(self.grader))

    def _where(self, asked: Asked) -> JudgedQuestion:
        record = asked.record
        return JudgedQuestion(
            trial_id=self.spec.trial_id,
            scenario_id=record.scenario_id,
            question_id=record.question_id,
            protocol=self.spec.protocol,
            grader=grader_name(self.grader),
            seed=self.spec.seed,
            scope=f"{record.scenario_id}/{record.question_id}/r{self.spec.repeat}",
        )
