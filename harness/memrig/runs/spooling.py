"""From a suite and its data to spooled scenarios: the same for a plan and for who checks one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memrig.errors import DataError, UsageError
from memrig.model.canonical import digest_of
from memrig.model.scenario import Scenario, ScenarioRef
from memrig.model.trial import Isolation
from memrig.suites.base import DataSource, Suite, SuiteOptions
from memrig.suites.checks import usable
from memrig.suites.given import read_given
from memrig.suites.sampling import Key, catalog, keep, pool, stratified
from memrig.suites.spool import spool


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a suite a run takes.

    Args:
        limit: at most this many questions under each seed; None: all.
        isolation: `pooled` makes one scenario of all.
        answered: a file of answers; questions without one are left out. None: none are.
    """

    limit: int | None = None
    isolation: Isolation = "fresh"
    answered: Path | None = None


def source_of(suite: Suite, options: SuiteOptions, seeds: tuple[int, ...]) -> DataSource:
    """Where the data comes from; what is made from several seeds, by the digest of them all.

    Raises:
        DataError: the file cannot be used.
        PrerequisiteError: the data is not on this machine.
    """
    if not suite.made_of_seeds or len(seeds) == 1:
        return suite.source(options)
    found = [suite.source(replace(options, seed=seed)) for seed in seeds]
    notes = dict.fromkeys(note for source in found for note in source.notes)
    digest = digest_of([source.sha256 for source in found])
    origins = dict.fromkeys(source.origin for source in found)
    return replace(found[0], origin="; ".join(origins), sha256=digest, notes=tuple(notes))


def spool_seeds(
    suite: Suite,
    options: SuiteOptions,
    seeds: tuple[int, ...],
    selection: Selection,
    folder: Path,
) -> tuple[tuple[ScenarioRef, ...], tuple[str, ...]]:
    """Spools what each seed makes or draws; what is the same under all of them, once.

    Returns:
        The scenarios, and what there is to note about them.

    Raises:
        UsageError: nothing is left to ask.
        DataError: the suite's data is not as it must be.
    """
    if not suite.made_of_seeds and (len(seeds) == 1 or selection.limit is None):
        return _spool_all(_selected(suite, options, selection), folder)
    refs: list[ScenarioRef] = []
    notes: list[str] = []
    for seed in seeds:
        chosen = _selected(suite, replace(options, seed=seed), selection)
        found, said = _spool_all(chosen, folder)
        refs += [ref.model_copy(update={"seed": seed}) for ref in found]
        notes += said
    return tuple(refs), tuple(dict.fromkeys(notes))


def _selected(suite: Suite, options: SuiteOptions, selection: Selection) -> Iterator[Scenario]:
    scenarios: Iterable[Scenario] = suite.scenarios(options)
    if selection.answered is not None:
        given = read_given(selection.answered)
        keys = catalog(suite.scenarios(options))
        scenarios = _kept(scenarios, frozenset(key for key in keys if key[1] in given))
    if selection.limit is not None:
        wanted = stratified(catalog(suite.scenarios(options)), selection.limit, options.seed)
        scenarios = _kept(scenarios, wanted)
    if selection.isolation == "pooled":
        scenarios = [pool(scenarios)]
    yield from scenarios


def _kept(scenarios: Iterable[Scenario], wanted: frozenset[Key]) -> Iterator[Scenario]:
    names = {scenario_id for scenario_id, _ in wanted}
    return (keep(s, wanted) for s in scenarios if s.scenario_id in names)


def _spool_all(
    scenarios: Iterable[Scenario], folder: Path
) -> tuple[tuple[ScenarioRef, ...], tuple[str, ...]]:
    refs: list[ScenarioRef] = []
    notes: list[str] = []
    for scenario in usable(scenarios, "the suite's data"):
        if any(ref.scenario_id == scenario.scenario_id for ref in refs):
            message = f"scenario id {scenario.scenario_id!r} occurs twice"
            raise DataError(message, where="the suite's data", fix="make scenario ids unique")
        refs.append(spool(scenario, folder))
        notes.extend(scenario.notes)
    if not refs:
        raise UsageError("there is nothing to ask", where="--limit", fix="raise it")
    return tuple(refs), tuple(notes)
