"""Which process served which trial: a fresh pod is one that no other trial was served by."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from memrig.model.manifest import PodKind
from memrig.model.transcript import CapabilitiesRecord
from memrig.model.trial import TrialSpec

#: Pods that are started for each trial; others have no process of their own to tell apart.
_STARTED: frozenset[PodKind] = frozenset({"docker", "process"})


class Boot(BaseModel):
    """A process that served a trial. A trial that was interrupted has several."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_id: str
    seed: int
    repeat: int
    boot_id: str

    @classmethod
    def of(cls, spec: TrialSpec, record: CapabilitiesRecord) -> Self:
        """As the memory system named itself at the start of a trial."""
        return cls(
            trial_id=spec.trial_id, seed=spec.seed, repeat=spec.repeat, boot_id=record.boot_id
        )


def boots_of(pod: PodKind, boots: Sequence[Boot]) -> tuple[Boot, ...]:
    """The processes of a run, by seed and repeat; empty where the rig starts none."""
    if pod not in _STARTED:
        return ()
    first = dict.fromkeys(boots)  # a trial may ask twice
    return tuple(sorted(first, key=lambda boot: (boot.seed, boot.repeat, boot.trial_id)))


def shared_boots(boots: Sequence[Boot]) -> str:
    """What to say of trials that share a process, which no two may; empty where none do."""
    trials: dict[str, set[str]] = defaultdict(set)
    for boot in boots:
        trials[boot.boot_id].add(boot.trial_id)
    several = sum(len(found) for found in trials.values() if len(found) > 1)
    if not several:
        return ""
    return f"{several} trials share a boot_id with another: their pods are not proven fresh"
