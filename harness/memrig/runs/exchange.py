"""Answers out to a benchmark's own evaluator, and its verdicts back in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import DataError, UsageError
from memrig.grading.judges.official import official_verdict
from memrig.judging import write_verdicts
from memrig.model.judgement import Verdict
from memrig.model.transcript import QuestionRecord
from memrig.model.trial import TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.runs.plan import Plan
from memrig.suites.longmemeval_files import Hypothesis, read_hypotheses, write_hypotheses
from memrig.trial.directory import load_trial

COMPATIBLE = "longmemeval-compatible"


@dataclass(frozen=True, slots=True)
class Exported:
    """How many hypotheses were written, and the questions that have none."""

    written: int
    left_out: tuple[str, ...]


def export_hypotheses(run: Path, out: Path) -> Exported:
    """Writes a LongMemEval run's answers.

    A question that the memory system left without an answer has an empty hypothesis: the evaluator
    counts what it is given, so leaving it out would flatter. One that the rig or a provider failed
    is left out and named: an empty one would count as wrong.

    Raises:
        UsageError: the run is of another suite, has no answers, several repeats or
            seeds, or is not whole.
    """
    directory = RunDirectory(run)
    lock = directory.lock()
    times = lock.repeats * len(lock.seeds)
    if lock.suite != "longmemeval" or lock.mode == "retrieval" or times > 1:
        raise UsageError(
            f"is a run of {lock.suite} in mode {lock.mode} with {lock.repeats} repeats of "
            f"{len(lock.seeds)} seeds",
            where=str(run),
            fix="give a run of --suite longmemeval in mode reader, agent or native, once",
        )
    answers: dict[str, str] = {}
    left_out: list[str] = []
    for spec in directory.specs():
        if spec.kind != "scored":
            continue
        folder = directory.finished(spec)
        if folder is None:
            message, fix = "the run is not whole", "repeat its command first"
            raise UsageError(message, where=str(run), fix=fix)
        _, _, records = load_trial(folder)
        for record in records:
            if not isinstance(record, QuestionRecord):
                continue
            if record.outcome.status == "harness_error":
                left_out.append(record.question_id)
            else:
                answers[record.question_id] = record.answer.text if record.answer else ""
    write_hypotheses(out, answers)
    return Exported(len(answers), tuple(left_out))


def official_judge(path: Path) -> str:
    """The judge model of a file that the official evaluator wrote; empty for bare hypotheses.

    Raises:
        DataError: some lines have a verdict and others not, or they come from several judges.
    """
    found = read_hypotheses(path)
    models = {item.verdict.model if item.verdict else "" for item in found.values()}
    if len(models) > 1:
        shown = ", ".join(sorted(name or "none" for name in models))
        message = f"holds verdicts of different judges: {shown}"
        fix = "give a file that one run of the evaluator wrote, or one without any autoeval_label"
        raise DataError(message, where=str(path), fix=fix)
    return models.pop()


def adopt_verdicts(plan: Plan, path: Path) -> None:
    """Puts the official evaluator's verdicts in the place of a judge's.

    Raises:
        InfrastructureError: the disk refuses.
    """
    hypotheses = read_hypotheses(path)
    for spec in plan.specs:
        if spec.kind == "audits":  # the official evaluator cannot be asked
            write_verdicts(plan.directory.verdicts_of(spec.trial_id), [])
            continue
        scenarios = [plan.directory.scenario(spec, ref.scenario_id) for ref in spec.scenarios]
        verdicts = [
            verdict
            for scenario in scenarios
            for name in scenario.questions()
            if (verdict := _verdict(hypotheses, name, spec, scenario.ref.scenario_id))
        ]
        write_verdicts(plan.directory.verdicts_of(spec.trial_id), verdicts)


def _verdict(
    hypotheses: Mapping[str, Hypothesis], name: str, spec: TrialSpec, scenario_id: str
) -> Verdict | None:
    found = hypotheses.get(name)
    if found is None or found.verdict is None:
        return None
    return official_verdict(name, found.verdict, spec.trial_id, scenario_id, COMPATIBLE)
