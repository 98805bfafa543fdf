"""Plays the audits of one scenario: two memories, one after the other."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from memrig.client import Pseudonyms
from memrig.model.transcript import AuditName, AuditSkipRecord
from memrig.model.trial import TrialSpec
from memrig.suites.spool import SpooledScenario
from memrig.trial.audits.chunks import can_rechunk, rechunked
from memrig.trial.audits.plan import AuditPlan, plan_of
from memrig.trial.audits.scene import AuditScene
from memrig.trial.session import Session

#: Starts a pod, and ends it.
Sessions = Callable[[], AbstractAsyncContextManager[Session]]


async def play_audits(spec: TrialSpec, scenario: SpooledScenario, sessions: Sessions) -> None:
    """Carries out every audit of a trial. What is asked is left in the transcript.

    Args:
        spec: the trial.
        scenario: its scenario.
        sessions: gives a fresh pod each time, or the same endpoint.

    Raises:
        AdapterError: the adapter could not take an episode, or is gone.
        GatewayError: a model could not be had.
    """
    plan = plan_of(spec, scenario.events())
    async with sessions() as session:
        with session.models_first():
            await session.handshake()
            await _first(plan, await _scene(session, scenario), scenario)
        await session.record_usage()
    async with sessions() as session:
        with session.models_first():
            await session.handshake()
            await _second(plan, await _scene(session, scenario), scenario)
        await session.record_usage()


async def _scene(session: Session, scenario: SpooledScenario) -> AuditScene:
    if session.spec.adapter.pod == "endpoint":  # it holds whatever was there before
        await session.reset()
    ids = Pseudonyms(session.spec.seed, scenario.ref.digest)
    return AuditScene(session, scenario.ref.scenario_id, ids)


async def _first(plan: AuditPlan, scene: AuditScene, scenario: SpooledScenario) -> None:
    """As the data has it: repeat, canary, poison, and last of all reset."""
    await scene.fill(plan.told(scenario.events()), "told")
    await scene.ask_all(plan.repeat)
    await scene.ask_all(plan.canary)
    if plan.poisons:
        await scene.fill(plan.poisoned, "poison")
        await scene.ask_all(plan.poison)
    await scene.session.reset()
    await scene.ask_all(plan.emptied)
    await scene.fill(plan.refill, "refill")
    await scene.ask_all(plan.refilled)


async def _second(plan: AuditPlan, scene: AuditScene, scenario: SpooledScenario) -> None:
    """The same in other chunks."""
    if reason := _no_rechunk(scene, scenario):
        _skip(scene, "rechunk", reason)
        return
    await scene.fill((chunk.episode for chunk in rechunked(scenario.events())), "chunks")
    await scene.ask_all(plan.rechunk)


def _no_rechunk(scene: AuditScene, scenario: SpooledScenario) -> str:
    """Why other chunks would tell nothing; empty where they do."""
    if not scene.searchable:
        return "this memory system cannot be searched, so nothing tells what it found"
    if not can_rechunk(scenario.events()):
        return "its episodes have no turns, and no two are of one day: there is no other chunking"
    return ""


def _skip(scene: AuditScene, audit: AuditName, reason: str) -> None:
    scene.session.log.append(
        AuditSkipRecord(scenario_id=scene.scenario_id, audit=audit, reason=reason)
    )
