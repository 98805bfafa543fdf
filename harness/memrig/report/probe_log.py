"""What is kept of a run's probes while its transcripts are read."""

from collections import defaultdict
from dataclasses import dataclass, field

from memrig.model.transcript import (
    AttemptRecord,
    FlushRecord,
    ProbeRecord,
    Record,
    StreamRecord,
)


@dataclass(slots=True)
class Span:
    """Episodes that went in, and how long it took with their barriers, nanoseconds."""

    episodes: int = 0
    ns: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A probe's record, the trial it is of, and what was ingested since the last usage probe."""

    trial_id: str
    record: ProbeRecord
    since: Span


@dataclass(slots=True)
class ProbeLog:
    """Every probe of a run, in the order of its transcripts."""

    taken: list[Taken] = field(default_factory=list)
    _spans: dict[tuple[str, str], Span] = field(default_factory=lambda: defaultdict(Span))

    def take(self, trial_id: str, record: Record) -> None:
        """Takes one record of a trial in."""
        match record:
            case AttemptRecord():
                # A trial with probes begins anew: what an earlier attempt measured is not of it.
                self.taken = [item for item in self.taken if item.trial_id != trial_id]
                self._spans = defaultdict(
                    Span, {key: span for key, span in self._spans.items() if key[0] != trial_id}
                )
            case StreamRecord():
                span = self._spans[trial_id, record.scenario_id]
                span.episodes += record.episodes
                span.ns += record.ns
            case FlushRecord():
                self._spans[trial_id, record.scenario_id].ns += record.ns
            case ProbeRecord():
                self._take_probe(trial_id, record)
            case _:
                pass

    def _take_probe(self, trial_id: str, record: ProbeRecord) -> None:
        key = trial_id, record.scenario_id
        if record.probe == "usage":
            self.taken.append(Taken(trial_id, record, self._spans.pop(key, Span())))
        else:
            self.taken.append(Taken(trial_id, record, Span()))
