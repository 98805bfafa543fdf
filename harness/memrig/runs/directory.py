"""A run on disk: `lock.json`, `scenarios/`, `specs/`, `trials/`, and what was derived from them."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from memrig.errors import UsageError
from memrig.model.canonical import canonical_json
from memrig.model.trial import TrialSpec
from memrig.runs.lock import Lock
from memrig.suites.spool import SpooledScenario
from memrig.trial.directory import write_aside


class Execution(BaseModel):
    """One invocation on a run: when, how long, how many at once, at what cost to the host.

    `elsewhere` names those of reader and judge that were asked at an address of the user's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    started_at: datetime
    wall_s: float
    jobs: int
    pod: str
    pod_reason: str
    trials_run: int
    retries: int
    llm: str = ""
    elsewhere: tuple[str, ...] = ()
    rig_peak_memory_bytes: int


def models_elsewhere(executions: Iterable[Execution]) -> list[str]:
    """The models that were asked at an address of the user's own in any invocation."""
    return sorted({name for one in executions for name in one.elsewhere})


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The paths of a run and what can be read from them."""

    root: Path

    @property
    def lock_path(self) -> Path:
        """`lock.json`."""
        return self.root / "lock.json"

    @property
    def scenarios(self) -> Path:
        """The spool."""
        return self.root / "scenarios"

    @property
    def trials(self) -> Path:
        """One directory a trial."""
        return self.root / "trials"

    @property
    def record(self) -> Path:
        """`llm.sqlite`: every exchange with a model."""
        return self.root / "llm.sqlite"

    def verdicts_of(self, trial_id: str) -> Path:
        """A judged trial's verdicts."""
        return self.root / "verdicts" / f"{trial_id}.jsonl"

    @property
    def grades(self) -> Path:
        """`grades.jsonl`."""
        return self.root / "grades.jsonl"

    @property
    def report_json(self) -> Path:
        """`report.json`."""
        return self.root / "report.json"

    @property
    def report_html(self) -> Path:
        """`report.html`."""
        return self.root / "report.html"

    def lock(self) -> Lock:
        """Reads the lock.

        Raises:
            UsageError: the folder holds no run.
        """
        try:
            return Lock.model_validate_json(self.lock_path.read_bytes())
        except OSError as error:
            raise UsageError(
                "this folder holds no run (lock.json is missing)",
                where=str(self.root),
                fix="give a folder that `memrig run` wrote, such as runs/practical-bm25-…",
            ) from error
        except ValidationError as error:
            where = str(self.lock_path)
            message = f"is not a lock of this version: {error.errors()[0]['msg']}"
            raise UsageError(message, where=where) from error

    def save_specs(self, specs: tuple[TrialSpec, ...]) -> None:
        """Writes each spec where `memrig trial run` takes it from."""
        folder = self.root / "specs"
        folder.mkdir(parents=True, exist_ok=True)
        for spec in specs:
            write_aside(folder / f"{spec.trial_id}.json", canonical_json(spec))

    def specs(self) -> Iterator[TrialSpec]:
        """Every planned trial, by name."""
        for path in sorted((self.root / "specs").glob("*.json")):
            yield TrialSpec.model_validate_json(path.read_bytes())

    def finished(self, spec: TrialSpec) -> Path | None:
        """The folder of a sealed trial."""
        folder = self.trials / spec.trial_id
        return folder if (folder / "outcome.json").is_file() else None

    def scenario(self, spec: TrialSpec, scenario_id: str) -> SpooledScenario:
        """A scenario of a trial, from the spool."""
        ref = next(ref for ref in spec.scenarios if ref.scenario_id == scenario_id)
        return SpooledScenario(self.scenarios, ref)

    def add_execution(self, execution: Execution) -> None:
        """Notes an invocation; never hides the error that ended it."""
        with suppress(OSError), (self.root / "executions.jsonl").open("ab") as file:
            file.write(canonical_json(execution) + b"\n")

    def executions(self) -> list[Execution]:
        """Every invocation that came to its end; a killed one leaves no line."""
        path = self.root / "executions.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return [Execution.model_validate_json(line) for line in lines]
