"""Records of probes made by hand, as a trial of the operations suite leaves them."""

from collections.abc import Mapping, Sequence

from memrig.grading.base import Metric
from memrig.model.transcript import FlushRecord, ProbeRecord, Record, StreamRecord
from memrig.report.model import Report
from memrig.report.model_probes import ProbeSummary
from memrig.report.probe_log import ProbeLog
from memrig.report.probes import probe_summary
from memrig.report.settled import Settled
from support.places import grade
from support.reports import HOSTILE, LONG, hostile_report, sample_report

MIB, MS = 1024 * 1024, 1_000_000
METRICS = (Metric("recall_any@10", binary=True),)
SIZES = (1_000, 10_000, 100_000)
EMPTY = 40 * MIB


def probe(kind: str, scenario: str = "growth", **changes: object) -> ProbeRecord:
    """A record of one probe."""
    fields: dict[str, object] = {
        "scenario_id": scenario,
        "probe_id": f"{scenario}-{kind}",
        "probe": kind,
        "episodes": 300,
        "items": 300,
    }
    return ProbeRecord.model_validate(fields | changes)


def usage(size: int, memory: float, **changes: object) -> ProbeRecord:
    """What the pod used at a size."""
    values = {"memory_bytes": memory, "file_bytes": memory / 10, "cpu_s": 0.5 + size / 5_000}
    fields: dict[str, object] = {"episodes": size, "items": size, "values": values}
    return probe("usage", probe_id=f"usage-{size}", **(fields | changes))


def load(size: int, clients: int, ms: Sequence[float], **values: float) -> ProbeRecord:
    """Searches by so many clients that took so many milliseconds each."""
    said = {"clients": clients, "calls": len(ms), "errors": 0, "wall_s": sum(ms) / 1000 / clients,
            "recall": 0.8}  # fmt: skip
    return probe(
        "load", probe_id=f"load-{size}-{clients}", episodes=size, items=size,
        values=said | values, samples_ns={"search": [round(one * MS) for one in ms]},
    )  # fmt: skip


def growth(sizes: Sequence[int] = SIZES, *, models: bool = False) -> list[Record]:
    """A memory that takes 2 KiB an episode and searches in proportion to its size."""
    records: list[Record] = [usage(0, EMPTY)]
    before = 0
    for size in sizes:
        ns = (size - before) * 200_000
        records.append(StreamRecord(scenario_id="growth", episodes=size - before,
                                    text_bytes=90 * size, ns=ns))  # fmt: skip
        records.append(FlushRecord(scenario_id="growth", ns=ns, total_items=size))
        more = {"model_calls": size, "model_tokens": 150 * size, "model_usd": size / 10_000}
        record = usage(size, EMPTY + 2048 * size)
        values = record.values | more if models else record.values
        records.append(record.model_copy(update={"values": values}))
        step = size / 1000
        records += [load(size, 1, [step, 1.2 * step, 3 * step]), load(size, 8, [4 * step] * 24)]
        before = size
    return records


def freshness(found: int = 18, later: int = 2, asked: int = 20) -> ProbeRecord:
    """How soon acknowledged episodes are found."""
    return probe(
        "freshness",
        "freshness",
        values={"asked": asked, "found": found, "found_after_flush": later},
        samples_ns={"visible": [(3 + n) * MS for n in range(found)]},
    )


def restart(subject: str, **values: float) -> ProbeRecord:
    """A container that was killed."""
    said = {"recall_before": 0.9, "recall_after": 0.9, "acks_after": 1.0}
    return probe("restart", "restart", subject=subject, values=said | values,
                 samples_ns={"down": [1_900 * MS]})  # fmt: skip


def leak(leaks: int = 0, asked: int = 20, **changes: object) -> ProbeRecord:
    """What the second scope could find of the first."""
    values = {"leaks": leaks, "asked": asked, "recall_before": 0.95}
    return probe("leak", "leak", **({"values": values} | changes))


#: An outage that a memory comes through unharmed, and one that it does not.
WELL = {"met": 40, "episodes": 40, "acked": 40, "rejected": 0, "ingest_errors": 0,
        "flush_errors": 0, "search_ok": 20, "search_errors": 0, "recall_during": 0.9,
        "recall_outage": 0.9, "recall_after": 0.95, "episodes_after": 20, "acked_after": 20,
        "errors_after": 0}  # fmt: skip
ILL = WELL | {"acked": 4, "rejected": 30, "ingest_errors": 1, "flush_errors": 1, "search_ok": 2,
              "search_errors": 18, "recall_outage": 0.1, "recall_after": 0.75, "acked_after": 18,
              "errors_after": 1}  # fmt: skip


def outage(fault: str, **changes: object) -> ProbeRecord:
    """Episodes and searches while models were out."""
    name = f"outage-{fault}"
    fields = {"probe_id": name, "subject": fault, "values": WELL} | changes
    return probe("outage", name, **fields)


def every_kind() -> list[Record]:
    """A whole run of a memory with models and two containers, not all of it well."""
    return [
        *growth(models=True),
        freshness(),
        restart("adapter", recall_after=0.0),
        restart("postgres"),
        leak(leaks=2),
        outage("slow"),
        outage("refuses", values={}, skipped="the memory system asked for no model"),
        outage("down", values=ILL, failure="24 calls failed: 24 × rpc=Search: UNAVAILABLE"),
    ]


def logged(*trials: Sequence[Record]) -> ProbeLog:
    """The records of some trials, read."""
    log = ProbeLog()
    for number, records in enumerate(trials):
        for record in records:
            log.take(f"trial-{number}", record)
    return log


def asked(recalls: Mapping[int, float], n: int = 20, scenario: str = "growth") -> list[Settled]:
    """Questions by the size at which they were asked, with so much recall."""
    return [
        Settled(
            grade=grade(number, scenario, scores={"recall_any@10": float(number < share * n)}),
            episodes=max(recalls), before=size, evidence=0, operation="", several=False,
            confidence=None, abstained=False, answerable=True,
        )
        for size, share in recalls.items()
        for number in range(n)
    ]  # fmt: skip


def summary(*trials: Sequence[Record]) -> ProbeSummary:
    """What these trials' probes say."""
    found = probe_summary(
        logged(*trials), asked({1_000: 1.0, 10_000: 0.85, 100_000: 0.6}), METRICS, 1
    )
    assert found is not None
    return found


def operated_report(**changes: object) -> Report:
    """A report of the operations suite."""
    fields = {"suite": "operations", "protocol": "operations", "probes": summary(every_kind())}
    return sample_report(**(fields | changes))


def hostile_operations() -> Report:
    """Whatever an adapter can bring into a probe's record is hostile, long, or both."""
    bad = HOSTILE + LONG
    records = [
        *growth(),
        restart(HOSTILE).model_copy(update={"failure": bad}),
        leak(failure=bad),
        outage("slow", failure=HOSTILE),
    ]
    return hostile_report().model_copy(update={"probes": summary(records)})
