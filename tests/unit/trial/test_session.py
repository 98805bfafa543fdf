"""A session says whom the memory system's own model calls are charged to."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from memrig.gateway.identity import TrialIdentity
from memrig.model.transcript import ResetRecord
from memrig.trial.models import TrialModels
from memrig.trial.session import Session


async def test_reset_is_charged_to_ingest_and_to_no_question() -> None:
    """Whatever was asked before it."""
    identity = TrialIdentity(trial_id="t", seed=1)
    during: list[tuple[str, str]] = []

    async def reset() -> ResetRecord:
        during.append((identity.phase, identity.scope))
        return ResetRecord(ns=1)

    log: list[ResetRecord] = []
    session = Session(
        spec=cast("Any", None),
        pod=cast("Any", None),
        client=cast("Any", SimpleNamespace(reset=reset)),
        log=cast("Any", log),
        models=TrialModels(chat=cast("Any", None), identity=identity, socket=Path("s")),
    )
    session.enter("answer", "s1/q1#0")
    await session.reset()
    assert during == [("ingest", "")]
    assert log == [ResetRecord(ns=1)]
