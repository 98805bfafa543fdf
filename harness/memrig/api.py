"""The Python API: what the command line does, as typed functions.

Example::

    import memrig
    from memrig import RunConfig

    report = memrig.run(RunConfig(adapter="images/bm25", suite="practical"))
    print(report.value("recall_any@10").value)
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from memrig.conformance import ConformanceReport, Progress, choose, run_conformance
from memrig.errors import DataError, IncompleteError, MemrigError, UsageError
from memrig.gateway.config import GatewayMode, Limits
from memrig.grading.base import load_grader
from memrig.grading.judges.base import JudgeGrader
from memrig.grading.selftest import Table, items_of
from memrig.grading.selftest import selftest as measure_graders
from memrig.judging.calibrate import Calibration
from memrig.judging.calibrate import calibrate as measure_judge
from memrig.judging.labels import default_labels, read_labels
from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.pod.images import resolve
from memrig.pod.select import provider_for
from memrig.report.build import build_report
from memrig.report.compare import compare_runs
from memrig.report.compare_html import render_comparison
from memrig.report.compare_model import Comparison
from memrig.report.compare_runs import load_run
from memrig.report.gates import gated, no_regression, parse_gate
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.runs.config import PodChoice, RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.exchange import (
    COMPATIBLE,
    Exported,
    adopt_verdicts,
    export_hypotheses,
    official_judge,
)
from memrig.runs.execution import execute_plan
from memrig.runs.executor import Executed, Observer
from memrig.runs.models import bare_gateway, model_socket, trial_gateway
from memrig.runs.plan import Plan, check_ready, pod_for
from memrig.runs.plan import plan as make_plan
from memrig.runs.profiles import Profile, differences, load_profile, only_one, profiled
from memrig.suites.base import SuiteOptions, check_options, load_suite
from memrig.trial import TrialServices, run_trial
from memrig.trial.directory import hold, write_aside


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told what while a run goes on: lines of text, and progress."""

    say: Callable[[str], None] = _silent
    observer: Observer = field(default_factory=Observer)
    planned: Callable[[Plan], None] = lambda _plan: None


def run(config: RunConfig, watch: Watch | None = None) -> Report:
    """Runs a benchmark, or what is left of it, and reports.

    Blocks until every trial is over. Repeating the call resumes or, if there is nothing left to
    do, reports again.

    Raises:
        UsageError: the configuration cannot be; exit code 2.
        PrerequisiteError: the machine lacks something; exit code 3.
        IncompleteError: trials failed through no fault of the adapter; the rest is kept, and the
            report is on disk.
        VerificationError: a finished trial was changed.
    """
    return asyncio.run(arun(config, watch))


async def arun(config: RunConfig, watch: Watch | None = None) -> Report:
    """As `run`, inside a running event loop."""
    watch, config = watch or Watch(), only_one(config)
    prepared = await make_plan(config, watch.say)
    _check_replay(prepared, config)
    if config.verdicts:
        adopt_verdicts(prepared, config.verdicts)
    watch.planned(prepared)
    with hold(prepared.directory.root):  # until there is a report
        executed = await execute_plan(prepared, config, watch.observer)
        report = score(prepared.directory.root)
    if executed.failures:
        raise _incomplete(executed, report)
    if problem := report.incomplete or _never_served(report):
        fix = f"see {prepared.directory.report_html}"
        error = IncompleteError(problem, where=report.run_id, fix=fix)
        error.report = report
        raise error
    return report


def _check_replay(prepared: Plan, config: RunConfig) -> None:
    """Refuses to replay a run into its own folder, where everything is finished already."""
    own, given = prepared.directory.record, config.llm_record
    if not (config.llm.startswith("replay") and prepared.resumed) or given is None:
        return
    if own.exists() and given.exists() and given.samefile(own):
        raise UsageError(
            "this folder holds the run that is to be replayed: nothing would be done again",
            where=f"--llm {config.llm}",
            fix="give another folder with --out, then compare the two grades.jsonl",
        )


def _never_served(report: Report) -> str:
    """Why nothing was measured at all, if so."""
    if any(latency.phase == "pod_ready" for latency in report.latencies):
        return ""
    return f"the adapter never served: {report.faults[0] if report.faults else 'no pod was ready'}"


def plan(config: RunConfig) -> Plan:
    """Resolves a configuration and spools its scenarios; starts nothing."""
    return asyncio.run(make_plan(only_one(config), _silent, dry=True))


def runs_of(config: RunConfig) -> tuple[RunConfig, ...]:
    """The runs that a configuration stands for: with a profile, one for each suite of its tier.

    Where there are several, the data and the models of all are looked for before the first starts.

    Raises:
        UsageError: there is no such profile, tier or suite, or one of the runs cannot be.
        PrerequisiteError: data or keys are not to be had on this machine.
    """
    found = profiled(config)
    if len(found) > 1:
        for one in found:
            check_ready(one)
    return found


