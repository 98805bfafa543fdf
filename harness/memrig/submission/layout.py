"""Which files an archive may and must hold, and how large each may be."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from memrig.submission.model import CONTRACT, IMAGES, MANIFEST, MODELS, RUNS, SIGNATURE

_MIB = 1024**2
#: No separator, no dot or dash in front: such a name means the same on every file system.
NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._+-]{0,119}[A-Za-z0-9_+-])?"

RUN_FILES = ("lock.json", "executions.jsonl", "grades.jsonl", "report.json")
TRIAL_FILES = ("spec.json", "transcript.jsonl", "outcome.json")
_LOG = "adapter.log"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an archive a verifier is ready to take. Sizes in bytes.

    `ratio` is how often over the data of a file larger than 1 MiB may be packed.
    """

    archive_bytes: int = 4 * 1024 * _MIB - 1
    total_bytes: int = 16 * 1024 * _MIB
    files: int = 65_000
    ratio: int = 200


def _shape(pattern: str, most: int) -> tuple[re.Pattern[str], int]:
    return re.compile(pattern), most


_RUN = rf"{RUNS}/{NAME}"
#: Every path that may be in an archive, with the most bytes that such a file may have.
_SHAPES = (
    _shape(re.escape(MANIFEST), 64 * _MIB),
    _shape(re.escape(SIGNATURE), 4096),
    _shape(re.escape(CONTRACT), 4 * _MIB),
    _shape(rf"{_RUN}/lock\.json", 64 * _MIB),
    _shape(rf"{_RUN}/report\.json", 256 * _MIB),
    _shape(rf"{_RUN}/executions\.jsonl", 16 * _MIB),
    _shape(rf"{_RUN}/grades\.jsonl", 1024 * _MIB),
    _shape(rf"{_RUN}/{re.escape(MODELS)}", 4096 * _MIB - 1),
    _shape(rf"{_RUN}/trials/{NAME}/spec\.json", 64 * _MIB),
    _shape(rf"{_RUN}/trials/{NAME}/outcome\.json", _MIB),
    _shape(rf"{_RUN}/trials/{NAME}/transcript\.jsonl", 1024 * _MIB),
    _shape(rf"{_RUN}/trials/{NAME}/adapter\.log", 64 * _MIB),
    _shape(rf"{_RUN}/verdicts/{NAME}\.jsonl", 256 * _MIB),
    _shape(rf"{IMAGES}/{NAME}\.tar", 4096 * _MIB - 1),
)


def most_bytes(path: str) -> int | None:
    """How large a file of this path may be; None: no such path may be in an archive."""
    return next((most for shape, most in _SHAPES if shape.fullmatch(path)), None)


def is_name(text: str) -> bool:
    """Whether a run's folder can go by this name in an archive."""
    return re.fullmatch(NAME, text) is not None


def in_order(paths: Iterable[str]) -> list[str]:
    """The order of files in an archive: the manifest, its signature, then by name."""
    first = {MANIFEST: 0, SIGNATURE: 1}
    return sorted(paths, key=lambda path: (first.get(path, 2), path))


def missing(paths: Collection[str], runs: Iterable[str]) -> Iterator[str]:
    """The files without which an archive of these runs is not whole."""
    held = frozenset(paths)
    wanted = [CONTRACT, *(f"{RUNS}/{run}/{name}" for run in runs for name in RUN_FILES)]
    trials = dict.fromkeys(path.rpartition("/")[0] for path in paths if "/trials/" in path)
    wanted += [f"{trial}/{name}" for trial in trials for name in TRIAL_FILES]
    yield from (path for path in wanted if path not in held)


def runs_of(paths: Iterable[str]) -> frozenset[str]:
    """The names of the runs that files belong to."""
    parts = (path.split("/") for path in paths)
    return frozenset(part[1] for part in parts if part[0] == RUNS and len(part) > 2)


def trial_files() -> tuple[str, ...]:
    """What is taken of a trial's folder."""
    return (*TRIAL_FILES, _LOG)
