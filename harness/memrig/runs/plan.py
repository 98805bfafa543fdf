"""From a configuration to a lock and its trials; nothing is started here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memrig.errors import UsageError
from memrig.gateway.prices import PriceTable
from memrig.model.canonical import digest_file, short
from memrig.model.manifest import PodKind
from memrig.model.scenario import ScenarioRef
from memrig.model.trial import TrialSpec
from memrig.pod.images import ANSWERS, implied_pod, resolve
from memrig.pod.select import choose_pod
from memrig.runs.answering import Answering, settle_answering
from memrig.runs.config import DEFAULT_SEED, PodChoice, RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.forecast import Forecast, forecast
from memrig.runs.lock import (
    Lock,
    check_lock,
    contract_digest,
    data_lock,
    grader_lock,
    lock_version,
    plugins_lock,
    this_machine,
)
from memrig.runs.models import check_models, models_of
from memrig.runs.profiles import digest_of_profile
from memrig.runs.spooling import Selection, source_of, spool_seeds
from memrig.runs.staging import promote, staging
from memrig.suites.answers_file import coverage
from memrig.suites.base import DataSource, Suite, SuiteOptions, check_options, load_suite
from memrig.suites.given import read_given
from memrig.suites.spool import SpooledScenario
from memrig.trial.directory import write_aside

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do."""

    directory: RunDirectory
    lock: Lock
    specs: tuple[TrialSpec, ...]
    resumed: bool
    pod_reason: str
    forecast: tuple[Forecast, ...] = ()

    @property
    def questions(self) -> int:
        """Questions over all scored trials."""
        return sum(ref.questions for s in self.specs if s.kind == "scored" for ref in s.scenarios)

    @property
    def episodes(self) -> int:
        """Episodes over all scored trials."""
        return sum(ref.episodes for s in self.specs if s.kind == "scored" for ref in s.scenarios)


def seeds_of(config: RunConfig, suite: Suite) -> tuple[int, ...]:
    """The seeds of a run: the user's, else the suite's, else the rig's one.

    Answers in a file are answers to the questions of one seed.

    Raises:
        UsageError: several seeds for a file of answers.
    """
    seeds = config.seeds or suite.seeds or (DEFAULT_SEED,)
    if not config.adapter.startswith(ANSWERS):
        return seeds
    if len(config.seeds) > 1:
        raise UsageError(
            "answers in a file are to the questions of one seed",
            where=f"--seeds {','.join(map(str, config.seeds))}",
            fix="give the seed that its questions were made from",
        )
    return seeds[:1]


def suite_options(config: RunConfig, suite: Suite, protocol: str) -> SuiteOptions:
    """Checks what the user asks of a suite against what it offers.

    Raises:
        UsageError: an option that the suite does not have, or two that exclude each other.
    """
    options = SuiteOptions(
        protocol,
        config.file,
        config.sample,
        config.category_labels,
        **{name: getattr(config, name) for name in _given(config)},
    )
    check_options(suite, options)
    return options


#: What only some suites offer; empty unless it was chosen.
_OPTIONS = (
    "variant",
    "order",
    "granularity",
    "labels",
    "audit_file",
    "distractors",
    "distractor_file",
    "turns",
    "questions",
    "question_set",
)
_FILES = ("audit_file", "distractor_file", "verdicts")