def score(run_folder: Path) -> Report:
    """Grades a run again from its transcripts and writes its reports. Needs no container.

    Raises:
        UsageError: the folder holds no run.
        VerificationError: a transcript was changed since it was sealed.
    """
    directory = RunDirectory(run_folder)
    report = build_report(directory)
    write_aside(directory.report_html, render_html(report).encode())
    return report


def read_report(run_folder: Path) -> Report:
    """The report of a run as it is on disk; grades the run first if there is none.

    Raises:
        UsageError: the folder holds no run.
    """
    directory = RunDirectory(run_folder)
    if not directory.report_json.exists():
        return score(run_folder)
    try:
        return Report.model_validate_json(directory.report_json.read_bytes())
    except ValueError as error:
        message = "is not a report of this version"
        fix = f"`memrig score {run_folder}` writes it again"
        raise UsageError(message, where=str(directory.report_json), fix=fix) from error


def compare(
    runs: Sequence[Path],
    *,
    gates: Sequence[str] = (),
    base: Path | None = None,
    html: Path | None = None,
) -> Comparison:
    """Sets runs side by side, question by question; what `memrig compare` does.

    Runs that were never graded are graded first. No gate raises: the result says which are met.

    Args:
        runs: their folders; the first one is the base of every difference, unless `base` is given.
        gates: such as ``overall>=0.8`` or ``recall_any@5:temporal>0.5``, on each of `runs`.
        base: the run that none of `runs` may be shown to be worse than.
        html: where to write the page.

    Raises:
        UsageError: a folder holds no run, the runs cannot be compared, or a gate cannot be read.
        VerificationError: a run that was to be graded was changed since it was sealed.
    """
    wanted = [parse_gate(gate) for gate in gates]
    if not runs or (len(runs) < 2 and not wanted and base is None):
        fix = "give another run, --gate or --no-regression"
        raise UsageError("there is nothing to compare one run with", where="RUN", fix=fix)
    others = [run for run in runs if base is None or run.resolve() != base.resolve()]
    if not others:
        message = "is the only run given: it is no regression from itself"
        raise UsageError(message, where=f"--no-regression {base}", fix="name the run to be tested")
    folders = others if base is None else [base, *others]
    loaded = [load_run(folder, _graded_report(folder)) for folder in folders]
    found = compare_runs(loaded)
    # A base given for its own sake is no run under test.
    tested = tuple(run for run in found.runs if base is None or run.letter != "A")
    results = list(gated(found.model_copy(update={"runs": tested or found.runs}), wanted))
    if base is not None:
        results.extend(no_regression(found))
    found = found.model_copy(update={"gates": tuple(results)})
    if html is not None:
        write_aside(html, render_comparison(found).encode())
    return found


def _graded_report(folder: Path) -> Report:
    """A run's report, with its grades on disk."""
    return read_report(folder) if RunDirectory(folder).grades.exists() else score(folder)


