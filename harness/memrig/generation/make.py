"""Makes a dataset from specs: plans, renders, checks, and refuses what fails a validator."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from memrig.errors import DataError, MemrigError
from memrig.generation.dataset import dataset_json, provenance_json
from memrig.generation.model import Draft, Finding, PlannedEpisode, Planner, Renderer
from memrig.generation.spec import Spec
from memrig.generation.story import seed_of
from memrig.generation.validators.base import episode_place
from memrig.model.canonical import derive

#: Documents that are rendered at once; a model's provider is asked by so many.
AT_ONCE = 8

Validate = Callable[[Draft], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, slots=True)
class BackEnds:
    """Who does what; the names and limits go into the provenance.

    Args:
        planner: of a scope.
        renderer: of a scope.
        validate: every way in which a draft falls short.
        limits: of each validator for a scope, by the validator's name.
        names: what planner and renderer are.
    """

    planner: Callable[[Spec], Planner]
    renderer: Callable[[Spec], Renderer]
    validate: Validate
    limits: Callable[[Spec], Mapping[str, str]]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Made:
    """A dataset in memory: its name, its two files' bytes, and the drafts they come from."""

    name: str
    data: bytes
    provenance: bytes
    drafts: tuple[Draft, ...]

    @property
    def files(self) -> dict[str, bytes]:
        """The files to write, by name."""
        return {f"{self.name}.json": self.data, f"{self.name}.provenance.json": self.provenance}


def scaled(spec: Spec, episodes: int | None, ratio: float | None) -> Spec:
    """The spec with another number of episodes, or of distractors for each of them.

    Raises:
        DataError: the spec cannot have these.
    """
    if episodes is not None:
        if not len(spec.phases) <= episodes <= 500:
            message = f"{episodes} episodes, expected {len(spec.phases)} to 500"
            raise DataError(message, where=f"spec {spec.name}", fix="give another --episodes")
        timeline = spec.timeline.model_copy(update={"episodes": episodes})
        spec = spec.model_copy(update={"timeline": timeline})
    if ratio is not None:
        if not 0 <= ratio <= 20 or (ratio and not spec.distractors.themes):
            message = f"a ratio of {ratio:g}, expected 0 to 20, and themes for more than 0"
            raise DataError(message, where=f"spec {spec.name}", fix="give another --distractors")
        distractors = spec.distractors.model_copy(update={"ratio": ratio})
        spec = spec.model_copy(update={"distractors": distractors})
    return spec


async def make(
    name: str, specs: Sequence[Spec], ends: BackEnds, say: Callable[[str], None]
) -> Made:
    """Makes the dataset of some specs.

    Args:
        name: the dataset's.
        specs: one a scope, in the order of the file.
        ends: planner, renderer and validators.
        say: is told about each scope.

    Raises:
        DataError: a spec does not work out, or a draft fails a validator, which is named.
        GatewayError: a model could not be had, or gave nothing that can be used.
    """
    drafts = []
    for spec in specs:
        draft = await _draft(spec, ends)
        _refuse(spec, await ends.validate(draft))
        drafts.append(draft)
        counted = f"{len(draft.texts)} episodes, {len(draft.plan.questions)} questions"
        say(f"{spec.name}: {counted}, {len(ends.limits(spec))} validators passed")
    provenance = provenance_json(drafts, ends.names, ends.limits)
    return Made(name, dataset_json(name, drafts), provenance, tuple(drafts))


async def _draft(spec: Spec, ends: BackEnds) -> Draft:
    plan = await ends.planner(spec).plan(spec)
    renderer, turns = ends.renderer(spec), asyncio.Semaphore(AT_ONCE)

    async def text(episode: PlannedEpisode) -> str:
        async with turns:
            seed = derive(seed_of(spec), "render", episode.episode_id)
            try:
                return await renderer.render(episode.sheet, spec.document, seed)
            except MemrigError as error:  # a renderer does not know which episode it is
                error.where = f"spec {spec.name}: {episode_place(episode)}: {error.where}"
                raise

    try:
        async with asyncio.TaskGroup() as group:
            tasks = {e.episode_id: group.create_task(text(e)) for e in plan.episodes}
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return Draft(plan, {episode_id: task.result() for episode_id, task in tasks.items()})


def _refuse(spec: Spec, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    first = findings[0]
    more = f" (and {len(findings) - 1} more findings)" if len(findings) > 1 else ""
    where = f"spec {spec.name}: validator {first.validator}: {first.where}"
    raise DataError(f"{first.message}{more}", where=where, fix=first.fix)
