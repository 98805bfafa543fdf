"""Runs the checks, one after another, each on an empty memory."""

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from memrig._version import __version__
from memrig.conformance.bench import Bench
from memrig.conformance.catalogue import CHECKS, choose
from memrig.conformance.check import Capabilities, Check
from memrig.conformance.context import Context
from memrig.conformance.model import CheckResult, ConformanceReport, Status, Subject, conclude
from memrig.conformance.verdict import NotApplicable, Violation, show
from memrig.errors import AdapterError, AdapterRpcError, InfrastructureError
from memrig.model.manifest import AdapterRef
from memrig.model.trial import Deadlines
from memrig.pod.base import PodProvider
from memrig.pod.text import plain_text

#: No check needs longer than its calls may take together; this ends one that forgot a deadline.
CHECK_LIMIT_S = 900.0


@dataclass(frozen=True, slots=True)
class _Finding:
    status: Status
    message: str = ""
    expected: str = ""
    got: str = ""


async def run_conformance(
    adapter: AdapterRef,
    provider: PodProvider,
    *,
    only: Collection[str] | None = None,
    slow: bool = False,
    deadlines: Deadlines | None = None,
    on_result: Callable[[CheckResult], None] | None = None,
    gateway_socket: Path | None = None,
) -> ConformanceReport:
    """Starts an adapter, runs the checks, and reports.

    After a check that failed, the next one gets a new pod: one fault cannot cause another.

    Args:
        adapter: the resolved adapter.
        provider: starts its pod.
        only: ids or groups of the checks to run; default: all that are not slow.
        slow: run the slow ones too.
        deadlines: seconds for each kind of call; default: `context.DEADLINES`.
        on_result: is told of each result as it comes.
        gateway_socket: where the adapter reaches the models that it asked for.

    Raises:
        UsageError: `only` names no check.
        AdapterError: the adapter does not start, or Capabilities fails: nothing can be checked.
        InfrastructureError: the machine or the container engine failed, not the adapter.
    """
    chosen = choose(only, slow=slow)
    results = []
    async with Bench(adapter, provider, deadlines, gateway_socket) as bench:
        declared = (await bench.link()).capabilities
        for check in chosen:
            result = await _carry_out(check, bench)
            results.append(result)
            if on_result is not None:
                on_result(result)
    left_out = tuple(check.id for check in CHECKS if check not in chosen)
    return conclude(__version__, _subject(adapter, declared), tuple(results), left_out)


async def _carry_out(check: Check, bench: Bench) -> CheckResult:
    started = time.monotonic()
    try:
        finding = await _prepare_and_run(check, bench)
        if finding.status in {"failed", "error"}:
            if obituary := await bench.obituary():
                message = f"{finding.message}; {plain_text(obituary)}"
                finding = replace(finding, message=message)
            # What one check breaks must not fail the next one.
            await bench.drop()
    except AdapterError as error:
        await bench.drop()
        finding = _Finding(
            "error", f"the adapter could not be started again: {show(error.message)}"
        )
    return CheckResult(
        id=check.id,
        title=check.title,
        reason=check.reason,
        spec=check.spec,
        status=finding.status,
        message=finding.message,
        expected=finding.expected,
        got=finding.got,
        seconds=round(time.monotonic() - started, 6),
    )


async def _prepare_and_run(check: Check, bench: Bench) -> _Finding:
    link = await bench.link()
    if not check.applies(link.capabilities):
        return _Finding("not_applicable", check.condition.otherwise)
    context = Context(link, check.id, bench.restart)
    try:
        await context.reset()
    except AdapterError as error:
        if not check.id.startswith("reset."):
            message = f"the memory could not be emptied for this check: {show(str(error))}"
            return _Finding("error", message)
    return await _run(check, context)


async def _run(check: Check, context: Context) -> _Finding:
    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            await check.run(context)
    except Violation as violation:
        return _Finding("failed", violation.message, violation.expected, violation.got)
    except NotApplicable as reason:
        return _Finding("not_applicable", str(reason))
    except AdapterError as error:
        got = error.code if isinstance(error, AdapterRpcError) else type(error).__name__
        return _Finding("failed", show(str(error)), expected="OK", got=got)
    except InfrastructureError:
        raise
    except Exception as error:  # noqa: BLE001 - a check that crashed is a result of its own
        return _Finding("error", f"the check crashed: {type(error).__name__}: {show(str(error))}")
    return _Finding("passed")


def _subject(adapter: AdapterRef, declared: Capabilities) -> Subject:
    return Subject(
        name=adapter.name,
        version=adapter.version,
        pod=adapter.pod,
        images=adapter.images,
        endpoint=adapter.endpoint,
        declared_name=show(declared.name),
        declared_version=show(declared.version),
        contract_version=show(declared.contract_version),
    )
