"""How the checks are run: chosen, prepared, reported, and kept apart from one another."""

import grpc
import pytest

from memrig.conformance import CHECKS, ConformanceReport, run_conformance, runner
from memrig.conformance.check import check
from memrig.errors import AdapterCrashedError, AdapterRpcError, UsageError
from support.right_adapter import InProcessProvider, Memory, in_process_adapter
from support.wrong_adapters import DiesOfEmoji


class CannotReset(Memory):
    async def Reset(self, request, context):  # noqa: N802
        await context.abort(grpc.StatusCode.INTERNAL, "no")


class NeverServes(Memory):
    healthy_names = ()

    async def Capabilities(self, request, context):  # noqa: N802
        await context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")


class FailsItsHandshake(Memory):
    async def Capabilities(self, request, context):  # noqa: N802
        await context.abort(grpc.StatusCode.INTERNAL, "no")


async def test_a_check_that_crashes_is_an_error_and_not_a_verdict(checked, monkeypatch):
    """A defect of a check has a status of its own: neither passed nor failed."""

    @check("broken.check", reason="", spec="")
    async def broken(_context):
        """Breaks."""
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(runner, "choose", lambda *_, **__: (broken,))
    (result,) = (await checked(Memory)).results
    assert result.status == "error"
    assert "ZeroDivisionError: by zero" in result.message


async def test_a_check_that_cannot_be_prepared_is_an_error(checked):
    """Where the memory cannot be emptied first, a check gives no verdict."""
    report = await checked(CannotReset, "search.empty-memory", "reset.empty-memory")
    assert {result.id: result.status for result in report.results} == {
        "search.empty-memory": "error",
        "reset.empty-memory": "failed",
    }


async def test_a_check_that_kills_the_adapter_fails_and_the_next_one_gets_a_new_pod(
    tmp_path_factory,
):
    """The verdict says how the process ended, with its last words; what follows is not touched."""
    provider = InProcessProvider(tmp_path_factory.mktemp("s"), DiesOfEmoji)
    report = await run_conformance(
        in_process_adapter(), provider, only=["ingest.one-character", "ingest.unicode"]
    )
    killed, after = report.results
    assert (killed.status, after.status) == ("failed", "passed")
    assert "ended with exit code 139" in killed.message
    assert "last words" in killed.message
    assert "\x1b" not in killed.message
    assert len(provider.started) == 2


async def test_an_adapter_that_never_serves_has_nothing_to_check(checked):
    """There is no report of an adapter that does not come up: that is the error to show."""
    with pytest.raises(AdapterCrashedError) as caught:
        await checked(NeverServes)
    assert caught.value.kind == "hang"
    assert "last words" in caught.value.log_tail


async def test_an_adapter_without_capabilities_has_nothing_to_check(checked):
    """What is to be checked follows from Capabilities: without them there is no report."""
    with pytest.raises(AdapterRpcError) as caught:
        await checked(FailsItsHandshake)
    assert caught.value.code == "INTERNAL"


async def test_only_names_checks_and_groups(checked):
    """What was not chosen is listed, so that a short report cannot pass for a whole one."""
    report = await checked(Memory, "reset", "search.scores")
    chosen = {result.id for result in report.results}
    assert chosen == {c.id for c in CHECKS if c.id.startswith("reset.")} | {"search.scores"}
    assert chosen | set(report.left_out) == {c.id for c in CHECKS}
    assert not chosen & set(report.left_out)


async def test_an_unknown_name_is_refused_before_anything_starts(tmp_path):
    """A typo must not become a report of nothing."""
    provider = InProcessProvider(tmp_path, Memory)
    with pytest.raises(UsageError, match=r"'serach\.limit'"):
        await run_conformance(in_process_adapter(), provider, only=["serach.limit"])
    assert provider.started == []


async def test_slow_checks_are_left_out_unless_asked_for(checked):
    """The short lane stays short; by its name a slow check runs."""
    group = await checked(Memory, "ingest")
    assert "ingest.ten-megabytes" in group.left_out
    named = await checked(Memory, "ingest.ten-megabytes")
    assert [result.status for result in named.results] == ["passed"]


async def test_each_result_is_told_as_it_comes(tmp_path_factory):
    """A display can follow along."""
    seen = []
    provider = InProcessProvider(tmp_path_factory.mktemp("s"), Memory)
    report = await run_conformance(
        in_process_adapter(), provider, only=["health"], on_result=seen.append
    )
    assert tuple(seen) == report.results


async def test_a_report_survives_json(checked):
    """What is printed with --json can be read back, the same."""
    report = await checked(Memory, "health", "capabilities")
    assert ConformanceReport.model_validate_json(report.model_dump_json()) == report
