"""What happened in real small runs of every kind, as a verifier has it, and ways to change it."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

import memrig.runs.models
from memrig.errors import MemrigError
from memrig.gateway.config import GatewayConfig, RetryPolicy
from memrig.gateway.record import Attempt, Exchange
from memrig.model.scenario import Scenario
from memrig.model.transcript import QuestionRecord, Record
from memrig.model.trial import TrialSpec
from memrig.submission.checks.base import ModelRecord, RunEvidence, TrialEvidence
from memrig.submission.modelrecord import export_record, read_models
from memrig.suites.spool import SpooledScenario
from memrig.trial import TrialServices, run_trial
from memrig.trial.directory import load_trial
from support.evidence import Evidence, evidence_of
from support.fake_memory import Behaviour, FakeProvider
from support.llm_standin import LlmStandIn, Say, Script, Seen
from support.model_fixtures import with_models, without_models
from support.model_runs import (
    GPT,
    answers,
    final,
    models,
    question_of,
    replies_before,
    scattered,
)
from support.plans import small_lock
from support.scenarios import small_spec
from support.source import ROOT

BM25 = str(ROOT / "images" / "bm25")
SAMPLE = {"suite": "practical", "sample": True}

R = TypeVar("R", bound=Record)


def with_record(evidence: Evidence, root: Path, work: Path) -> Evidence:
    """The evidence of a run together with the record of its models."""
    if not (root / "llm.sqlite").is_file():
        return evidence
    lines = work / "models.jsonl"
    lines.write_bytes(b"".join(export_record(root / "llm.sqlite")))
    with read_models(lines, work / "models.sqlite") as found:
        kept = ModelRecord(dict(found.exchanges), dict(found.requests), found.attempts)
    return with_run(evidence, models=kept)


def with_run(evidence: Evidence, **changes: object) -> Evidence:
    """The same trials of a changed run."""
    run = replace(evidence.run, **changes)  # type: ignore[arg-type]
    trials = tuple(replace(trial, run=run) for trial in evidence.trials)
    return replace(evidence, run=run, trials=trials)


def ran(folder: Path, script: Script = models, **config: object) -> Evidence:
    """Runs with a stand-in as every provider, and gathers what happened."""
    with pytest.MonkeyPatch.context() as patch, LlmStandIn.in_thread(script) as server:
        without_models(patch)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "nothing"))
        quick = RetryPolicy(initial_s=0.01, max_s=0.02)
        patch.setattr(memrig.runs.models, "GatewayConfig", partial(GatewayConfig, retry=quick))
        with_models(patch, server)
        try:
            answers(folder / "run", **config)
        except MemrigError:
            if not (folder / "run" / "report.json").exists():
                raise
    evidence = evidence_of(folder / "run", folder / "again")
    return with_record(evidence, folder / "run", folder / "again")


def looks_around(seen: Seen) -> Say | str:
    """An agent that searches, makes mistakes, retrieves, counts, searches again, and answers."""
    if not seen.body.get("tools"):
        return final("from what there was", "m1")
    asked = question_of(seen)
    if replies_before(seen) == 0:
        search = ("memory_search", {"query": asked, "limit": 3})
        return Say("let me look", (search, ("memory_capabilities", {}), ("nonsense", {})))
    if replies_before(seen) == 1:
        again = ("memory_search", {"query": f"the {asked}"})
        known, unknown = ("memory_retrieve", {"handle": "m1"}), ("memory_retrieve", {"handle": "x"})
        return Say(tools=(known, unknown, ("count_items", {"word": "the"}), again))
    return final("found", "m1", "m77")


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Retrieval by a process, one memory for all scenarios, with every audit."""
    folder = tmp_path_factory.mktemp("searched")
    config = {"suite": "longmemeval", "sample": True, "mode": "retrieval", "limit": 2}
    return ran(folder, **config, adapter=BM25, isolation="reset", audit=True, audits=True)


