"""Plans to show: so many scenarios of four questions, some of them finished."""

from dataclasses import replace
from pathlib import Path

from memrig.model.trial import TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.runs.plan import Plan
from memrig.trial.directory import write_aside
from support.plans import small_plan
from support.scenarios import small_scenario


def shown_plan(
    root: Path,
    scenarios: int = 2,
    *,
    finished: int = 0,
    resumed: bool = False,
    **changes: object,
) -> Plan:
    """A plan of that many scenarios, named small-0 and so on; the first `finished` are done.

    `changes` go to the lock.
    """
    plan = small_plan(root, *(small_scenario(f"small-{n}") for n in range(scenarios)), **changes)
    for spec in plan.specs[:finished]:
        finish(plan.directory, spec)
    return replace(plan, resumed=resumed, pod_reason="Process pods, as the test wants.")


def finish(directory: RunDirectory, spec: TrialSpec) -> None:
    """Makes a trial look sealed."""
    folder = directory.trials / spec.trial_id
    folder.mkdir(parents=True)
    write_aside(folder / "outcome.json", b"{}")
