"""One pass over a run's sealed trials: grades, timings, counts. Everything a report needs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from memrig.grading.base import Asked, Grade, Grader, load_grader
from memrig.grading.grade import Verdicts, graded
from memrig.model.judgement import Verdict
from memrig.model.transcript import (
    Ack,
    AuditAskRecord,
    AuditRecord,
    CapabilitiesRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    ModelUsageRecord,
    PodRecord,
    QuestionRecord,
    Record,
    StreamRecord,
    TeardownRecord,
    UsageRecord,
)
from memrig.model.trial import TrialSpec
from memrig.report.audit_log import AuditedTrial
from memrig.report.boots import Boot
from memrig.report.costs import CostTable
from memrig.report.probe_log import ProbeLog
from memrig.report.settled import Settled, Settling
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of, verdicts_of
from memrig.trial.directory import load_trial


@dataclass(slots=True)
class Collected:
    """What the trials of a run hold together. Durations in nanoseconds by phase."""

    grades: list[Grade] = field(default_factory=list)
    ns: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    acks: Counter[str] = field(default_factory=Counter)
    items: int = 0
    stream_episodes: int = 0
    stream_bytes: int = 0
    stream_ns: int = 0
    cpu_s: list[float] = field(default_factory=list)
    peak_memory: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    audits: list[AuditRecord] = field(default_factory=list)
    audited: list[AuditedTrial] = field(default_factory=list)
    capabilities: CapabilitiesRecord | None = None
    boots: list[Boot] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    verdicts: dict[tuple[str, str, str], list[Verdict]] = field(default_factory=dict)
    costs: CostTable = field(default_factory=CostTable)
    context_tokens: list[int] = field(default_factory=list)
    context_cut: int = 0
    settled: list[Settled] = field(default_factory=list)
    probes: ProbeLog = field(default_factory=ProbeLog)
    _counted: set[tuple[str, str, str]] = field(default_factory=set)

    def take(self, spec: TrialSpec, record: Record) -> None:
        """Takes one record in."""
        self.probes.take(spec.trial_id, record)
        if isinstance(record, FaultRecord):
            last = next(
                (line for line in reversed(record.log_tail.splitlines()) if line.strip()), ""
            )
            said = f" (its last line: {last.strip()})" if last else ""
            self.faults.append(f"{spec.trial_id}: {record.outcome.label}: {record.message}{said}")
        elif isinstance(record, QuestionRecord):
            self.ns["search"].extend(search.ns for search in record.searches)
            self._take_answer(record)
        elif isinstance(record, IngestRecord):
            self._take_acks((spec.trial_id, record.scenario_id), record.acks)
        else:
            if isinstance(record, CapabilitiesRecord):
                self.boots.append(Boot.of(spec, record))
            self._take_facts(record)

    def take_audits(self, spec: TrialSpec, records: Iterable[Record]) -> None:
        """Takes an audits trial in: nothing of it counts among what the scored trials measured.

        What it cost was paid, and its processes must not be theirs.
        """
        trial = AuditedTrial(spec)
        for record in records:
            trial.take(record)
            match record:
                case AuditAskRecord():
                    for call in record.model_calls:
                        self.costs.take_call(call)
                case ModelUsageRecord() | FaultRecord():
                    self.take(spec, record)
                case CapabilitiesRecord():
                    self.boots.append(Boot.of(spec, record))
                case _:
                    pass
        self.audited.append(trial)

    def take_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Takes a question's verdicts in; votes are asked for side by side."""
        slowest = 0
        for verdict in verdicts:
            key = verdict.trial_id, verdict.scenario_id, verdict.question_id
            self.verdicts.setdefault(key, []).append(verdict)
            self.costs.take_verdict(verdict)
            slowest = max([slowest, *(vote.ns for vote in verdict.votes)])
        if slowest:
            self.ns["judge"].append(slowest)

    def _take_answer(self, record: QuestionRecord) -> None:
        for call in record.paid_calls:  # paid for, also where no answer came of it
            self.costs.take_call(call)
        if record.answer is None:
            return
        self.ns["answer"].append(record.answer_ns)
        shown = record.answer.memories
        self.context_tokens.append(sum(memory.shown_tokens for memory in shown))
        found = {hit.ref_id for search in record.searches for hit in search.hits}
        self.context_cut += len(found) > len(shown)

    def _take_facts(self, record: Record) -> None:
        match record:
            case StreamRecord():
                self.stream_episodes += record.episodes
                self.stream_bytes += record.text_bytes
                self.stream_ns += record.ns
            case FlushRecord():
                self.ns["flush"].append(record.ns)
            case PodRecord():
                self.ns["pod_start"].append(record.start_ns)
                self.ns["pod_ready"].append(record.ready_ns)
            case TeardownRecord():
                self.ns["teardown"].append(record.ns)
            case UsageRecord():
                self._take_usage(record)
            case AuditRecord():
                self.audits.append(record)
            case ModelUsageRecord():
                self.costs.take_usage(record)
            case CapabilitiesRecord():
                self.capabilities = self.capabilities or record
            case _:
                pass

    def _take_acks(self, memory: tuple[str, str], acks: tuple[Ack, ...]) -> None:
        """Times every acknowledgement, but counts an episode once: a resume ingests it again."""
        for ack in acks:
            self.ns["ingest"].append(ack.ns)
            key = (*memory, ack.episode_id)
            if key not in self._counted:
                self._counted.add(key)
                self.acks[ack.status] += 1
                self.items += ack.stored_items

    def _take_usage(self, record: UsageRecord) -> None:
        if record.cpu_s is not None:
            self.cpu_s.append(record.cpu_s)
        if record.peak_memory_bytes is not None:
            self.peak_memory.append(record.peak_memory_bytes)


def collect(directory: RunDirectory) -> Collected:
    """Reads, verifies and grades every sealed trial of a run.

    Raises:
        VerificationError: a transcript, a scenario or a gold file was changed.
    """
    result, settling = Collected(), Settling()
    lock = directory.lock()
    grader = load_grader(lock.protocol)  # once: looking through all that is installed takes long
    for spec, records in sealed_trials(directory, result.missing):
        if spec.kind == "audits":
            result.take_audits(spec, records)
            continue
        for record in records:
            result.take(spec, record)
        if spec.kind == "scored":
            verdicts = verdicts_of(directory, spec.trial_id, lock.judge)
            for found in (verdicts or {}).values():
                result.take_verdicts(found.values())
            for asked, grade in _graded(directory, spec, records, grader, verdicts):
                result.grades.append(grade)
                result.settled.append(settling.settle(asked, grade))
    result.grades.sort(key=lambda g: (g.repeat, g.trial_id))
    return result


def sealed_trials(
    directory: RunDirectory, missing: list[str]
) -> Iterator[tuple[TrialSpec, list[Record]]]:
    """Every sealed trial, verified; names of the others go to `missing`."""
    for spec in directory.specs():
        folder = directory.finished(spec)
        if folder is None:
            missing.append(spec.trial_id)
            continue
        _, _, records = load_trial(folder)
        yield spec, records


def _graded(
    directory: RunDirectory,
    spec: TrialSpec,
    records: list[Record],
    grader: Grader,
    verdicts: Verdicts | None,
) -> Iterator[tuple[Asked, Grade]]:
    """Grades one trial's records; each grade comes with what it was made from."""
    truth = partial(truth_of, directory, spec)
    return graded(spec, records, truth, grader, verdicts)
