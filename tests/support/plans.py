"""Small plans: a lock over spooled scenarios, for a provider of fake memories."""

from datetime import UTC, datetime
from pathlib import Path

from memrig.model.scenario import Scenario
from memrig.model.trial import Budget, Deadlines
from memrig.runs.directory import Execution, RunDirectory
from memrig.runs.lock import DataLock, Lock, contract_digest, lock_version, this_machine
from memrig.runs.plan import Plan, trials_of
from memrig.suites.spool import spool
from memrig.trial.directory import write_aside
from support.fake_memory import fake_adapter
from support.scenarios import small_scenario


def small_lock(folder: Path, *scenarios: Scenario, **changes: object) -> Lock:
    """A lock over these scenarios (by default three small ones), spooled into `folder`."""
    chosen = scenarios or tuple(small_scenario(name) for name in ("one", "two", "three"))
    fields: dict[str, object] = {
        "memrig_version": lock_version(),
        "contract": contract_digest(),
        "suite": "practical",
        "protocol": "practical",
        "grader": "practical/2",
        "mode": "retrieval",
        "data": DataLock(name="small", origin="a test", sha256="sha256:0"),
        "category_labels": "true",
        "sample": False,
        "adapter": fake_adapter(),
        "isolation": "fresh",
        "seeds": (7,),
        "repeats": 1,
        "limit": None,
        "top_k": 3,
        "deadlines": Deadlines(search=2, ingest_idle=2, flush=2, reset=2, capabilities=2),
        "budget": Budget(wall_time_s=5),
        "audit": False,
        "scenarios": tuple(spool(scenario, folder) for scenario in chosen),
        "notes": (),
        "machine": this_machine(),
    }
    return Lock.model_validate(fields | changes)


def execution(**changes: object) -> Execution:
    """An unremarkable invocation."""
    fields = {
        "started_at": datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC), "wall_s": 9.14, "jobs": 1,
        "pod": "docker", "pod_reason": "Docker pods: a local daemon answers.", "trials_run": 11,
        "retries": 0, "rig_peak_memory_bytes": 187 * 1024**2,
    }  # fmt: skip
    return Execution.model_validate(fields | changes)


def small_plan(root: Path, *scenarios: Scenario, **changes: object) -> Plan:
    """A run's folder with its lock and specs, as planning leaves it."""
    directory = RunDirectory(root)
    lock = small_lock(directory.scenarios, *scenarios, **changes)
    write_aside(directory.lock_path, lock.model_dump_json().encode())
    specs = trials_of(lock)
    directory.save_specs(specs)
    return Plan(directory, lock, specs, resumed=False, pod_reason="a fake")
