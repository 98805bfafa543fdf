"""What no verification can see, shown: each of these passes. Only a rerun tells, if anything does.

Whoever makes all of it up consistently has made up what the submitter alone has seen: the memory's
results, the clock, the machine, the provider's replies.
"""

import json
from datetime import datetime, timedelta

from memrig.model.scenario import Event
from memrig.suites.base import SuiteOptions, load_suite
from support.cheats.judge import edit_verdicts
from support.forged_runs import dress
from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering, canonical

_MONTH = timedelta(days=30)


def _sample() -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The sample's episodes by name, and its evidence by question."""
    (scenario,) = load_suite("practical").scenarios(SuiteOptions("practical", sample=True))
    events: list[Event] = list(scenario.timeline)
    texts = {event.episode_id: event.text for event in events if event.type == "episode"}
    return texts, {name: gold.evidence for name, gold in scenario.gold.items()}


def _perfect(forgery: Tampering) -> None:
    """Whatever is evidence was found first, in its own words."""
    texts, evidence = _sample()

    def change(record: Json) -> None:
        search = record["searches"][0]
        first = search["hits"][0]
        names = evidence[record["question_id"]]
        hits = [
            first | {"ref_id": f"r{n}", "text": texts[name], "episodes": [name], "turns": []}
            for n, name in enumerate(names)
        ]
        search["hits"] = [*hits, *search["hits"]][: search["limit"]]
        search["payload_bytes"] = 100_000

    forgery.edit_each("question", change)


def _faster(forgery: Tampering) -> None:
    """Every search and every stream took half as long."""

    def halved(record: Json) -> None:
        for search in record["searches"]:
            search["ns"] //= 2
        spared = record["memory_ns"] - sum(search["ns"] for search in record["searches"])
        record["memory_ns"] -= spared
        record["ns"] -= spared

    def ingest(record: Json) -> None:
        for ack in record["acks"]:
            ack["ns"] = max(1, ack["ns"] // 2)

    forgery.edit_each("question", halved)
    forgery.edit_each("ingest", ingest)
    for kind in ("ingest_end", "flush"):
        forgery.edit_each(kind, lambda record: record.update(ns=max(1, record["ns"] // 2)))


def _smaller(forgery: Tampering) -> None:
    forgery.edit_each("usage", lambda record: record.update(peak_memory_bytes=2**20))


def _machine(forgery: Tampering) -> None:
    """In lock, report and manifest."""
    small = forgery.lock["machine"] | {"cpu": "a small one", "cores": 1}
    forgery.put_lock(forgery.lock | {"machine": small})
    machine = forgery.manifest.disclosure.machine
    forgery.disclose(machine=type(machine).model_validate(small))


def _best_repeat(forgery: Tampering) -> None:
    """The better repeat under the other's name, each duration a little off, as another process."""
    best, other = forgery.of_kind("scored")
    records = forgery.records(best)
    digest = forgery.json(f"{other}/outcome.json")["spec_digest"]
    for record in records:
        if record["kind"] == "attempt":
            record["spec_digest"] = digest
        elif record["kind"] == "capabilities":
            record["boot_id"] = "feedfacecafebeef"
        elif record["kind"] == "question":
            record["ns"] += 1017
    forgery.put_records(other, records)


def _broken_off(forgery: Tampering) -> None:
    """An error, it says, came before what would have told on the memory."""
    outcome = {"status": "adapter_error", "kind": "INTERNAL", "message": "no"}
    fault = {"kind": "fault", "outcome": outcome, "message": "rpc=Search: no", "log_tail": ""}

    def change(records: Rows) -> None:
        at = next(n for n, one in enumerate(records) if one.get("audit") == "poison")
        records[at:] = [fault, {"kind": "close"}]

    forgery.edit(forgery.of_kind("audits")[0], change)


def _newer(forgery: Tampering) -> None:
    """A run of last month: every stamp there is, moved."""

    def moved(text: str) -> str:
        return (datetime.fromisoformat(text) + _MONTH).isoformat().replace("+00:00", "Z")

    forgery.edit_each("attempt", lambda one: one.update(started_at=moved(one["started_at"])))
    forgery.executions(lambda line: line.update(started_at=moved(line["started_at"])))
    shown = forgery.manifest.disclosure
    forgery.disclose(first=shown.first + _MONTH, last=shown.last + _MONTH)


def _judge_agrees(forgery: Tampering) -> None:
    """What the provider replied, in the record, the votes and the verdict."""
    right = json.dumps({"correct": True})

    def edit(lines: Rows) -> None:
        rows = [line["exchange"] for line in lines if "exchange" in line]
        for row in (row for row in rows if row["purpose"] == "judge"):
            reply = json.loads(row["response"])
            reply["content"][0]["text"] = right
            row["response"] = canonical(reply)

    def agree(verdicts: Rows) -> None:
        for verdict in verdicts:
            verdict |= {"score": 1.0, "agreement": 1.0}
            for vote in verdict["votes"]:
                vote |= {"reply": right, "score": 1.0}

    forgery.edit_models(edit)
    edit_verdicts(agree)(forgery)


UNSEEN = (
    Cheat("unseen-hits", "plain", "puts the evidence first among what the memory found",
          "a perfect memory", "", _perfect),
    Cheat("unseen-times", "plain", "halves every duration of the memory's, all of them alike",
          "a fast memory", "", _faster),
    Cheat("unseen-usage", "plain", "lowers the peak of memory in what the pods noted",
          "a thrifty memory", "", _smaller),
    Cheat("unseen-machine", "plain", "names a smaller machine, in lock and manifest",
          "latencies that look good for it", "", _machine),
    Cheat("unseen-pods", "plain", "passes process pods off as containers, wherever it is said",
          "the closed division, and an image that never ran", "", dress),
    Cheat("unseen-best", "retrieval", "has the better of many repeats stand for the others",
          "a lucky mean, without spread", "", _best_repeat),
    Cheat("unseen-fault", "retrieval", "ends the audits by a fault of its own making, which shows",
          "audits that say nothing, where they would fail", "", _broken_off),
    Cheat("unseen-dates", "plain", "moves every stamp by a month",
          "an old run that looks new", "", _newer),
    Cheat("unseen-replies", "judged", "makes up what the provider replied, all along",
          "a judge that always agrees", "", _judge_agrees),
)  # fmt: skip
