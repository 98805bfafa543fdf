"""The two ways to follow a run: for people, and as JSON lines."""

import json

import typer

from memrig import api
from memrig.errors import IncompleteError, MemrigError
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.pod.runtime import runtime_root
from memrig.report.console import (
    SuiteRun,
    print_error,
    print_plan,
    print_report,
    print_suite_head,
    print_suite_runs,
)
from memrig.report.model import Report
from memrig.report.progress import RunDisplay
from memrig.runs.config import RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.executor import Observer
from memrig.runs.plan import Plan


def run_all(config: RunConfig, *, dry: bool, as_json: bool) -> None:
    """Runs what a configuration stands for: a suite, or all of a profile's tier.

    What ails one suite does not keep the others from being run; it is raised at the end.
    """
    several = api.runs_of(config)
    if len(several) == 1:
        _run_one(several[0], dry=dry, as_json=as_json)
        return
    runs: list[SuiteRun] = []
    for number, one in enumerate(several, 1):
        _announce(one, number, len(several), as_json=as_json)
        runs.append(_tried(one, dry=dry, as_json=as_json))
    if not (dry or as_json):
        print_suite_runs(config.profile, runs)
    failed = [run.error for run in runs if run.error]
    if failed:
        left = f"{len(failed)} of {len(runs)} suites are not whole, the first: {failed[0].message}"
        fix = "repeat the command: what is finished is kept"
        raise IncompleteError(left, where=config.profile, fix=fix)


def _announce(one: RunConfig, number: int, several: int, *, as_json: bool) -> None:
    if as_json:
        line = {"event": "suite", "suite": one.suite, "number": number, "of": several}
        typer.echo(json.dumps(line))
    else:
        print_suite_head(one.suite, f"{one.profile}, {one.tier}", number, several)


def _tried(one: RunConfig, *, dry: bool, as_json: bool) -> SuiteRun:
    """Runs a suite; what is no fault of the command line is kept for the end."""
    try:
        report, directory = _run_one(one, dry=dry, as_json=as_json)
    except MemrigError as error:
        if error.exit_code != IncompleteError.exit_code:
            raise
        print_error(error)
        found = error.report if isinstance(error, IncompleteError) else None
        return SuiteRun(one.suite, found if isinstance(found, Report) else None, None, error)
    return SuiteRun(one.suite, report, directory.root if directory else None)


Ran = tuple[Report | None, RunDirectory | None]


def _run_one(config: RunConfig, *, dry: bool, as_json: bool) -> Ran:
    if dry:
        show_plan(config, as_json=as_json)
        return None, None
    return run_as_json(config) if as_json else run_shown(config)


def show_plan(config: RunConfig, *, as_json: bool) -> None:
    """Says what a run would do; starts nothing and leaves nothing behind."""
    plan = api.plan(config)
    if not as_json:
        print_plan(plan)
        return
    fields = {"trials": len(plan.specs), "episodes": plan.episodes, "questions": plan.questions}
    typer.echo(json.dumps({"event": "plan", "run": str(plan.directory.root), **fields}))


def run_shown(config: RunConfig) -> Ran:
    """Runs with a progress display on stderr, then the summary on stdout, also if incomplete."""
    try:
        with RunDisplay() as display:
            report = api.run(config, api.Watch(display.say, display.observer, display.planned))
    except IncompleteError as error:
        if isinstance(error.report, Report):
            print_report(error.report, _folder(display.plan))
        raise
    print_report(report, _folder(display.plan))
    if config.keep_pod and display.plan:
        _say_kept(display.plan)
    return report, _folder(display.plan)


def _say_kept(plan: Plan) -> None:
    """Where the pods are that --keep-pod left."""
    label = f"io.memrig.run={plan.directory.root.name}"
    docker = plan.lock.adapter.pod == "docker"
    where = f"docker ps --filter label={label}" if docker else f"sockets below {runtime_root()}"
    typer.echo(f"kept: {where}\n      `memrig clean` removes the pods", err=True)


def _folder(plan: Plan | None) -> RunDirectory | None:
    return plan.directory if plan else None


class _Lines:
    """One JSON line a finished trial, and a last one with the report's path."""

    def __init__(self) -> None:
        self._plan: Plan | None = None

    def watch(self) -> api.Watch:
        observer = Observer(finished=self._finished, failed=self._failed)
        return api.Watch(lambda line: typer.echo(line, err=True), observer, self._planned)

    def _planned(self, plan: Plan) -> None:
        self._plan = plan

    def _finished(self, spec: TrialSpec, outcome: TrialOutcome) -> None:
        fields = outcome.model_dump(mode="json", exclude={"format", "head", "spec_digest"})
        self._line({"event": "trial", "kind": spec.kind, **fields})

    def _failed(self, spec: TrialSpec, error: MemrigError) -> None:
        self._line({"event": "trial_failed", "trial_id": spec.trial_id, "error": str(error)})

    def report(self, report: Report) -> None:
        path = self._plan.directory.report_json if self._plan else ""
        self._line({"event": "report", "path": str(path), "complete": report.complete})

    def say_kept(self, config: RunConfig) -> None:
        if config.keep_pod and self._plan:
            _say_kept(self._plan)

    def _line(self, fields: dict[str, object]) -> None:
        typer.echo(json.dumps(fields, ensure_ascii=False))


def run_as_json(config: RunConfig) -> Ran:
    """Runs with nothing but JSON lines on stdout; no last line if the run crashes."""
    lines = _Lines()
    try:
        report = api.run(config, lines.watch())
    except IncompleteError as error:
        if isinstance(error.report, Report):
            lines.report(error.report)
        raise
    lines.report(report)
    lines.say_kept(config)
    return report, None
