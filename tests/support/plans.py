"""Plans over small scenarios, on disk, with nothing started."""

from pathlib import Path

from memrig.model.trial import Budget, Deadlines, TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import DataLock, Lock
from memrig.runs.plan import Plan
from memrig.trial.directory import write_aside

from support.fake_memory import fake_adapter
from support.reports import sample_report
from support.scenarios import small_scenario, small_spec


def small_plan(root: Path, scenarios: int = 2, *, finished: int = 0, resumed: bool = False) -> Plan:
    """A plan of that many scenarios of four questions each, the first `finished` ones done."""
    directory = RunDirectory(root)
    directory.scenarios.mkdir(parents=True)
    names = [f"small-{number}" for number in range(scenarios)]
    specs = tuple(small_spec(directory.scenarios, small_scenario(name)) for name in names)
    for spec in specs[:finished]:
        finish(directory, spec)
    lock = Lock(
        memrig_version="0.1.0",
        contract="sha256:" + "0" * 64,
        suite="practical",
        protocol="practical",
        mode="retrieval",
        data=DataLock(name="practical", origin="built in", sha256="sha256:" + "5" * 64),
        category_labels="true",
        sample=False,
        adapter=fake_adapter(),
        isolation="fresh",
        seed=7,
        repeats=1,
        limit=None,
        top_k=3,
        deadlines=Deadlines(),
        budget=Budget(),
        audit=False,
        scenarios=tuple(spec.scenarios[0] for spec in specs),
        notes=(),
        machine=sample_report().machine,
    )
    return Plan(directory, lock, specs, resumed, "Process pods, as the test wants.")


def finish(directory: RunDirectory, spec: TrialSpec) -> None:
    """Makes a trial look sealed."""
    folder = directory.trials / spec.trial_id
    folder.mkdir(parents=True)
    write_aside(folder / "outcome.json", b"{}")