@pytest.fixture(scope="session")
def read(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A built-in reader over a process, with an opponent, fresh memories and an audit."""
    folder = tmp_path_factory.mktemp("read")
    config = {"adapter": BM25, "mode": "reader", "reader_model": "local/extractive"}
    return ran(folder, **SAMPLE, **config, naive=True, audit=True, limit=4)


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A reader and a judge at a provider that fails now and then."""
    folder = tmp_path_factory.mktemp("judged")
    config = {"adapter": "baseline:oracle", "mode": "reader", "limit": 4}
    return ran(folder, **SAMPLE, **config, reader_model=GPT, judge_model=GPT)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """An agent that uses every tool that there is."""
    folder = tmp_path_factory.mktemp("agent")
    config = {"adapter": str(scattered(folder / "scattered")), "mode": "agent", "limit": 3}
    return ran(folder, looks_around, **SAMPLE, **config, reader_model=GPT)


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A memory that answers by itself."""
    folder = tmp_path_factory.mktemp("native")
    config = {"adapter": str(scattered(folder / "scattered")), "mode": "native", "limit": 4}
    return ran(folder, **SAMPLE, **config)


@contextmanager
def fakes() -> Iterator["Fakes"]:
    """A place for trials of small memories that do as they are told."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:  # short: sockets are below it
        yield Fakes(Path(folder))


class Fakes:
    """Runs trials of fake memories, and gathers what happened."""

    def __init__(self, root: Path) -> None:
        self.scenarios, self.out = root / "scenarios", root / "trials"
        self.out.mkdir()
        self.provider = FakeProvider(root)

    def behave(self, **behaviour: object) -> None:
        self.provider.behaviour = Behaviour(**behaviour)  # type: ignore[arg-type]

    def spec(self, *scenarios: Scenario, **changes: object) -> TrialSpec:
        return small_spec(self.scenarios, *scenarios, **changes)

    async def once(self, spec: TrialSpec) -> None:
        services = TrialServices(provider=self.provider, run_id="test")
        await run_trial(spec, self.scenarios, self.out, services)

    def run(self, spec: TrialSpec) -> TrialEvidence:
        """A trial from start to seal."""
        asyncio.run(self.once(spec))
        return self.evidence(spec)

    def evidence(self, spec: TrialSpec) -> TrialEvidence:
        """What a sealed trial leaves."""
        _, outcome, records = load_trial(self.out / spec.trial_id)
        lock = small_lock(self.scenarios, adapter=spec.adapter, isolation=spec.isolation)
        run = RunEvidence(
            name="run",
            lock=lock,
            executions=(),
            scenarios=spec.scenarios,
            data="sha256:0",
            trials=(spec.trial_id,),
            verdicts=(),
            models=ModelRecord(),
        )
        spooled = {ref.scenario_id: SpooledScenario(self.scenarios, ref) for ref in spec.scenarios}
        return TrialEvidence(
            run=run,
            spec=spec,
            outcome=outcome,
            records=tuple(records),
            events={name: tuple(one.events()) for name, one in spooled.items()},
            name=spec.trial_id,
            gold={name: one.gold() for name, one in spooled.items()},
        )


# ------------------------------------------------------------------------------------- changing


def scored(evidence: Evidence, number: int = 0) -> TrialEvidence:
    """One of the trials with questions."""
    return [trial for trial in evidence.trials if trial.spec.kind == "scored"][number]


def of_kind(evidence: Evidence, kind: str) -> TrialEvidence:
    """The first trial of a kind."""
    return next(trial for trial in evidence.trials if trial.spec.kind == kind)


def places(trial: TrialEvidence, kind: type[Record]) -> list[int]:
    """Where the records of a kind stand."""
    return [n for n, record in enumerate(trial.records) if isinstance(record, kind)]


def put(trial: TrialEvidence, place: int, *records: Record) -> TrialEvidence:
    """Other records in the place of one; none: it is gone."""
    kept = trial.records
    return replace(trial, records=(*kept[:place], *records, *kept[place + 1 :]))


def changed(
    trial: TrialEvidence, kind: type[R], number: int = 0, /, **changes: object
) -> TrialEvidence:
    """One record of a kind says something else."""
    place = places(trial, kind)[number]
    return put(trial, place, trial.records[place].model_copy(update=changes))


def asked(trial: TrialEvidence, number: int = 0) -> QuestionRecord:
    """One of the questions that were settled."""
    record = trial.records[places(trial, QuestionRecord)[number]]
    assert isinstance(record, QuestionRecord)
    return record


def searched_for(trial: TrialEvidence, number: int = 0, **changes: object) -> TrialEvidence:
    """The first search of a question says something else."""
    search, *rest = asked(trial, number).searches
    found = (search.model_copy(update=changes), *rest)
    return changed(trial, QuestionRecord, number, searches=found)


def answered_with(trial: TrialEvidence, number: int = 0, **changes: object) -> TrialEvidence:
    """The answer to a question says something else."""
    answer = asked(trial, number).answer
    assert answer is not None
    kept = answer.model_copy(update=changes)
    return changed(trial, QuestionRecord, number, answer=kept)


def called_with(trial: TrialEvidence, number: int = 0, **changes: object) -> TrialEvidence:
    """The first model call of a question says something else."""
    call, *rest = asked(trial, number).model_calls
    calls = (call.model_copy(update=changes), *rest)
    return changed(trial, QuestionRecord, number, model_calls=calls)


def with_models_of(run: RunEvidence, **changes: object) -> RunEvidence:
    """A run with something else in its record of models."""
    return replace(run, models=replace(run.models, **changes))  # type: ignore[arg-type]


def recorded_as(run: RunEvidence, key: str, **changes: object) -> RunEvidence:
    """An exchange of the record says something else."""
    exchange = replace(run.models.exchanges[key], **changes)  # type: ignore[arg-type]
    return with_models_of(run, exchanges={**run.models.exchanges, key: exchange})


def exchange_of(run: RunEvidence, purpose: str, number: int = 0) -> Exchange:
    """One of the exchanges for a purpose."""
    return [one for one in run.models.exchanges.values() if one.purpose == purpose][number]


def attempted(run: RunEvidence, key: str, **changes: object) -> tuple[Attempt, ...]:
    """The attempts, those of one exchange saying something else."""
    return tuple(
        replace(one, **changes) if one.key == key else one  # type: ignore[arg-type]
        for one in run.models.attempts
    )


def in_run(trial: TrialEvidence, run: RunEvidence) -> TrialEvidence:
    """The trial as one of another run."""
    return replace(trial, run=run)
