"""How far a run is: what is sealed, what is going on, what waits. Reads, and nothing else."""

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.trial.directory import OUTCOME, TRANSCRIPT
from memrig.viewer.holders import Holders
from memrig.viewer.kept import Kept, parsed
from memrig.viewer.shelf import Shelf
from memrig.viewer.tail import Tails, Tally

#: running: a process is at it. stopped: something is open, and nobody is at it. done: all is
#: sealed.
RunState = Literal["running", "stopped", "done"]
TrialState = Literal["sealed", "running", "interrupted", "waiting"]

#: Where the system does not tell who holds a folder: a run that wrote this recently is going on.
_RECENT_S = 60.0


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """One trial, and how far it is. `tally` is None of one that is sealed or waits."""

    spec: TrialSpec
    state: TrialState
    episodes: int
    questions: int
    statuses: Counter[str]
    attempts: int = 0
    tally: Tally | None = None

    @property
    def of_episodes(self) -> int:
        """How many it has in all."""
        return sum(ref.episodes for ref in self.spec.scenarios)

    @property
    def of_questions(self) -> int:
        """How many it asks in all; an audit settles none."""
        scored = self.spec.kind == "scored"
        return sum(ref.questions for ref in self.spec.scenarios) if scored else 0


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run, and how far it is."""

    state: RunState
    trials: tuple[TrialProgress, ...]
    unjudged: int

    @property
    def sealed(self) -> int:
        """How many trials are."""
        return sum(trial.state == "sealed" for trial in self.trials)

    @property
    def scored(self) -> tuple[TrialProgress, ...]:
        """The trials that ask questions."""
        return tuple(trial for trial in self.trials if trial.spec.kind == "scored")

    @property
    def questions(self) -> int:
        """How many are settled."""
        return sum(trial.questions for trial in self.trials)

    @property
    def of_questions(self) -> int:
        """How many will be asked."""
        return sum(trial.of_questions for trial in self.trials)

    @property
    def episodes(self) -> int:
        """How many the scored trials' memories were given."""
        return sum(trial.episodes for trial in self.scored)

    @property
    def of_episodes(self) -> int:
        """How many they will have been given."""
        return sum(trial.of_episodes for trial in self.scored)

    @property
    def statuses(self) -> Counter[str]:
        """How the settled questions ended."""
        return sum((trial.statuses for trial in self.trials), Counter[str]())


@dataclass(slots=True)
class Live:
    """Looks at runs again and again; each look costs what is new.

    Args:
        shelf: the runs.
    """

    shelf: Shelf
    _tails: Tails = field(default_factory=Tails)
    _sealed: Kept = field(default_factory=lambda: Kept(4096))

    def progress(self, directory: RunDirectory) -> RunProgress:
        """How far a run is now.

        Raises:
            VerificationError: an unfinished transcript holds what the rig never writes.
        """
        holders = Holders.now()
        held = holders.hold(directory.root)
        trials = tuple(
            self._trial(directory, spec, holders) for spec in self.shelf.specs(directory)
        )
        open_ = any(trial.state != "sealed" for trial in trials)
        unjudged = self._unjudged(directory, trials)
        if held is None:
            held = (open_ or unjudged > 0) and _fresh(directory)
        state: RunState = "running" if held else "stopped" if open_ or unjudged else "done"
        return RunProgress(state, trials, unjudged)

    def trial(self, directory: RunDirectory, spec: TrialSpec) -> TrialProgress:
        """How far one trial is now.

        Raises:
            VerificationError: its transcript holds what the rig never writes.
        """
        return self._trial(directory, spec, Holders.now())

    def _trial(self, directory: RunDirectory, spec: TrialSpec, holders: Holders) -> TrialProgress:
        outcome = self._outcome(directory.trials / spec.trial_id / OUTCOME)
        if outcome is None and (tally := self._partial(directory, spec)) is not None:
            held = holders.hold(directory.trials / f"{spec.trial_id}.partial")
            state: TrialState = "interrupted" if held is False else "running"
            return TrialProgress(
                spec, state, tally.episodes, tally.questions, tally.statuses, tally.attempts, tally
            )
        # Sealed meanwhile, perhaps: it is one or the other at any time.
        outcome = outcome or self._outcome(directory.trials / spec.trial_id / OUTCOME)
        if outcome is None:
            return TrialProgress(spec, "waiting", 0, 0, Counter())
        episodes = sum(ref.episodes for ref in spec.scenarios)
        statuses = Counter(outcome.statuses)
        return TrialProgress(
            spec, "sealed", episodes, outcome.questions, statuses, outcome.attempts
        )

    def _outcome(self, path: Path) -> TrialOutcome | None:
        try:
            return self._sealed.get(path, _outcome)
        except FileNotFoundError:
            return None

    def _partial(self, directory: RunDirectory, spec: TrialSpec) -> Tally | None:
        try:
            return self._tails.tally(directory.trials / f"{spec.trial_id}.partial" / TRANSCRIPT)
        except FileNotFoundError:
            return None

    def _unjudged(self, directory: RunDirectory, trials: tuple[TrialProgress, ...]) -> int:
        """How many sealed trials wait for their judge."""
        if not self.shelf.lock(directory).judge:
            return 0
        return sum(
            trial.state == "sealed"
            and trial.spec.kind == "scored"
            and not directory.verdicts_of(trial.spec.trial_id).exists()
            for trial in trials
        )


def transcript_of(directory: RunDirectory, trial_id: str) -> Path | None:
    """A trial's transcript, sealed or not; None where it has none yet."""
    for name in (trial_id, f"{trial_id}.partial", trial_id):  # it may be sealed between two looks
        path = directory.trials / name / TRANSCRIPT
        if path.is_file():
            return path
    return None


def _outcome(path: Path) -> TrialOutcome:
    return parsed(path, TrialOutcome, "a trial's outcome")


def _fresh(directory: RunDirectory) -> bool:
    """Whether a transcript or the judge's record was written to lately."""
    paths = [*directory.trials.glob(f"*.partial/{TRANSCRIPT}"), *directory.root.glob("llm.sqlite*")]
    times = []
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue  # it was sealed meanwhile, or never was
    return time.time() - max(times, default=0.0) < _RECENT_S


def began_at(directory: RunDirectory) -> datetime:
    """When a run was planned."""
    return datetime.fromtimestamp(directory.lock_path.stat().st_mtime, UTC)
