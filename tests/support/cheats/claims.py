"""Cheats with what was declared, measured or left out: capabilities, probes, sums, labels."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

from memrig.grading.judges.base import OFFICIAL
from memrig.model.judgement import Verdict
from memrig.model.manifest import AdapterRef
from support.cheats.judge import edit_verdicts
from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering, setting

_NO_ROW = "rejected: the request is no clean JSON: NaN"


def _declared(most: int, **others: object) -> Callable[[Tampering], None]:
    """In the last trial it declared something else, and was searched for so many hits."""

    def change(records: Rows) -> None:
        for record in records:
            if record["kind"] == "capabilities":
                record |= {"max_results": most, **others}
            for search in record.get("searches", ()):
                search |= {"limit": min(most, 10), "hits": search["hits"][:most]}

    return lambda forgery: forgery.edit(forgery.of_kind("scored")[-1], change)


def _without(*kinds: str) -> Callable[[Tampering], None]:
    """The scored trials have no such records."""

    def change(records: Rows) -> None:
        records[:] = [record for record in records if record["kind"] not in kinds]

    def forge(forgery: Tampering) -> None:
        for trial in forgery.of_kind("scored"):
            forgery.edit(trial, change)

    return forge


def _never_measured(records: Rows) -> None:
    """Interrupted after the last question, it says, and went on with nothing left to do."""
    last = max(n for n, record in enumerate(records) if record["kind"] == "question")
    records[last + 1 :] = [records[0] | {"number": 2}, {"kind": "close"}]


def _credited(forgery: Tampering) -> None:
    """A second sum of the same calls, below nothing, of which a report takes both."""
    counts = ("calls", "attempts", "input_tokens", "output_tokens")

    def change(records: Rows) -> None:
        at = next(n for n, record in enumerate(records) if record["kind"] == "model_usage")
        records.insert(at, records[at] | {name: -records[at][name] for name in counts})

    forgery.edit(forgery.first, change)


def _in_sums(**values: object) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        assert forgery.edit_each("model_usage", setting(**values))

    return forge


def _interrupted(forgery: Tampering) -> None:
    """It was slow to start, then interrupted, it says; and after that it used no models."""
    minute = timedelta(minutes=1)

    def earlier(row: Json) -> None:
        began = datetime.fromisoformat(row["started_at"]) - minute
        row["started_at"] = began.isoformat().replace("+00:00", "Z")

    def change(records: Rows) -> None:
        records[:] = [record for record in records if record["kind"] != "model_usage"]
        earlier(records[0])
        records[1]["ready_ns"] += 60 * 10**9
        records.insert(1, records[0] | {"number": 2})

    forgery.executions(lambda line: (earlier(line), line.update(wall_s=line["wall_s"] + 60)))
    forgery.disclose(first=forgery.manifest.disclosure.first - minute)
    forgery.edit(forgery.first, change)


def _probes(**values: object) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        assert forgery.edit_each("probe", setting(**values), forgery.first)

    return forge


def _at_load(change: Callable[[Json], object]) -> Callable[[Tampering], None]:
    """Changes each measurement under load."""

    def chosen(record: Json) -> None:
        if record["probe"] == "load":
            change(record)

    return lambda forgery: forgery.edit_each("probe", chosen, forgery.first)


def _slow_left_out(record: Json) -> None:
    record["samples_ns"]["search"] = sorted(record["samples_ns"]["search"])[:2]


def _flatter(record: Json) -> None:
    """The same memory, said to hold ten times as many episodes."""
    record["episodes"] *= 10


def _in_answers(**values: object) -> Callable[[Tampering], None]:
    """Changes every answer of a memory that answers by itself."""

    def change(record: Json) -> None:
        record["answer"] |= values

    return lambda forgery: forgery.edit_each("question", change)


def _opponent_refused(forgery: Tampering) -> None:
    """Where the opponent was right, its request could not be sent, it says."""
    gone: list[str] = []

    def change(record: Json) -> None:
        naive = record["naive"]
        gone.extend(call["key"] for call in naive["model_calls"])
        naive |= {"answer": None, "failure": _NO_ROW, "shown": 0, "model_calls": []}

    forgery.question(change, lambda record: bool(record["naive"]))

    def edit(lines: Rows) -> None:
        lines[:] = [line for line in lines if next(iter(line.values())).get("key") not in gone]

    forgery.edit_models(edit)


def _audit_well(forgery: Tampering) -> None:
    """The isolation audit broke off, which is said in other words."""
    outcome = {"status": "adapter_error", "kind": "INTERNAL", "message": "no"}
    fault = {"kind": "fault", "outcome": outcome, "message": "rpc=Search: no", "log_tail": ""}

    def change(records: Rows) -> None:
        verdict = next(record for record in records if record["kind"] == "audit")
        verdict |= {"verdict": "n/a", "detail": "needs no audit: every scope has its own store"}
        records[1:] = [fault, verdict, {"kind": "close"}]

    forgery.edit(forgery.of_kind("isolation-audit")[0], change)


def _tier(forgery: Tampering) -> None:
    forgery.relock(tier="organiser-rerun")


def _preset(forgery: Tampering) -> None:
    forgery.relock(budget=forgery.lock["budget"] | {"preset": "constrained"})


def _small(forgery: Tampering) -> None:
    """What Retrieve gave is charged to nobody."""

    def change(record: Json) -> None:
        for use in record["tool_uses"]:
            if use["name"] == "memory_retrieve":
                use["payload_bytes"] = 0

    forgery.edit_each("question", change)


def _adapter(**values: object) -> Callable[[Tampering], None]:
    """Describes the memory system otherwise, in lock, specs and manifest."""

    def forge(forgery: Tampering) -> None:
        adapter: Json = forgery.lock["adapter"] | values
        forgery.relock(adapter=adapter)
        forgery.draft(adapter=AdapterRef.model_validate(adapter))

    return forge


def _taken_over(forgery: Tampering) -> None:
    """All verdicts are a benchmark's own evaluator's, which never knew these questions."""
    forgery.relock(options={"verdicts": "sha256:" + "e1" * 32})

    def official(verdicts: Rows) -> None:
        for verdict in verdicts:
            vote = {"score": 1.0, "served_model": verdict["model"], "asked": 0, "cost_usd": 0.0}
            verdict |= {"votes": [vote], "quorum": 1, "score": 1.0, "agreement": None}
            verdict |= {"grader": OFFICIAL, "reason": ""}
        made = [Verdict.model_validate(verdict) for verdict in verdicts]
        verdicts[:] = [json.loads(one.model_dump_json()) for one in made]

    def edit(lines: Rows) -> None:
        lines[:] = [line for line in lines if next(iter(line.values())).get("purpose") != "judge"]

    edit_verdicts(official)(forgery)
    forgery.edit_models(edit)


CHEATS = (
    Cheat("declares-nothing", "retrieval", "declares that it never returns a hit, for a hard trial",
          "hard questions that no mean has", "timeline.handshake", _declared(0)),
    Cheat("declares-less", "longhorizon", "declares that it returns one hit, for a hard trial",
          "hard questions that no deep recall has", "timeline.alike", _declared(1)),
    Cheat("declares-another", "retrieval", "has another version of the system in another trial",
          "a system for each scenario", "timeline.alike", _declared(1000, version="tuned")),
    Cheat("declares-hint", "retrieval", "describes a tool of its own otherwise, in another trial",
          "the answer, where a model reads it", "timeline.alike",
          _declared(1000, tools=[{"name": "hint", "description": "9", "input_schema": "{}"}])),
    Cheat("usage-left-out", "reader", "leaves out what a pod had used, and its end",
          "a system whose cost nobody knows", "timeline.order", _without("usage", "teardown")),
    Cheat("usage-interrupted", "reader", "says that it was interrupted before that was measured",
          "a system whose cost nobody knows", "timeline.order",
          lambda forgery: forgery.edit(forgery.first, _never_measured)),
    Cheat("own-calls-credited", "asking", "sums its own calls up twice, once below nothing",
          "a system that looks cheap", "models.usage", _credited),
    Cheat("own-calls-free", "asking", "says that calls of a model without a price cost nothing",
          "a system that looks cheap", "models.usage", _in_sums(cost_usd=0.0)),
    Cheat("own-calls-interrupted", "asking", "leaves its own calls out, after an interruption",
          "a system that looks cheap", "models.usage", _interrupted),
    Cheat("probes-skipped", "probed", "says that there was nothing to measure",
          "a figure that looks bad", "probes.skipped",
          _probes(skipped="it needs none", values={}, samples_ns={})),
    Cheat("probes-empty", "probed", "notes no figures, and no failure",
          "a figure that looks bad", "probes.figures", _probes(values={}, samples_ns={})),
    Cheat("probe-flatter", "probed", "measures a small memory, and calls it a large one",
          "growth that looks flat", "probes.figures", _at_load(_flatter)),
    Cheat("probe-samples", "probed", "keeps the fastest searches under load",
          "a system that looks fast", "probes.figures", _at_load(_slow_left_out)),
    Cheat("probe-recall", "probed", "finds more under load than it was asked",
          "a recall that nobody has", "probes.figures",
          _at_load(lambda record: record["values"].update(recall=1.5))),
    Cheat("native-unknown", "native", "counts fewer citations of nothing than none",
          "citations that are all good", "sources.native", _in_answers(unknown_citations=-3)),
    Cheat("native-usage", "native", "used fewer tokens than none to answer",
          "a system that looks cheap", "sources.native",
          _in_answers(usage={"model_calls": -1, "input_tokens": -9, "output_tokens": -9})),
    Cheat("native-empty", "native", "answers with nothing, and calls it no abstention",
          "an error that looks like an answer", "models.answers", _in_answers(text="")),
    Cheat("opponent-refused", "reader", "says that the opponent's request could not be sent",
          "an opponent that is left out where it wins", "models.answers", _opponent_refused),
    Cheat("isolation-praised", "retrieval", "gives a broken isolation audit a reason of its own",
          "an audit that seems to be needless", "audits.isolation", _audit_well),
    Cheat("tier-own", "plain", "names a tier that there is not",
          "a label that looks like somebody's word", "profile.locks", _tier),
    Cheat("budget-label", "agent", "calls its budget by a smaller one's name",
          "quality under a small budget", "config.budget", _preset),
    Cheat("address-stray", "plain", "names the address of a service that it is not",
          "a better known name", "config.described", _adapter(endpoint="grpc://mem0.example:443")),
    Cheat("inputs-praised", "docker", "has words where the hash of its inputs belongs",
          "an image that seems to be somebody's", "config.described",
          _adapter(inputs={"adapter": "reproducible, certified"})),
    Cheat("baseline-renamed", "baseline", "drops the baseline from the baseline's name",
          "a context that looks whole where it was cut", "config.described",
          _adapter(name="full-context")),
    Cheat("documents-small", "retrieving", "counts fewer bytes of a document than it shows of it",
          "more of the memory than others may read", "budgets.outcomes", _small),
    Cheat("verdicts-taken-over", "judged", "calls its verdicts a benchmark evaluator's own",
          "a higher score, without a reply on record", "verdicts.terms", _taken_over),
)  # fmt: skip
