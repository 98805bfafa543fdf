"""An audits trial from start to seal, against memories of this process."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.model.transcript import (
    AuditSkipRecord,
    CapabilitiesRecord,
    FaultRecord,
    IngestRecord,
    QuestionRecord,
    ResetRecord,
)
from memrig.runs.plan import Plan
from memrig.suites.spool import SpooledScenario
from memrig.trial import TrialServices, run_trial
from memrig.trial.audits import plan_of
from memrig.trial.directory import load_trial
from support.audited import (
    READ,
    DiesOnItsTenthSearch,
    Reader,
    asks_of,
    audit_plan,
    audit_records,
    execute,
    steadfast,
)
from support.right_adapter import InProcessProvider, Memory, OnlyAnswers


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Path(folder)


def planned_asks(plan: Plan) -> list[tuple[str, str, str, str]]:
    spec = next(spec for spec in plan.specs if spec.kind == "audits")
    events = SpooledScenario(plan.directory.scenarios, spec.scenarios[0]).events()
    return [ask.key for ask in plan_of(spec, events).asks]


async def test_a_whole_trial_asks_what_its_plan_says_in_its_order(root: Path) -> None:
    """Whoever checks it needs spec and scenario alone."""
    plan = audit_plan(root / "run")
    await execute(plan)
    records = audit_records(plan)
    asked = [(r.audit, r.part, r.question_id, r.text) for r in asks_of(records)]
    assert asked == planned_asks(plan)
    assert not [record for record in records if isinstance(record, QuestionRecord)]


async def test_other_chunks_are_told_to_a_memory_of_their_own(root: Path) -> None:
    """One pod for the data as it is, another one for the chunks; a Reset in the first alone."""
    plan = audit_plan(root / "run")
    await execute(plan)
    records = audit_records(plan)
    boots = [record.boot_id for record in records if isinstance(record, CapabilitiesRecord)]
    assert len(set(boots)) == 2
    border = max(n for n, r in enumerate(records) if isinstance(r, CapabilitiesRecord))
    resets = [n for n, record in enumerate(records) if isinstance(record, ResetRecord)]
    assert len(resets) == 1
    assert resets[0] < border
    told = [
        ack.episode_id for r in records[border:] if isinstance(r, IngestRecord) for ack in r.acks
    ]
    assert told == ["audit/chunk-1", "audit/chunk-2", "audit/chunk-3"]


async def test_in_a_mode_with_answers_facts_and_poison_are_answered(root: Path) -> None:
    """The rest is only searched for: it costs no model."""
    plan = audit_plan(root / "run", **READ)
    reader = Reader(steadfast)
    await execute(plan, reader=reader)
    answered = {ask.part for ask in asks_of(audit_records(plan)) if ask.answer}
    assert answered == {"planted", "control", "poisoned", "emptied"}
    audits = [c for c in reader.contexts if c.trial_id.startswith("audits-")]
    assert len(audits) == 4 + 2 + 3 + 4
    assert len({context.scope for context in audits}) == len(audits)


async def test_what_cannot_be_searched_is_asked_and_has_no_chunks_to_find(root: Path) -> None:
    """The reason is written down."""
    plan = audit_plan(root / "run", mode="native", protocol="practical-answers")
    await execute(plan, OnlyAnswers)
    records = audit_records(plan)
    (skip,) = [record for record in records if isinstance(record, AuditSkipRecord)]
    assert (skip.audit, "cannot be searched" in skip.reason) == ("rechunk", True)
    assert all(ask.answer for ask in asks_of(records))


async def test_no_id_of_the_data_or_of_an_audit_reaches_the_adapter(root: Path) -> None:
    """It cannot tell an audit by its ids."""
    plan = audit_plan(root / "run")
    seen: list[str] = []

    class Noting(Memory):
        def take(self, episode):
            seen.extend([episode.episode_id, *(turn.turn_id for turn in episode.turns)])
            return super().take(episode)

    await execute(plan, Noting)
    assert seen
    assert all(name.startswith(("e_", "t_")) for name in seen)


async def test_an_adapter_that_dies_ends_the_audits_and_nothing_else(root: Path) -> None:
    """What was asked until then stands, with the fault after it; scored trials are others."""
    plan = audit_plan(root / "run")
    report = await execute(plan, DiesOnItsTenthSearch)
    records = audit_records(plan)
    assert len(asks_of(records)) == 10
    assert asks_of(records)[-1].outcome.status == "adapter_crashed"
    assert [r for r in records if isinstance(r, FaultRecord)]
    assert report.questions.outcomes == {"answered": 6}
    assert report.complete


async def test_a_trial_that_was_interrupted_begins_anew(root: Path) -> None:
    """It measures one memory as it goes: no half of it is kept."""
    plan = audit_plan(root / "run")
    spec = next(spec for spec in plan.specs if spec.kind == "audits")
    reached = asyncio.Event()

    class Lingers(Memory):
        searches = 0

        async def Search(self, request, context):  # noqa: N802
            type(self).searches += 1
            if type(self).searches == 5:
                reached.set()
                await asyncio.sleep(10)
            return await super().Search(request, context)

    folder = plan.directory
    services = TrialServices(provider=InProcessProvider(root, Lingers), run_id="test")
    first = asyncio.create_task(run_trial(spec, folder.scenarios, folder.trials, services))
    await reached.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    services = TrialServices(provider=InProcessProvider(root, Memory), run_id="test")
    await run_trial(spec, folder.scenarios, folder.trials, services)
    asked = [(r.audit, r.part, r.question_id, r.text) for r in asks_of(audit_records(plan))]
    assert asked == planned_asks(plan)
    assert (folder.trials / spec.trial_id / "abandoned-1.jsonl").is_file()


async def test_a_sealed_trial_is_a_chain_like_any_other(root: Path) -> None:
    """What was asked cannot be changed unseen."""
    plan = audit_plan(root / "run")
    await execute(plan)
    spec = next(spec for spec in plan.specs if spec.kind == "audits")
    transcript = plan.directory.trials / spec.trial_id / "transcript.jsonl"
    kinds = [json.loads(line)["record"]["kind"] for line in transcript.read_bytes().splitlines()]
    assert (kinds[0], kinds[-1], kinds.count("audit_ask")) == ("attempt", "close", 53)
    assert load_trial(transcript.parent)[1].questions == 0
