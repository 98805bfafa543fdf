"""`lock.json`: every input of a run by content. Equal content, equal run (architecture §7)."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig._version import __version__
from memrig.errors import UsageError
from memrig.grading.base import GROUP as GRADERS
from memrig.grading.base import Grader
from memrig.model.canonical import canonical_json, digest_bytes, digest_of
from memrig.model.manifest import AdapterRef
from memrig.model.scenario import ScenarioRef
from memrig.model.trial import AnswerSpec, Budget, Deadlines, Isolation, Mode
from memrig.suites.base import GROUP as SUITES
from memrig.suites.base import DataSource

#: Audits take scenarios until these hold so many questions, and no more than so many scenarios.
_AUDITED_QUESTIONS, _AUDITED_SCENARIOS = 8, 4
#: What begins a field that names an image by digest.
_IMAGES = "adapter.images."


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Machine(_Frozen):
    """Where a run is made: latencies are comparable only within one of these."""

    system: str
    kernel: str
    architecture: str
    cpu: str
    cores: int
    memory_bytes: int
    python: str


class DataLock(_Frozen):
    """The suite's data."""

    name: str
    origin: str
    sha256: str
    notes: tuple[str, ...] = ()


class Lock(_Frozen):
    """All inputs of a run.

    `grader` is protocol/version; `plugins` names the distribution (``name==version``) of the
    "suite" and the "grader" where it is not memrig's own. `options` are the suite's own (variant,
    order, …) where they were chosen. `judge` is the judge's model; `prices` the price table's
    digest. A scenario without a seed of its own runs under each of `seeds`. Limits at which a run
    merely stops are no input. `profile`, its digest and `tier` say what the run was made to be;
    whether it is that is for `runs.profiles` to tell.
    """

    format: str = "memrig.lock/1"
    memrig_version: str
    contract: str
    suite: str
    protocol: str
    grader: str
    plugins: dict[str, str] = Field(default_factory=dict)
    mode: Mode
    data: DataLock
    category_labels: str
    sample: bool
    options: dict[str, str] = Field(default_factory=dict)
    answer: AnswerSpec | None = None
    naive: bool = False
    judge: str = ""
    prices: str = ""
    adapter: AdapterRef
    isolation: Isolation
    seeds: tuple[int, ...] = Field(min_length=1)
    repeats: int
    limit: int | None
    top_k: int
    deadlines: Deadlines
    budget: Budget
    audit: bool
    audits: bool = False
    profile: str = ""
    profile_digest: str = ""
    tier: str = ""
    scenarios: tuple[ScenarioRef, ...]
    notes: tuple[str, ...]
    machine: Machine

    @property
    def reader(self) -> str:
        """The model whose answers are measured; empty where the rig asks none for them."""
        return self.answer.model if self.answer and self.mode != "native" else ""

    def of_seed(self, seed: int) -> tuple[ScenarioRef, ...]:
        """The scenarios that run under a seed."""
        return tuple(ref for ref in self.scenarios if ref.seed in {None, seed})

    @property
    def asked(self) -> tuple[ScenarioRef, ...]:
        """The scenarios of one repeat, as often as there are seeds that they run under."""
        return tuple(ref for seed in self.seeds for ref in self.of_seed(seed))

    @property
    def audited(self) -> tuple[ScenarioRef, ...]:
        """The scenarios that audits are made of: the first seed's, until they hold enough.

        None of a pooled memory: it is too large.
        """
        chosen: list[ScenarioRef] = []
        if self.audits and self.isolation != "pooled":
            for ref in self.of_seed(self.seeds[0])[:_AUDITED_SCENARIOS]:
                if sum(one.questions for one in chosen) < _AUDITED_QUESTIONS:
                    chosen.append(ref)
        return tuple(chosen)

    @property
    def digest(self) -> str:
        """The hash of the whole: names the run, seeds its statistics."""
        return digest_of(self)


def data_lock(source: DataSource) -> DataLock:
    """A data source as the lock keeps it."""
    return DataLock(
        name=source.name, origin=source.origin, sha256=source.sha256, notes=source.notes
    )


def grader_lock(grader: Grader) -> str:
    """A grader as the lock keeps it, and as every grade names it."""
    return f"{grader.protocol}/{grader.version}"


def plugins_lock(suite: str, protocol: str) -> dict[str, str]:
    """The distributions that brought the suite and the grader, where that is not memrig itself."""
    found = {}
    for kind, group, name in (("suite", SUITES, suite), ("grader", GRADERS, protocol)):
        for point in tuple(entry_points(group=group, name=name))[:1]:  # the one that is loaded
            if point.dist is not None and point.dist.name != "memrig":
                found[kind] = f"{point.dist.name}=={point.dist.version}"
    return found


def contract_digest() -> str:
    """The hash of the contract's source, which every run names."""
    source = files("memrig_proto.v1") / "memory_adapter.binpb"
    return digest_bytes(source.read_bytes())


def this_machine() -> Machine:
    """Describes this machine."""
    return Machine(
        system=platform.system(),
        kernel=platform.release(),
        architecture=platform.machine(),
        cpu=_cpu_model(),
        cores=os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        python=platform.python_version(),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def lock_version() -> str:
    """This rig's version, as locks name it."""
    return __version__


def differences(old: object, new: object, path: str = "") -> Iterator[str]:
    """The fields in which two locks differ, as ``field: old → new``."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (left, right) in enumerate(zip(old, new, strict=True)):
            yield from differences(left, right, f"{path}[{number}]")
    elif old != new:
        yield f"{path}: {shown_value(old)} → {shown_value(new)}"


def shown_value(value: object) -> str:
    """A value of a lock in at most sixty characters."""
    numbers = isinstance(value, list) and value and all(isinstance(item, int) for item in value)
    text = f"{len(value)} items" if isinstance(value, list) and not numbers else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def check_lock(path: Path, lock: Lock) -> bool:
    """Compares a folder's lock with this one; False if there is none yet.

    Raises:
        UsageError: they differ, and the fields are named; or the file is no lock of this version.
    """
    if not path.exists():
        return False
    try:
        old = Lock.model_validate_json(path.read_bytes())
    except ValidationError as error:
        message = f"is not a lock of this version: {error.errors()[0]['msg']}"
        raise UsageError(message, where=str(path), fix="give another --out") from error
    if canonical_json(old) == canonical_json(lock):
        return True
    fields = list(differences(old.model_dump(mode="json"), lock.model_dump(mode="json")))
    more = f" (and {len(fields) - 5} more)" if len(fields) > 5 else ""
    if all(field.startswith(_IMAGES) for field in fields):
        raise UsageError(
            f"this folder holds a run of an image that was built anew since: {'; '.join(fields)}",
            where=str(path),
            fix="load the image of the first command again, or give another --out",
        )
    raise UsageError(
        f"this folder holds a run with other inputs: {'; '.join(fields[:5])}{more}",
        where=str(path),
        fix="repeat the first command exactly, or give another --out",
    )