def _given(config: RunConfig) -> Iterator[str]:
    """The options that were chosen; 0 is a choice."""
    return (name for name in _OPTIONS if getattr(config, name) not in (None, ""))


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run asks, of whom, and by whose data; all that is known without its adapter."""

    suite: Suite
    seeds: tuple[int, ...]
    answering: Answering
    options: SuiteOptions
    source: DataSource


def inputs_of(config: RunConfig) -> Inputs:
    """Settles what a run asks; what is missing surfaces here, before anything is built.

    Raises:
        UsageError: the configuration cannot be, or the data is not as it must be.
        PrerequisiteError: the data is not on this machine.
    """
    suite = load_suite(config.suite)
    seeds = seeds_of(config, suite)
    answering = settle_answering(config, suite)
    options = replace(suite_options(config, suite, answering.grader.protocol), seed=seeds[0])
    return Inputs(suite, seeds, answering, options, source_of(suite, options, seeds))


def check_ready(config: RunConfig) -> None:
    """Refuses a run whose data or whose rig's models are not to be had; builds nothing.

    Raises:
        UsageError: as `plan`.
        PrerequisiteError: data or keys are not to be had on this machine.
    """
    check_models(config, inputs_of(config).answering, None)


async def plan(config: RunConfig, say: Say, *, dry: bool = False) -> Plan:
    """Resolves every input, spools the scenarios, and writes or compares the lock.

    A dry plan leaves nothing behind.

    Raises:
        UsageError: the configuration cannot be, no grader is installed for its protocol, the data
            is not as it must be, a limit in money meets a model without a price, or the folder
            holds another run.
        PrerequisiteError: data, images or keys are not to be had on this machine.
    """
    inputs = inputs_of(config)
    suite, seeds, answering = inputs.suite, inputs.seeds, inputs.answering
    options = inputs.options
    kind, reason = await pod_for(config.adapter, config.pod)
    _check_isolation(config, kind)
    _check_mode(config, answering, kind)
    say(reason)
    adapter = await resolve(config.adapter, kind, progress=say)
    check_models(config, answering, adapter)
    with staging(config.out.absolute().parent if config.out else Path("runs")) as folder:
        planned = RunDirectory(folder)
        refs, notes = spool_seeds(suite, options, seeds, _selection(config), planned.scenarios)
        _check_probes(config, kind, planned, refs)
        lock = Lock(
            memrig_version=lock_version(),
            contract=contract_digest(),
            suite=suite.name,
            protocol=options.protocol,
            grader=grader_lock(answering.grader),
            plugins=plugins_lock(config.suite, options.protocol),
            mode=answering.mode,
            data=data_lock(inputs.source),
            category_labels=config.category_labels,
            sample=config.sample,
            options=chosen_options(config),
            answer=answering.answer,
            naive=config.naive,
            judge=answering.judge,
            prices=_prices(config) if answering.models or models_of(adapter) else "",
            adapter=adapter,
            isolation=config.isolation,
            seeds=seeds,
            repeats=config.repeats,
            limit=config.limit,
            top_k=config.top_k or suite.top_k_for(options),
            deadlines=config.deadlines,
            budget=answering.budget,
            audit=config.audit and kind not in {"baseline", "given"},
            audits=config.audits and kind not in {"baseline", "given"},
            profile=config.profile,
            profile_digest=digest_of_profile(config.profile),
            tier=config.tier,
            scenarios=refs,
            notes=(*notes, *_fit(config, kind, planned, refs)),
            machine=this_machine(),
        )
        return _settle(config, lock, planned, reason, dry=dry)


def _prices(config: RunConfig) -> str:
    return PriceTable.load(config.prices).digest


def _fit(
    config: RunConfig, kind: PodKind, planned: RunDirectory, refs: Iterable[ScenarioRef]
) -> tuple[str, ...]:
    """How answers given in a file fit the questions; nothing is silently left out."""
    if kind != "given":
        return ()
    spooled = (SpooledScenario(planned.scenarios, ref) for ref in refs)
    questions = [name for scenario in spooled for name in scenario.gold()]
    return coverage(read_given(Path(config.adapter.removeprefix(ANSWERS))), questions).notes()


def chosen_options(config: RunConfig) -> dict[str, str]:
    """The suite's own options that were chosen; a file by its content."""
    chosen = {name: str(getattr(config, name)) for name in _given(config)}
    for name in _FILES:
        if path := getattr(config, name):
            chosen[name] = digest_file(path)
    if config.only_answered:
        chosen["only_answered"] = "yes"
    return chosen


async def pod_for(adapter: str, pod: PodChoice) -> tuple[PodKind, str]:
    """Which pod, and why, in one sentence.

    Raises:
        UsageError: the adapter leaves no choice, and another pod was asked for.
    """
    implied = implied_pod(adapter)
    if implied and pod not in ("auto", implied):
        message = f"--pod {pod} cannot take this adapter, which needs {implied}"
        raise UsageError(message, where=f"--adapter {adapter}", fix="leave --pod out")
    if implied == "endpoint":
        return implied, f"No pod: {adapter} is running already."
    if implied:
        return implied, f"No pod: {adapter} lives in the rig itself."
    return await choose_pod(pod)


