"""Builds the report of a run from its sealed trials, and writes it beside them."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

import numpy as np

from memrig._version import __version__
from memrig.grading.base import Grade, Grader, load_grader
from memrig.grading.judges.base import NO_VERDICT, UNDECIDED
from memrig.grading.judges.reference import judge_warning
from memrig.grading.profile import Composing
from memrig.model.canonical import canonical_json
from memrig.pod.text import plain_text
from memrig.report.across import across_of
from memrig.report.answering import answering_summary, is_dataset, is_made, published_rows
from memrig.report.audits import audits_summary
from memrig.report.boots import boots_of, shared_boots
from memrig.report.calibrated import calibration_summary
from memrig.report.collect import Collected, collect
from memrig.report.depth import depth_summary
from memrig.report.model import (
    AdapterSummary,
    Audit,
    Bar,
    Claims,
    IngestSummary,
    Latency,
    Phase,
    ProfileSummary,
    QuestionCounts,
    Report,
    Resources,
)
from memrig.report.operations import operation_summary
from memrig.report.probes import probe_summary
from memrig.report.timeline import timeline_of
from memrig.report.units import plural
from memrig.report.worst import worst_questions
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.lock import Lock
from memrig.runs.profiles import differences_of, division_label, division_of
from memrig.stats.composite import Composite, composite
from memrig.stats.summary import summarise
from memrig.trial.directory import write_aside

_PHASES: tuple[Phase, ...] = get_args(Phase)
#: Modes in which one search is made for each question, so that evidence has a rank.
_ONE_SEARCH = frozenset({"retrieval", "reader"})
_DEPTH = 10
_BARS = 24


def build_report(directory: RunDirectory) -> Report:
    """Grades a run, writes `grades.jsonl` and `report.json`, and returns the report.

    Raises:
        VerificationError: something in the run was changed since it was sealed.
    """
    lock = directory.lock()
    found = collect(directory)
    write_aside(directory.grades, b"".join(canonical_json(grade) + b"\n" for grade in found.grades))
    report = _report(directory, lock, found)
    write_aside(directory.report_json, report.model_dump_json(indent=1).encode() + b"\n")
    return report


def _report(directory: RunDirectory, lock: Lock, found: Collected) -> Report:
    grader = load_grader(lock.protocol)
    executions = directory.executions()
    counts = _counts(lock, found)
    audit = _audit(found)
    incomplete = _incomplete(lock, counts, found, audit)
    given = lock.adapter.pod == "given"
    unanswered = counts.outcomes.get("adapter_error", 0) if given else 0
    boots = boots_of(lock.adapter.pod, found.boots)
    seed = int(lock.digest.removeprefix("sha256:")[:16], 16)
    audits = audits_summary(directory, found.audited)
    return Report(
        run_id=directory.root.name,
        lock_digest=lock.digest,
        memrig_version=__version__,
        complete=not incomplete,
        incomplete=incomplete,
        labels=(
            *_labels(lock, executions, audit, unanswered),
            *filter(None, [shared_boots(boots), audits.label if audits else ""]),
        ),
        notes=_notes(lock, found),
        adapter=_adapter(lock, found),
        profile=_profile(lock, executions),
        suite=lock.suite,
        protocol=lock.protocol,
        mode=lock.mode,
        isolation=lock.isolation,
        seeds=lock.seeds,
        repeats=lock.repeats,
        top_k=lock.top_k,
        scenarios=len(lock.scenarios),
        headline=tuple(metric.name for metric in grader.metrics if metric.heads(lock.mode)),
        data=lock.data,
        machine=lock.machine,
        questions=counts,
        metrics=tuple(summarise(found.grades, grader.metrics, lock.suite, lock.protocol, seed)),
        composite=_composite(grader, found.grades, seed),
        latencies=tuple(_latency(phase, found.ns[phase]) for phase in _PHASES if found.ns[phase]),
        search_histogram_ms=_histogram(found.ns["search"]),
        rank_histogram=_ranks(found.grades) if lock.mode in _ONE_SEARCH else {},
        ingest=_ingest(found),
        claims=_claims(found.grades),
        resources=_resources(found, executions),
        answering=answering_summary(lock, executions, found, incomplete, unanswered),
        costs=found.costs.rows(),
        published=published_rows(lock),
        timeline=timeline_of(directory, found),
        depth=depth_summary(found.settled, grader.metrics, seed, lock.reader),
        operations=operation_summary(found.settled, grader.metrics, lock.reader, seed),
        calibration=calibration_summary(found.settled),
        probes=probe_summary(found.probes, found.settled, grader.metrics, seed),
        audit=audit,
        audits=audits,
        faults=tuple(found.faults),
        worst=worst_questions(directory, found),
        across=across_of(directory, lock, grader, found),
        boots=boots,
        executions=tuple(executions),
    )


def _notes(lock: Lock, found: Collected) -> tuple[str, ...]:
    """What the data, the plan, the statistics and the memory system have to say."""
    said = (lock.data.notes, lock.notes, _cluster_note(found.grades), _limitations(found))
    return tuple(note for notes in said for note in notes)


def _limitations(found: Collected) -> list[str]:
    """What the memory system says of itself."""
    if found.capabilities is None:
        return []
    name = found.capabilities.name
    return [f"{name} says: {plain_text(text)}" for text in found.capabilities.limitations]


def _composite(grader: Grader, grades: Sequence[Grade], seed: int) -> Composite | None:
    """The run's one number, where its protocol has one."""
    if not isinstance(grader, Composing):
        return None
    return composite(grades, grader.metrics, grader.profile, seed)


