"""What is kept of a run's audits while its transcripts are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from memrig.model.gold import Gold
from memrig.model.transcript import (
    AttemptRecord,
    AuditAskRecord,
    AuditName,
    AuditPart,
    AuditSkipRecord,
    FaultRecord,
    Record,
)
from memrig.model.trial import TrialSpec
from memrig.trial.audits import AuditPlan


@dataclass(slots=True)
class AuditedTrial:
    """The records of one audits trial that count. `fault` is what ended it; empty: nothing."""

    spec: TrialSpec
    asks: list[AuditAskRecord] = field(default_factory=list)
    skips: dict[AuditName, str] = field(default_factory=dict)
    fault: str = ""

    def take(self, record: Record) -> None:
        """Takes one record in."""
        match record:
            case AttemptRecord():
                if not self.fault:  # an attempt that was interrupted, and not ended
                    self.asks.clear()
                    self.skips.clear()
            case AuditAskRecord():
                self.asks.append(record)
            case AuditSkipRecord():
                self.skips[record.audit] = record.reason
            case FaultRecord():
                self.fault = f"{record.outcome.label}: {record.message}"
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Audited:
    """One audits trial with all that is known of its scenario.

    Args:
        trial: its records.
        plan: what it had to ask.
        gold: what is right.
        originals: by the id of a chunk, the episodes that its text is from.
    """

    trial: AuditedTrial
    plan: AuditPlan
    gold: dict[str, Gold]
    originals: dict[str, tuple[str, ...]]

    def of(self, *parts: AuditPart) -> Iterator[AuditAskRecord]:
        """What came of these parts, in order."""
        return (ask for ask in self.trial.asks if ask.part in parts)

    def by_question(self, part: AuditPart) -> dict[str, AuditAskRecord]:
        """What came of one part, by question."""
        return {ask.question_id: ask for ask in self.of(part)}