def _check_isolation(config: RunConfig, kind: PodKind) -> None:
    if kind == "endpoint" and config.isolation == "fresh":
        raise UsageError(
            "a running endpoint cannot be given a fresh memory for each scenario",
            where="--isolation fresh",
            fix="give --isolation reset (Reset between scenarios) or pooled",
        )


def _check_probes(
    config: RunConfig, kind: PodKind, planned: RunDirectory, refs: Iterable[ScenarioRef]
) -> None:
    """Probes measure a pod, which must not have held something else before.

    Raises:
        UsageError: one pod was asked for all scenarios. A running endpoint has no other choice.
    """
    if config.isolation == "fresh" or kind == "endpoint":
        return
    for ref in refs:
        if SpooledScenario(planned.scenarios, ref).has_probes:
            raise UsageError(
                f"scenario {ref.scenario_id!r} measures its pod, which must be its own",
                where=f"--isolation {config.isolation}",
                fix="leave it out: every scenario gets a fresh pod",
            )


def _check_mode(config: RunConfig, answering: Answering, kind: PodKind) -> None:
    if kind == "baseline" and answering.mode == "native":
        raise UsageError(
            "a baseline has no answers of its own",
            where=f"--mode native --adapter {config.adapter}",
            fix="use --mode reader",
        )


def _selection(config: RunConfig) -> Selection:
    given = Path(config.adapter.removeprefix(ANSWERS)) if config.only_answered else None
    return Selection(config.limit, config.isolation, given)


def _settle(
    config: RunConfig, lock: Lock, planned: RunDirectory, reason: str, *, dry: bool
) -> Plan:
    adapter = lock.adapter.name.replace(":", "-")
    name = f"{lock.suite}-{adapter}-{short(lock.digest, 10)}"
    directory = RunDirectory(config.out or Path("runs") / name)
    specs = trials_of(lock)
    expected = forecast(lock, PriceTable.load(config.prices), planned.scenarios)
    resumed = check_lock(directory.lock_path, lock)
    if not resumed and not dry:
        write_aside(planned.lock_path, pretty(lock))
        planned.save_specs(specs)
        promote(planned.root, directory.root)
    return Plan(directory, lock, specs, resumed, reason, expected)


def pretty(lock: Lock) -> bytes:
    """A lock as it stands in its file: for people to read, too."""
    return lock.model_dump_json(indent=1).encode() + b"\n"


def trials_of(lock: Lock) -> tuple[TrialSpec, ...]:
    """The trials that a lock stands for: the audits first, then the scored ones.

    These by repeat, then by seed, then by scenario. No memory holds scenarios of two seeds.
    """
    return (*_audits(lock), *_scored(lock))


def _scored(lock: Lock) -> tuple[TrialSpec, ...]:
    return tuple(
        _spec(lock, group, seed, repeat)
        for repeat in range(lock.repeats)
        for seed in lock.seeds
        for group in _groups(lock, seed)
    )


def _audits(lock: Lock) -> Iterator[TrialSpec]:
    """The isolation audit, which a pooled memory has none of, then those of single scenarios."""
    first = lock.seeds[0]
    if lock.audit and lock.isolation != "pooled":
        spec = _spec(lock, lock.of_seed(first)[:1], first, 0)
        yield spec.model_copy(update={"kind": "isolation-audit"})
    for ref in lock.audited:
        yield _spec(lock, (ref,), first, 0).model_copy(update={"kind": "audits"})


def _groups(lock: Lock, seed: int) -> list[tuple[ScenarioRef, ...]]:
    """Which of a seed's scenarios share a pod."""
    refs = lock.of_seed(seed)
    return [refs] if lock.isolation == "reset" else [(ref,) for ref in refs]


def _spec(lock: Lock, scenarios: tuple[ScenarioRef, ...], seed: int, repeat: int) -> TrialSpec:
    return TrialSpec(
        suite=lock.suite,
        protocol=lock.protocol,
        mode=lock.mode,
        adapter=lock.adapter,
        scenarios=scenarios,
        isolation=lock.isolation,
        seed=seed,
        repeat=repeat,
        top_k=lock.top_k,
        deadlines=lock.deadlines,
        budget=lock.budget,
        answer=lock.answer,
        naive=lock.naive,
    )
