"""Makes datasets from specs, or compares them: what `memrig generate` does, as typed functions."""

import asyncio
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memrig.errors import InfrastructureError, UsageError, VerificationError
from memrig.gateway.config import GatewayMode, Limits
from memrig.generation.dataset import SUMS, read_sums, sums
from memrig.generation.llm_planner import planner_of
from memrig.generation.llm_renderer import renderer_of
from memrig.generation.make import BackEnds, Made, make, scaled
from memrig.generation.model import Planner, Renderer
from memrig.generation.planner import FormulaPlanner
from memrig.generation.render import SeededRenderer
from memrig.generation.spec import Spec
from memrig.generation.specfile import BUILT_IN, built_in, read_spec
from memrig.generation.stuffed import picked_lines, stuffed_of
from memrig.generation.validators import limits, validate
from memrig.model.canonical import digest_bytes, digest_file, short
from memrig.model.chat import Chat
from memrig.runs.models import bare_gateway
from memrig.suites.longhorizon.spec import FILES, WorldSpec
from memrig.trial.directory import disk_errors, write_aside

DETERMINISTIC = "deterministic"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_AGAIN = "generate it again, or take the specs and the version of memrig that it was made with"
_MAKE = "leave --check out to write it, or give the folder that it is in"
_OTHER = "give the same turns, seed, questions and set, and the version of memrig it was made with"


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class GenerateModels:
    """Who plans, who renders, and who answers from all documents for the validator `stuffed-band`.

    Each is ``deterministic``, or a model; and how models are called.
    """

    planner: str = DETERMINISTIC
    renderer: str = DETERMINISTIC
    stuffed: str = DETERMINISTIC
    llm: GatewayMode = "record"
    record: Path | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class GenerateSettings:
    """A dataset to make.

    Args:
        name: of the dataset, and of its files.
        specs: paths of spec files, names of built-in specs, or ``builtin`` for all of these.
        out: the folder to write to.
        episodes: of each story; None: as its spec says.
        distractors: for each of them; None: as the spec says.
        models: who plans and renders.
    """

    name: str
    specs: tuple[str, ...]
    out: Path
    episodes: int | None = None
    distractors: float | None = None
    models: GenerateModels = field(default_factory=GenerateModels)


def generate_longitudinal(
    settings: GenerateSettings, say: Callable[[str], None] = _silent
) -> dict[Path, str]:
    """Makes a longitudinal dataset; the files written, and the sha256 of each.

    Raises:
        DataError: a spec cannot be used, or what it makes fails a validator, which is named; then
            nothing is written.
        GatewayError: a model could not be had.
    """
    files = asyncio.run(_made(settings, say)).files
    _make_folder(settings.out)
    there = settings.out / SUMS
    others = read_sums(there.read_bytes()) if there.exists() else {}
    files[SUMS] = sums(files, others)
    for name, data in files.items():
        write_aside(settings.out / name, data)
    return _digests(settings.out, files)


def check_longitudinal(
    settings: GenerateSettings, say: Callable[[str], None] = _silent
) -> dict[Path, str]:
    """Makes a longitudinal dataset again, and compares it with what is there.

    Raises:
        VerificationError: a file is missing, or differs by so much as a byte.
    """
    files = asyncio.run(_made(settings, say)).files
    sums_file = settings.out / SUMS
    listed = read_sums(sums_file.read_bytes()) if sums_file.is_file() else {}
    for name, data in files.items():
        path = settings.out / name
        if not path.is_file() or path.read_bytes() != data:
            raise VerificationError("is not what its specs make", where=str(path), fix=_AGAIN)
        if listed.get(name) != digest_bytes(data).removeprefix("sha256:"):
            raise VerificationError(f"{name} has another sum", where=str(sums_file), fix=_AGAIN)
    return _digests(settings.out, files)


def generate_longhorizon(spec: WorldSpec, out: Path) -> dict[Path, str]:
    """Writes a long-horizon world below `out`; the files written, and the sha256 of each.

    They are written aside, line by line: memory does not grow with the turns, and either all of
    them are there or none.

    Raises:
        UsageError: there is no world of this size, it has fewer questions, or `out` is no folder
            that can be written to.
        InfrastructureError: the disk is full.
    """
    spec.check()
    _make_out(out)
    with _world(spec, out) as folder, disk_errors(out):
        made = {name: (folder / name).replace(out / name) for name in FILES}
    return {path: short(digest_file(path), 64) for path in made.values()}


