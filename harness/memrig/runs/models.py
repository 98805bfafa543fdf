"""Which models a run may call, and the gateway that calls them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memrig.errors import GatewayError, PrerequisiteError, UsageError
from memrig.gateway.config import GatewayConfig, GatewayMode, Limit, Limits
from memrig.gateway.identity import TrialIdentity
from memrig.gateway.keyring import find_upstreams
from memrig.gateway.ledger import check_prices
from memrig.gateway.prices import PriceTable
from memrig.gateway.routing import check_key, is_elsewhere, spec_for
from memrig.gateway.service import Gateway
from memrig.model.manifest import AdapterRef
from memrig.model.trial import AnswerSpec, TrialSpec
from memrig.runs.answering import Answering
from memrig.runs.config import RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock


def models_of(adapter: AdapterRef) -> frozenset[str]:
    """The models that a memory system asked for; an endpoint has its own ways."""
    return frozenset(adapter.manifest.models) if adapter.manifest else frozenset()


def _called(answer: AnswerSpec | None, judge: str, adapter: AdapterRef) -> frozenset[str]:
    """All models that are called: the reader's, the judge's, and the memory system's own."""
    return models_of(adapter) | _rigs(answer, judge)


def _rigs(answer: AnswerSpec | None, judge: str) -> frozenset[str]:
    reader = answer.model if answer else ""
    return frozenset(name for name in (reader, judge) if name)


def check_models(config: RunConfig, answering: Answering, adapter: AdapterRef | None) -> None:
    """Refuses a run whose models cannot be called or paid, before anything starts.

    Without an adapter, the rig's own models alone: the memory system's are not known yet.

    Raises:
        UsageError: a limit in money and a model without a known price, or a replay without the
            record of an earlier run.
        PrerequisiteError: no key for a model that must be called.
    """
    judge = "" if config.verdicts else answering.judge
    own = models_of(adapter) if adapter else frozenset()
    names = _rigs(answering.answer, judge) | own
    limits = config.limits
    if answering.budget.usd is not None:  # a question's own limit in money counts as one
        limits = limits.model_copy(update={"trial": Limit(usd=answering.budget.usd)})
    table = PriceTable.load(config.prices)
    _check(names, config.llm, config.llm_record, limits, table)


def _check(
    names: frozenset[str],
    mode: GatewayMode,
    record: Path | None,
    limits: Limits,
    prices: PriceTable,
) -> None:
    if mode.startswith("replay"):
        if names and (record is None or not record.is_file()):
            raise UsageError(
                f"a replay needs the record of an earlier run, {record or 'none'} was given",
                where=f"--llm {mode}",
                fix="give --llm-record RUN/llm.sqlite",
            )
        return
    check_prices(names, limits, prices)
    upstreams = find_upstreams()
    for name in sorted(names):
        try:
            check_key(name, spec_for(name, upstreams))
        except GatewayError as error:  # nothing was started: the machine lacks it
            raise PrerequisiteError(error.message, where=error.where, fix=error.fix) from error


def elsewhere_of(lock: Lock, config: RunConfig) -> tuple[str, ...]:
    """The rig's own models, reader and judge, that are asked at an address of the user's own."""
    if config.llm.startswith("replay"):
        return ()
    upstreams = find_upstreams()
    names = _rigs(lock.answer, "" if config.verdicts else lock.judge)
    return tuple(name for name in sorted(names) if is_elsewhere(spec_for(name, upstreams)))


@asynccontextmanager
async def open_gateway(
    lock: Lock, directory: RunDirectory, config: RunConfig
) -> AsyncIterator[Gateway | None]:
    """The gateway of a run; None where nothing in it may call a model."""
    names = _called(lock.answer, "" if config.verdicts else lock.judge, lock.adapter)
    if not names:
        yield None
        return
    settings = GatewayConfig(
        mode=config.llm,
        record=config.llm_record or directory.record,
        models=names,
        limits=config.limits,
        seed=lock.seeds[0],
    )
    async with Gateway(settings, prices=PriceTable.load(config.prices)) as gateway:
        yield gateway


@asynccontextmanager
async def model_socket(adapter: AdapterRef) -> AsyncIterator[Path | None]:
    """A socket to the models that an adapter asked for, nothing kept; None where it asked for none.

    Raises:
        PrerequisiteError: no key for one of them.
    """
    names = models_of(adapter)
    if not names:
        yield None
        return
    _check(names, "live", None, Limits(), PriceTable.load())
    async with Gateway(GatewayConfig(mode="live", models=names)) as gateway:
        identity = TrialIdentity(trial_id="conformance", seed=0, models=names)
        async with gateway.serve(identity) as socket:
            yield socket


@asynccontextmanager
async def trial_gateway(spec: TrialSpec, record: Path) -> AsyncIterator[Gateway | None]:
    """The gateway of a trial that is run by itself; None where nothing in it calls a model.

    Raises:
        PrerequisiteError: no key for a model that must be called.
    """
    names = _called(spec.answer, "", spec.adapter)
    if not names:
        yield None
        return
    _check(names, "record", record, Limits(), PriceTable.load())
    async with Gateway(GatewayConfig(mode="record", record=record, models=names)) as gateway:
        yield gateway


@asynccontextmanager
async def bare_gateway(
    models: frozenset[str], mode: GatewayMode, record: Path | None, limits: Limits
) -> AsyncIterator[Gateway]:
    """A gateway outside of any run; without a record file, nothing is kept.

    Raises:
        UsageError: as `check_models`.
        PrerequisiteError: likewise.
    """
    _check(models, mode, record, limits, PriceTable.load())
    kept: GatewayMode = "live" if mode == "record" and record is None else mode
    settings = GatewayConfig(mode=kept, record=record, models=models, limits=limits)
    async with Gateway(settings) as gateway:
        yield gateway


def check_callable(lock: Lock, limits: Limits) -> None:
    """Refuses to run a lock again whose models cannot be called or paid here.

    Raises:
        UsageError: a limit in money, and a model without a known price.
        PrerequisiteError: no key for a model that must be called.
    """
    names = _called(lock.answer, lock.judge, lock.adapter)
    _check(names, "record", None, limits, PriceTable.load())
