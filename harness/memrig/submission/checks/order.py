"""Which record may follow which: what the rig writes, whatever happens to it."""

from collections.abc import Mapping

from memrig.model.trial import TrialKind

#: A transcript begins like this.
FIRST = frozenset({"attempt"})

_MEMORY = {"ingest", "ingest_end", "question", "probe", "reset", "usage", "fault"}
_SCORED: Mapping[str, set[str]] = {
    # Questions and the end come at once where an earlier attempt had met a fault.
    "attempt": {"pod", "fault", "question", "close"},
    "pod": {"capabilities", "fault"},
    "capabilities": _MEMORY,
    "ingest": {"ingest", "ingest_end", "fault"},
    "ingest_end": {"flush", "fault"},
    "flush": _MEMORY,
    "probe": _MEMORY,
    "reset": _MEMORY,
    "question": {*_MEMORY, "close"},
    "fault": {"question", "usage", "fault", "close"},
    "usage": {"model_usage", "teardown", "fault"},
    "model_usage": {"model_usage", "teardown", "fault"},
    "teardown": {"close", "fault"},
}
_ISOLATION: Mapping[str, set[str]] = {
    "attempt": {"pod", "fault"},
    "pod": {"capabilities", "fault"},
    "capabilities": {"reset", "pod", "teardown", "fault"},
    "reset": {"teardown", "fault"},
    "teardown": {"teardown", "audit", "fault"},
    "fault": {"audit"},
    "audit": {"close"},
}
_AUDITED = {"ingest", "ingest_end", "audit_ask", "audit_skip", "reset", "usage", "fault"}
_AUDITS: Mapping[str, set[str]] = {
    "attempt": {"pod", "fault", "model_usage", "close"},
    "pod": {"capabilities", "fault"},
    "capabilities": _AUDITED,
    "ingest": {"ingest", "ingest_end", "fault"},
    "ingest_end": {"flush", "fault"},
    "flush": _AUDITED,
    "audit_ask": _AUDITED,
    "audit_skip": _AUDITED,
    "reset": _AUDITED,
    "usage": {"teardown", "fault"},
    "teardown": {"pod", "fault", "model_usage", "close"},
    "fault": {"model_usage", "close"},
    "model_usage": {"model_usage", "close"},
}
_TABLES: Mapping[TrialKind, Mapping[str, set[str]]] = {
    "scored": _SCORED,
    "isolation-audit": _ISOLATION,
    "audits": _AUDITS,
}


def following(trial: TrialKind, kind: str) -> frozenset[str]:
    """The kinds of record that may follow one in such a trial.

    After any but the end there may be another attempt: a rig can be killed whenever it is.
    """
    if kind == "close":
        return frozenset()
    return frozenset({*_TABLES[trial].get(kind, set()), *FIRST})