def check_longhorizon(spec: WorldSpec, out: Path) -> dict[Path, str]:
    """Generates a long-horizon world again, and compares it with what is there.

    Raises:
        VerificationError: a file is missing, or differs by so much as a byte.
        UsageError: there is no world of this size, or it has fewer questions.
    """
    spec.check()
    for path in (out / name for name in FILES):
        if not path.is_file():
            raise VerificationError("is missing", where=str(path), fix=_MAKE)
    with _world(spec, None) as folder:
        sums = {name: digest_file(folder / name) for name in FILES}
    for name, digest in sums.items():
        path = out / name
        if digest_file(path) != digest:
            raise VerificationError("is not what this seed makes", where=str(path), fix=_OTHER)
    return {out / name: short(digest, 64) for name, digest in sums.items()}


@contextmanager
def _world(spec: WorldSpec, beside: Path | None) -> Iterator[Path]:
    """A world's files in a folder that goes afterwards."""
    # The words of a world take longer to load than most commands take.
    from memrig.suites.longhorizon.files import write_world  # noqa: PLC0415

    with tempfile.TemporaryDirectory(dir=beside, prefix=".world-") as name:
        folder = Path(name)
        try:
            write_world(spec, lambda file: (folder / file).open("wb"))
        except OSError as error:
            raise InfrastructureError(
                f"cannot be written: {error.strerror}",
                where=str(beside or folder.parent),
                fix="free some disk space, and repeat the command",
            ) from error
        yield folder


def _make_out(folder: Path) -> None:
    """Makes the folder to write to, or says that it cannot be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot be written to: {error.strerror}",
            where=f"--out {folder}",
            fix="give a folder that you may write to",
        ) from error


def _make_folder(folder: Path) -> None:
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


def _digests(folder: Path, files: Mapping[str, bytes]) -> dict[Path, str]:
    return {folder / n: digest_bytes(data).removeprefix("sha256:") for n, data in files.items()}


async def _made(settings: GenerateSettings, say: Callable[[str], None]) -> Made:
    if not _NAME.fullmatch(settings.name):
        message = f"{settings.name!r} is no name for a file"
        raise UsageError(message, where="--name", fix="use letters, digits, '.', '_' and '-'")
    models = settings.models
    specs = [
        scaled(spec, settings.episodes, settings.distractors)
        for given in settings.specs
        for spec in _specs(given)
    ]
    asked = frozenset({models.planner, models.renderer, models.stuffed}) - {DETERMINISTIC}
    record = models.record
    if record is None and asked:  # what was paid for is kept
        _make_folder(settings.out)
        record = settings.out / f"{settings.name}.llm.sqlite"
    async with bare_gateway(asked, models.llm, record, models.limits) as gateway:
        return await make(settings.name, specs, _back_ends(models, gateway), say)


def _back_ends(models: GenerateModels, chat: Chat) -> BackEnds:
    lines = models.stuffed == DETERMINISTIC
    stuffed = picked_lines if lines else stuffed_of(chat, models.stuffed)

    def planner(_: Spec) -> Planner:
        formulas = models.planner == DETERMINISTIC
        return FormulaPlanner() if formulas else planner_of(chat, models.planner)

    def renderer(spec: Spec) -> Renderer:
        if models.renderer == DETERMINISTIC:
            return SeededRenderer()
        return renderer_of(chat, models.renderer, forbidden=spec.forbidden, seed=spec.seed)

    names = {
        "planner": models.planner,
        "renderer": models.renderer,
        "stuffed": models.stuffed,
    }
    return BackEnds(planner, renderer, lambda draft: validate(draft, stuffed), limits, names)


def _specs(given: str) -> list[Spec]:
    if given == "builtin":
        return [built_in(name) for name in BUILT_IN]
    return [built_in(given) if given in BUILT_IN else read_spec(Path(given))]
