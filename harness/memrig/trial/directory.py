"""A trial on disk: ``<trial>.partial`` while it runs, renamed to ``<trial>`` when it is sealed."""

import errno
import fcntl
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from memrig.errors import InfrastructureError, UsageError, VerificationError
from memrig.model.canonical import canonical_json, digest_of
from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    CapabilitiesRecord,
    FaultRecord,
    ProbeRecord,
    QuestionRecord,
    Record,
)
from memrig.model.trial import Outcome, TrialOutcome, TrialSpec
from memrig.trial.transcript import Chain, TranscriptWriter, read, recover, start_of

SPEC, TRANSCRIPT, OUTCOME, LOG = "spec.json", "transcript.jsonl", "outcome.json", "adapter.log"


#: The next step where a disk refuses: in general, and where a run's files are written.
WRITABLE = "make it writable or free some disk space"
RESUMES = f"{WRITABLE}, and repeat the command: the run resumes"


def write_aside(path: Path, data: bytes, fix: str = WRITABLE) -> None:
    """Writes a file so that it is there whole or not at all; `fix` is as in `disk_errors`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with disk_errors(path, fix):
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


@contextmanager
def disk_errors(path: Path, fix: str = WRITABLE) -> Iterator[None]:
    """Names the file when the disk refuses a write.

    Args:
        path: what is written.
        fix: the next step; `RESUMES` where repeating the command goes on.

    Raises:
        InfrastructureError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in {errno.EEXIST, errno.ENOTDIR} and (file := _no_folder(path)):
            reason, fix = f"{file} is no folder", "name a place in a folder"
        message = f"cannot be written: {reason}"
        raise InfrastructureError(message, where=str(path), fix=fix) from error


def _no_folder(path: Path) -> Path | None:
    """What a path leads through, or is, as if it were a folder."""
    places = (path, *path.parents)
    return next((place for place in places if place.exists() and not place.is_dir()), None)


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Holds a folder against other processes, by a lock that ends with this one.

    Raises:
        UsageError: another process holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                "another memrig is at work in this folder",
                where=str(folder),
                fix="wait for it, or stop it",
            ) from error
        yield
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class Kept:
    """What earlier attempts left that still stands."""

    chain: Chain
    attempts: int = 0
    ended: Outcome | None = None
    answers: dict[tuple[str, str], QuestionRecord] = field(default_factory=dict)


class TrialDirectory:
    """The files of one trial.

    Args:
        out: the folder that trials are written into.
        spec: the trial.
    """

    def __init__(self, out: Path, spec: TrialSpec) -> None:
        self.spec = spec
        self.spec_digest = digest_of(spec)
        self.final = out / spec.trial_id
        self.partial = out / f"{spec.trial_id}.partial"

    def finished(self) -> TrialOutcome | None:
        """The outcome of a trial that was sealed; None if there is something left to do."""
        path = self.final / OUTCOME
        return TrialOutcome.model_validate_json(path.read_bytes()) if path.exists() else None

    def open(self) -> Kept:
        """Prepares the partial directory and reads what an interrupted attempt left in it.

        An adapter whose memory is changed by questions cannot be continued: a prefix ingested
        again would not be the memory that the kept answers came from. Nor can a trial with probes
        or audits be: they measure one memory as it goes. Its transcript is set aside.

        Raises:
            VerificationError: the unfinished transcript was changed.
        """
        write_aside(self.partial / SPEC, canonical_json(self.spec), RESUMES)
        path = self.partial / TRANSCRIPT
        records, chain = recover(path, self.spec_digest)
        kept = Kept(chain, attempts=self._attempts(records))
        for record in records:
            if isinstance(record, QuestionRecord):
                kept.answers[record.scenario_id, record.question_id] = record
            elif isinstance(record, FaultRecord):
                kept.ended = record.outcome
        probed = any(isinstance(record, ProbeRecord | AuditAskRecord) for record in records)
        if kept.ended is None and (probed or _changed_by_questions(records)):
            path.replace(self.partial / f"abandoned-{kept.attempts}.jsonl")
            return Kept(start_of(self.spec_digest), attempts=kept.attempts)
        return kept

    def _attempts(self, records: list[Record]) -> int:
        """How many attempts there were, abandoned ones included."""
        numbers = [record.number for record in records if isinstance(record, AttemptRecord)]
        abandoned = self.partial.glob("abandoned-*.jsonl")
        numbers += [int(path.stem.partition("-")[2]) for path in abandoned]
        return max(numbers, default=0)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the partial directory, so that no other process writes into it.

        Raises:
            UsageError: another process holds it.
        """
        with disk_errors(self.partial, RESUMES):
            self.partial.mkdir(parents=True, exist_ok=True)
        with hold(self.partial):
            yield

    def add_log(self, attempt: int, texts: list[str]) -> None:
        """Adds an attempt's last lines to `adapter.log`; never hides the error that led here."""
        with suppress(OSError), (self.partial / LOG).open("a", encoding="utf-8") as file:
            file.write(f"--- attempt {attempt}\n" + "\n".join(texts) + "\n")

    def writer(self, kept: Kept) -> TranscriptWriter:
        """Continues the transcript where it stands."""
        return TranscriptWriter(self.partial / TRANSCRIPT, kept.chain)

    def seal(self, chain: Chain, attempts: int, statuses: Counter[str]) -> TrialOutcome:
        """Writes the outcome and renames the directory; from here on nothing changes."""
        outcome = TrialOutcome(
            trial_id=self.spec.trial_id,
            spec_digest=self.spec_digest,
            head=chain.head,
            records=chain.records,
            questions=sum(statuses.values()),
            attempts=attempts,
            statuses=dict(sorted(statuses.items())),
        )
        write_aside(self.partial / OUTCOME, canonical_json(outcome), RESUMES)
        self.partial.replace(self.final)
        return outcome


def _changed_by_questions(records: list[Record]) -> bool:
    asked = any(isinstance(record, QuestionRecord) for record in records)
    declared = any(
        isinstance(record, CapabilitiesRecord) and "questions_change_memory" in record.optional
        for record in records
    )
    return asked and declared


def load_trial(folder: Path) -> tuple[TrialSpec, TrialOutcome, list[Record]]:
    """Reads a sealed trial and checks that it is what was sealed.

    Raises:
        VerificationError: the spec, the chain or the outcome do not fit together.
    """
    spec = TrialSpec.model_validate_json((folder / SPEC).read_bytes())
    outcome = TrialOutcome.model_validate_json((folder / OUTCOME).read_bytes())
    digest = digest_of(spec)
    if outcome.spec_digest != digest or outcome.trial_id != spec.trial_id:
        message = f"spec.json has digest {digest}, the outcome was sealed for {outcome.spec_digest}"
        raise VerificationError(message, where=str(folder))
    records = list(read(folder / TRANSCRIPT, digest, outcome.head))
    if len(records) != outcome.records:
        message = f"{len(records)} records, the outcome was sealed with {outcome.records}"
        raise VerificationError(message, where=str(folder))
    return spec, outcome, records
