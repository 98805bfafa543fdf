"""What the report says across seeds and repeats, and how far a judge's votes leave it open."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from memrig.grading.base import Asked, Grader
from memrig.grading.grade import Verdicts, asked_of
from memrig.model.judgement import Verdict
from memrig.report.collect import Collected
from memrig.report.scores import SCORES
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of, verdicts_of
from memrig.runs.lock import Lock
from memrig.stats.seeds import AcrossSeeds, Key, across_seeds
from memrig.stats.votes import median_draws, spread
from memrig.trial.directory import load_trial


def across_of(
    directory: RunDirectory, lock: Lock, grader: Grader, found: Collected
) -> AcrossSeeds | None:
    """The section; None where the run has one seed and one repeat.

    Raises:
        VerificationError: a transcript, a scenario or a gold file was changed.
    """
    if len(lock.seeds) < 2 and lock.repeats < 2:
        return None
    scores = [name for name in SCORES if any(name in grade.scores for grade in found.grades)]
    heads = [metric.name for metric in grader.metrics if metric.heads(lock.mode)]
    metrics = list(dict.fromkeys([*scores[:1], *heads]))
    noise = _judge_noise(directory, lock, grader, metrics[0]) if metrics else None
    return across_seeds(found.grades, metrics, lock.seeds, lock.repeats, noise)


def _judge_noise(
    directory: RunDirectory, lock: Lock, grader: Grader, metric: str
) -> dict[Key, float] | None:
    """By question, the variance of its score over what the votes could have been.

    None where no judge voted more than once. Questions on which all votes agree are left out: no
    other median can come of these.
    """
    noise: dict[Key, float] = {}
    several = False
    for spec in directory.specs():
        folder = directory.finished(spec)
        if spec.kind != "scored" or folder is None:
            continue
        verdicts = verdicts_of(directory, spec.trial_id, lock.judge)
        if not verdicts:
            continue
        votes = [_valid(v) for tasks in verdicts.values() for v in tasks.values()]
        several = several or any(len(valid) > 1 for valid in votes)
        split: Verdicts = {
            key: tasks
            for key, tasks in verdicts.items()
            if any(len(set(_valid(verdict))) > 1 for verdict in tasks.values())
        }
        if not split:
            continue
        records = load_trial(folder)[2]
        for asked in asked_of(spec, records, partial(truth_of, directory, spec), verdicts):
            key = spec.trial_id, asked.record.scenario_id, asked.question.question_id
            if key in split:
                noise[key] = sum(_spreads(asked, grader, metric))
    return noise if several else None


def _spreads(asked: Asked, grader: Grader, metric: str) -> Iterator[float]:
    """The variance that each of a question's verdicts leaves: they are voted on by themselves."""
    for task, verdict in asked.verdicts.items():
        votes = _valid(verdict)
        if verdict.score is None or len(set(votes)) < 2:
            continue
        outcomes = []
        for median, chance in median_draws(votes):
            other = verdict.model_copy(update={"score": median})
            marks = grader.grade(replace(asked, verdicts={**asked.verdicts, task: other}))
            if not marks.ungraded and metric in marks.scores:
                outcomes.append((marks.scores[metric], chance))
        yield spread(outcomes)


def _valid(verdict: Verdict) -> list[float]:
    return [vote.score for vote in verdict.votes if vote.score is not None]