def _counts(lock: Lock, found: Collected) -> QuestionCounts:
    ungraded = Counter(g.reason for g in found.grades if g.status == "ungraded")
    return QuestionCounts(
        planned=lock.repeats * sum(ref.questions for ref in lock.asked),
        settled=len(found.grades),
        graded=sum(grade.status == "graded" for grade in found.grades),
        ungraded=dict(sorted(ungraded.items())),
        outcomes=dict(sorted(Counter(grade.outcome for grade in found.grades).items())),
    )


def _incomplete(lock: Lock, counts: QuestionCounts, found: Collected, audit: Audit) -> str:
    reasons = []
    if audit.verdict == "failed" and lock.isolation == "reset":
        reasons.append("Reset does not empty the memory, so scenarios saw each other's episodes")
    if found.missing:
        reasons.append(f"{plural(len(found.missing), 'trial')} not finished")
    if counts.settled < counts.planned:
        reasons.append(
            f"{counts.planned - counts.settled} of {counts.planned} questions not settled"
        )
    if rigs := counts.outcomes.get("harness_error", 0):
        reasons.append(f"{plural(rigs, 'question')} failed by the rig or a model provider")
    if lock.judge and (open_ := sum(_undecided(grade, found) for grade in found.grades)):
        reasons.append(f"{plural(open_, 'question')} without a judge's verdict")
    return "; ".join(reasons)


def _undecided(grade: Grade, found: Collected) -> bool:
    """Whether a judge should have decided and did not: never asked, or too few valid votes.

    What a protocol leaves out has no verdict, and is not open. A question that is graded without a
    judge may still wait for one in some of its metrics.
    """
    if grade.status == "graded":
        return any(why.startswith((NO_VERDICT, UNDECIDED)) for why in grade.missing.values())
    key = grade.trial_id, grade.scenario_id, grade.question_id
    return grade.reason.startswith(NO_VERDICT) or key in found.verdicts


def _labels(
    lock: Lock, executions: Sequence[Execution], audit: Audit, unanswered: int
) -> tuple[str, ...]:
    """What a reader must know before comparing this run with another."""
    asked = sum(ref.questions for ref in lock.scenarios)
    reader = lock.reader
    own = not lock.sample and not is_dataset(lock)
    said = (
        (division_label(lock, executions), division_of(lock, executions) == "open"),
        ("isolation audit failed", audit.verdict == "failed"),
        (f"reader {reader}: built in, no LLM; not comparable", reader.startswith("local/")),
        (judge_warning(lock.protocol, lock.judge), bool(lock.judge)),
        (f"own data: {lock.data.name} ({lock.data.origin})", own),
        ("built-in sample, not the dataset", lock.sample),
        (f"only the {asked} questions with an answer", "only_answered" in lock.options),
        (f"{unanswered} of {asked} questions without an answer: counted as wrong", unanswered > 0),
        (_sized(lock), is_made(lock)),
        (_limited(lock), lock.limit is not None),
        ("pooled: all scenarios in one memory", lock.isolation == "pooled"),
        (_PODS.get(lock.adapter.pod, ""), True),
        (f"category labels: {lock.category_labels}", lock.category_labels != "true"),
        (f"labels: {lock.options.get('labels')}", "labels" in lock.options),
    )
    return tuple(text for text, holds in said if text and holds)


def _sized(lock: Lock) -> str:
    """In what a made world differs from the suite's own size; empty where in nothing."""
    names = ("turns", "questions", "question_set")
    chosen = [f"{n.replace('_', ' ')} {lock.options[n]}" for n in names if n in lock.options]
    return f"not the suite's usual world: {', '.join(chosen)}" if chosen else ""


