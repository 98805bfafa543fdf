"""Cheats with the audits: that they were made, of what, and what came of them."""

from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering


def _isolation(change: Callable[[Rows], object]) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        forgery.edit(forgery.of_kind("isolation-audit")[0], change)

    return forge


def _audits(change: Callable[[Rows], object]) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        forgery.edit(forgery.of_kind("audits")[0], change)

    return forge


def _asks(records: Rows, audit: str, part: str = "") -> Rows:
    return [
        record for record in records
        if record["kind"] == "audit_ask"
        and record["audit"] == audit and part in ("", record["part"])
    ]  # fmt: skip


def _leak_excused(records: Rows) -> None:
    for record in records:
        if record["kind"] == "audit":
            record |= {"verdict": "passed", "detail": "everything is fine"}


def _one_pod(records: Rows) -> None:
    """Planted and looked for in one and the same pod."""
    first = next(n for n, record in enumerate(records) if record["kind"] == "capabilities")
    second = next(n for n, one in enumerate(records) if n > first and one["kind"] == "pod")
    del records[second : second + 2]
    del records[next(n for n, record in enumerate(records) if record["kind"] == "teardown")]


def _no_isolation(forgery: Tampering) -> None:
    forgery.remove(forgery.of_kind("isolation-audit")[0])


def _no_isolation_locked(forgery: Tampering) -> None:
    """The audit that failed was never planned; its trial is still there."""
    forgery.put_lock(forgery.lock | {"audit": False})


def _no_audits(forgery: Tampering) -> None:
    forgery.remove(forgery.of_kind("audits")[0])


def _canary_known(records: Rows) -> None:
    """Canaries of another run: the image knows them."""
    for record in _asks(records, "canary"):
        record["text"] = "Who has the spare key to the purple piano?"


def _canary_left_out(records: Rows) -> None:
    for record in _asks(records, "canary", "control"):
        records.remove(record)


def _canary_never_told(records: Rows) -> None:
    for record in records:
        if record["kind"] == "ingest":
            record["acks"] = [
                ack for ack in record["acks"]
                if not ack["episode_id"].startswith("audit/canary")
            ]  # fmt: skip


def _skipped(records: Rows) -> None:
    """The audit that would show it does not apply, it says."""
    gone = _asks(records, "reset")
    at = records.index(gone[0])
    scenario = gone[0]["scenario_id"]
    for record in gone:
        records.remove(record)
    skip = {"kind": "audit_skip", "scenario_id": scenario, "audit": "reset", "reason": "no"}
    records.insert(at, skip)


def _easier(records: Rows) -> None:
    for record in _asks(records, "repeat", "paraphrase"):
        record["text"] = record["text"].removesuffix(", please?") + "?"


def _not_reset(records: Rows) -> None:
    """The memory was never emptied: what it is asked afterwards says nothing."""
    del records[next(n for n, record in enumerate(records) if record["kind"] == "reset")]


def _never_filled(records: Rows) -> None:
    """Audited is a memory that was told the canaries alone."""
    told = [record for record in records if record["kind"] == "ingest"]
    gone = 0
    for record in told[:2]:
        kept = [ack for ack in record["acks"] if ack["episode_id"].startswith("audit/")]
        gone += len(record["acks"]) - len(kept)
        record["acks"] = kept
    stream = next(record for record in records if record["kind"] == "ingest_end")
    stream["episodes"] -= gone
    stream["text_bytes"] = 100


def _poison_after(records: Rows) -> None:
    """Asked before the poison was in, and told as if after it."""
    at = next(
        n for n, record in enumerate(records)
        if record["kind"] == "ingest" and record["acks"][0]["episode_id"].startswith("audit/poison")
    )  # fmt: skip
    asks = _asks(records, "poison")
    for record in asks:
        records.remove(record)
    records[at:at] = asks


def _rechunked_same(records: Rows) -> None:
    """The second pod was never told the other chunks."""
    ingests = [record for record in records if record["kind"] == "ingest"]
    last = [
        record for record in ingests if record["acks"][0]["episode_id"].startswith("audit/chunk")
    ]
    for record in last:
        records.remove(record)


def _scored_in_audit(forgery: Tampering) -> None:
    """A question is settled in the audits' trial, where nobody counts it."""

    def change(records: Rows) -> None:
        ask: Json = _asks(records, "repeat")[0]
        question = {
            name: ask[name]
            for name in ("scenario_id", "question_id", "outcome", "ns", "memory_ns", "searches")
        }
        records.insert(records.index(ask), question | {"kind": "question"})

    _audits(change)(forgery)


CHEATS = (
    Cheat("leak-excused", "retrieval", "has the isolation audit say what suits it",
          "a leak that does not show", "audits.isolation", _isolation(_leak_excused)),
    Cheat("isolation-one-pod", "retrieval", "looks for the canary in the pod that it was put in",
          "an audit of nothing", "audits.border", _isolation(_one_pod)),
    Cheat("isolation-dropped", "retrieval", "leaves out the isolation audit",
          "a leak that does not show", "cells.complete", _no_isolation),
    Cheat("isolation-unplanned", "retrieval", "says that none was planned",
          "a leak that does not show", "cells.only-planned", _no_isolation_locked),
    Cheat("audits-dropped", "retrieval", "leaves out the trial of the audits",
          "a cache that does not show", "cells.complete", _no_audits),
    Cheat("canary-known", "retrieval", "asks for canaries of another run",
          "canaries that the image knows", "audits.asked", _audits(_canary_known)),
    Cheat("canary-control-dropped", "retrieval", "leaves out the canaries that were not planted",
          "made-up answers that do not show", "audits.asked", _audits(_canary_left_out)),
    Cheat("canary-never-told", "retrieval", "never tells the memory its canaries",
          "an audit of nothing", "audits.told", _audits(_canary_never_told)),
    Cheat("audit-skipped", "retrieval", "says that an audit does not apply",
          "the one that it would fail", "audits.skipped", _audits(_skipped)),
    Cheat("paraphrase-same", "retrieval", "asks the paraphrase in the question's words",
          "a cache that does not show", "audits.asked", _audits(_easier)),
    Cheat("audit-not-reset", "retrieval", "does not empty the memory before asking it again",
          "an audit of nothing", "audits.played", _audits(_not_reset)),
    Cheat("audit-never-filled", "retrieval", "audits a memory that was told next to nothing",
          "audits that are easy to pass", "audits.played", _audits(_never_filled)),
    Cheat("poison-after", "retrieval", "asks before the poison is in",
          "a memory that seems to resist it", "audits.played", _audits(_poison_after)),
    Cheat("rechunked-never", "retrieval", "never tells the second memory the other chunks",
          "an audit of nothing", "audits.played", _audits(_rechunked_same)),
    Cheat("scored-in-audit", "retrieval", "settles a scored question among the audits",
          "a memory that knows when it counts", "audits.apart", _scored_in_audit),
)  # fmt: skip