def run_one_trial(spec_file: Path, scenarios: Path | None, out: Path) -> TrialOutcome:
    """Runs one trial from its spec; what `memrig trial run` does.

    Args:
        spec_file: a spec that planning wrote.
        scenarios: the spooled scenarios; none: ``../scenarios`` beside the spec's folder.
        out: the folder that gets a directory named after the trial.

    Raises:
        DataError: the file is not a spec.
    """
    try:
        spec = TrialSpec.model_validate_json(spec_file.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "wrong or missing fields"
        fix = "specs are in a run's folder `specs`"
        raise DataError(f"is not a trial spec ({reason})", where=str(spec_file), fix=fix) from error
    out.mkdir(parents=True, exist_ok=True)
    folder = scenarios or spec_file.parent.parent / "scenarios"
    # Beside the trials, as in a run: exchanges that were paid are found again.
    record = out.absolute().parent / "llm.sqlite"

    async def alone() -> TrialOutcome:
        with closing(provider_for(spec.adapter.pod)) as provider:
            async with trial_gateway(spec, record) as gateway:
                services = TrialServices(provider=provider, run_id=spec.trial_id, models=gateway)
                return await run_trial(spec, folder, out, services)

    return asyncio.run(alone())


def export_longmemeval(run_folder: Path, out: Path) -> Exported:
    """Writes a run's answers for LongMemEval's own evaluator.

    Raises:
        UsageError: the folder holds no such run.
    """
    return export_hypotheses(run_folder, out)


def import_longmemeval(config: RunConfig, hypotheses: Path) -> RunConfig:
    """The configuration that grades a hypothesis file.

    Where the official evaluator has left its verdicts in the file, these are taken, and the judge
    is the one that it names.

    Raises:
        DataError: the file is not one of hypotheses, or mixes judges.
        UsageError: a judge is named, but the file has verdicts already.
    """
    judge = official_judge(hypotheses)
    if not judge:
        return config
    if config.judge_model:
        message = f"{hypotheses} holds verdicts of {judge} already"
        fix = "leave --judge-model out, or give the bare hypotheses"
        raise UsageError(message, where=f"--judge-model {config.judge_model}", fix=fix)
    taken = {"judge_model": judge, "protocol": COMPATIBLE, "verdicts": hypotheses}
    return config.model_copy(update=taken)


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Which judge to measure, under which protocol, called or replayed."""

    model: str
    protocol: str = "answer-judge"
    llm: GatewayMode = "record"
    record: Path | None = None
    limits: Limits = field(default_factory=Limits)


def calibrate(settings: JudgeSettings, file: Path | None = None) -> Calibration:
    """Measures a judge against labelled answers; without a file, against memrig's own.

    Raises:
        DataError: the file cannot be used.
        UsageError: no judge gives the protocol one verdict an answer.
        GatewayError: the judge could not be had.
        IncompleteError: it gave no verdict at all, so that nothing is measured.
    """
    grader = load_grader(settings.protocol)
    if not isinstance(grader, JudgeGrader):
        message = f"{settings.protocol} has no verdict that is right or wrong as a label is"
        raise UsageError(message, where="--protocol", fix="for example answer-judge")
    items = read_labels(file) if file else default_labels()

    async def measure() -> Calibration:
        models = frozenset({settings.model})
        async with bare_gateway(models, settings.llm, settings.record, settings.limits) as g:
            return await measure_judge(g, settings.model, grader, items)

    found = asyncio.run(measure())
    if not found.graded:
        error = IncompleteError(
            f"no verdict could be had on any of {found.labelled} answers in {found.calls} calls "
            f"({found.left_out} answers are not for {settings.protocol})",
            where=f"--judge-model {settings.model}",
            fix="give a model that follows instructions, or labels that the protocol judges",
        )
        error.report = found
        raise error
    return found


def selftest(
    suite: str,
    file: Path | None = None,
    seeds: Sequence[int] = (),
    turns: int | None = None,
    questions: int | None = None,
    question_set: str = "",
) -> Table:
    """Tries the typed graders on a suite's gold: right answers, wrong ones, and what says nothing.

    Args:
        suite: its name.
        file: data of the user's own; none: the suite's.
        seeds: of a suite that makes its own worlds; none: the suite's.
        turns: of such a world; none: the suite's default.
        questions: about such a world; none: the suite's default.
        question_set: which of a suite's sets of questions; none: its first.

    Raises:
        UsageError: there is no such suite, or it does not offer these options.
        DataError: the data cannot be used.
    """
    found = load_suite(suite)
    protocol = found.protocols[0]
    options = SuiteOptions(
        protocol, file, turns=turns, questions=questions, question_set=question_set
    )
    several = (seeds or found.seeds) if found.made_of_seeds else (0,)
    chosen = [replace(options, seed=seed) for seed in several]
    for one in chosen:
        check_options(found, one)
    return measure_graders(item for one in chosen for item in items_of(found.scenarios(one)))


def check_conformance(
    adapter: str,
    pod: PodChoice = "auto",
    *,
    only: Collection[str] | None = None,
    slow: bool = False,
    say: Callable[[str], None] = _silent,
) -> ConformanceReport:
    """Checks an adapter against the contract; what `memrig conformance` does.

    Args:
        adapter: a folder, ``image@sha256:…``, or ``grpc://host:port``.
        pod: where it runs.
        only: ids or groups of the checks to run; default: all that are not slow.
        slow: run the slow ones too.
        say: told what goes on, a line at a time: checks that do not pass, and how far it is.

    Raises:
        UsageError: the adapter or a check's name cannot be.
        AdapterError: the adapter does not come up, so nothing can be checked.
    """
    chosen = choose(only, slow=slow)  # a wrong name is told before an image is built

    async def check() -> ConformanceReport:
        kind, reason = await pod_for(adapter, pod)
        say(reason)
        resolved = await resolve(adapter, kind, progress=say)
        with closing(provider_for(kind)) as provider:
            async with model_socket(resolved) as socket:
                return await run_conformance(
                    resolved,
                    provider,
                    only=only,
                    slow=slow,
                    on_result=Progress(len(chosen), say),
                    gateway_socket=socket,
                )

    return asyncio.run(check())


def _incomplete(executed: Executed, report: Report) -> MemrigError:
    """The first failure if there is nothing to show; else what is missing, with the report."""
    trial, error = next(iter(executed.failures.items()))
    if not report.questions.settled:
        return error
    more = f" (and {len(executed.failures) - 1} more)" if len(executed.failures) > 1 else ""
    incomplete = IncompleteError(
        "; ".join(filter(None, (report.incomplete, f"{error.message}{more}"))),
        where=f"trial={trial}",
        fix=error.fix or "repeat the command: finished trials are kept",
    )
    incomplete.report = report
    return incomplete


def profile_differences(name: str, run_folder: Path) -> tuple[Profile, tuple[str, ...]]:
    """A profile, and in what a run is not that profile's to the letter.

    Raises:
        UsageError: there is no such profile, or the folder holds no run.
    """
    profile = load_profile(name)
    directory = RunDirectory(run_folder)
    return profile, differences(directory.lock(), profile, directory.executions())