def _limited(lock: Lock) -> str:
    each = " of each seed" if len(lock.seeds) > 1 else ""
    return f"limited to {lock.limit} questions{each} (stratified)"


#: What is said of every kind of pod but Docker's.
_PODS = {
    "process": "process pod: not isolated, not leaderboard-eligible",
    "endpoint": "endpoint pod: not isolated, not leaderboard-eligible",
    "baseline": "a baseline of the rig, no memory system",
    "given": "answers produced elsewhere: how they came about was not seen",
}


def _cluster_note(grades: Sequence[Grade]) -> tuple[str, ...]:
    clusters = len({grade.cluster for grade in grades})
    if not 2 <= clusters < 12 or len(grades) == clusters:
        return ()
    smallest = 2.0 / 2**clusters
    note = (
        f"intervals: t over {clusters} scenarios, since questions of one scenario are not "
        f"independent; a paired sign test over {clusters} scenarios cannot reach p below "
        f"{smallest:.2g}"
    )
    return (note,)


def _adapter(lock: Lock, found: Collected) -> AdapterSummary:
    declared = found.capabilities
    endpoint = lock.adapter.pod == "endpoint"
    return AdapterSummary(
        name=declared.name if endpoint and declared else lock.adapter.name,
        version=declared.version if endpoint and declared else lock.adapter.version,
        pod=lock.adapter.pod,
        digest=lock.adapter.images.get("adapter", ""),
        inputs=lock.adapter.inputs.get("adapter", ""),
        declared_name=declared.name if declared else "",
        declared_version=declared.version if declared else "",
    )


def _profile(lock: Lock, executions: Sequence[Execution]) -> ProfileSummary | None:
    if not lock.profile:
        return None
    return ProfileSummary(
        name=lock.profile,
        tier=lock.tier,
        digest=lock.profile_digest,
        division=division_of(lock, executions),
        differences=differences_of(lock, executions),
    )


def _latency(phase: Phase, values: list[int]) -> Latency:
    p50, p95, p99, top = np.quantile(np.asarray(values) / 1e6, [0.5, 0.95, 0.99, 1.0])
    return Latency(
        phase=phase,
        n=len(values),
        p50_ms=round(float(p50), 3),
        p95_ms=round(float(p95), 3),
        p99_ms=round(float(p99), 3),
        max_ms=round(float(top), 3),
    )


def _histogram(values: list[int]) -> tuple[Bar, ...]:
    """Logarithmic bars from the fastest to the slowest search, milliseconds."""
    if not values:
        return ()
    data = np.maximum(np.asarray(values) / 1e6, 1e-3)
    low, high = float(data.min()) * 0.999, float(data.max()) * 1.001
    edges = np.geomspace(low, high, _BARS + 1)
    counts, _ = np.histogram(data, edges)
    return tuple(
        Bar(low=round(float(a), 4), high=round(float(b), 4), count=int(c))
        for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def _ranks(grades: Sequence[Grade]) -> dict[str, int]:
    graded = [grade for grade in grades if grade.status == "graded"]
    ranks = Counter(
        str(g.rank) if g.rank is not None and g.rank <= _DEPTH else "none" for g in graded
    )
    return {key: ranks[key] for key in (*map(str, range(1, _DEPTH + 1)), "none")}


def _ingest(found: Collected) -> IngestSummary:
    seconds = found.stream_ns / 1e9
    return IngestSummary(
        episodes=sum(found.acks.values()),
        stored=found.acks["stored"],
        duplicate=found.acks["duplicate"],
        rejected=found.acks["rejected"],
        items=found.items,
        text_bytes=found.stream_bytes,
        episodes_per_s=round(found.stream_episodes / seconds, 1) if seconds else None,
    )


def _claims(grades: Sequence[Grade]) -> Claims:
    return Claims(
        hits=sum(grade.hits for grade in grades),
        void=sum(grade.void_claims for grade in grades),
        derived=sum(grade.derived_hits for grade in grades),
        surplus=sum(grade.surplus_hits for grade in grades),
    )


def _resources(found: Collected, executions: Sequence[Execution]) -> Resources:
    rig = max((e.rig_peak_memory_bytes for e in executions), default=None)
    return Resources(
        cpu_s=round(sum(found.cpu_s), 3) if found.cpu_s else None,
        peak_memory_bytes=max(found.peak_memory, default=None),
        rig_peak_memory_bytes=rig,
        wall_s=round(sum(e.wall_s for e in executions), 3),
    )


def _audit(found: Collected) -> Audit:
    if not found.audits:
        return Audit(verdict="not run", detail="")
    worst = min(found.audits, key=lambda a: ("failed", "n/a", "passed").index(a.verdict))
    return Audit(verdict=worst.verdict, detail=worst.detail)
