"""`adapter.toml`: what an adapter image declares about itself (architecture §4)."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from memrig.errors import DataError, UsageError

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,38}$")]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9._/-]+$")]
User = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*(:[0-9]+)?$")]

#: How questions are answered (architecture §6).
AnswerMode = Literal["retrieval", "reader", "agent", "native"]

#: The adapter's own container in `AdapterRef.images`; companions go by their own names.
ADAPTER_SERVICE = "adapter"
NOBODY = "65534:65534"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tmpfs(_Strict):
    """A sized scratch file system in memory; gone when its container stops."""

    path: AbsolutePath
    size: ByteSize = ByteSize(16 * 1024**2)
    uid: int = Field(default=65534, ge=1)
    mode: str = Field(default="0700", pattern=r"^0?[0-7]{3,4}$")


class Volume(_Strict):
    """A sized tmpfs that outlives a restart of its container, until the pod ends.

    Two containers that name the same volume share it.
    """

    name: Name
    path: AbsolutePath
    size: ByteSize = ByteSize(64 * 1024**2)
    uid: int = Field(default=65534, ge=1)
    mode: str = Field(default="0700", pattern=r"^0?[0-7]{3,4}$")


class Health(_Strict):
    """How a companion shows that it serves: a command that exits 0 inside its container."""

    command: tuple[str, ...] = Field(min_length=1)
    interval_s: float = Field(default=0.2, gt=0)
    timeout_s: float = Field(default=30.0, gt=0)


class Resources(_Strict):
    """What a container may use at most. Memory includes its tmpfs; swap is never given."""

    cpus: float = Field(default=1.0, gt=0, le=64)
    memory: ByteSize = ByteSize(1024**3)
    pids: int = Field(default=256, ge=8, le=4096)
    shm: ByteSize = ByteSize(64 * 1024**2)
    tmp: ByteSize = ByteSize(64 * 1024**2)


class Container(_Strict):
    """Where a container's image comes from, and what it needs."""

    build: str | None = None
    reference: str | None = None
    command: tuple[str, ...] | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    user: User = NOBODY
    tmpfs: tuple[Tmpfs, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resources: Resources = Resources()

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.build is None) == (self.reference is None):
            msg = "needs exactly one of `build` (a folder) and `reference` (an image)"
            raise ValueError(msg)
        return self


class Service(Container):
    """A companion container that shares the adapter's loopback: a database, a server."""

    health: Health | None = None
    after: tuple[Name, ...] = ()


class ProcessCommand(_Strict):
    """How to serve the adapter without Docker. `MEMRIG_LISTEN` holds the address to serve on."""

    command: tuple[str, ...] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)


class Variant(_Strict):
    """Another way to run the same image: what it says differently, the rest stays.

    `environment` is laid over that of the adapter's container, and of its process.
    """

    description: str = ""
    models: tuple[str, ...] | None = None
    modes: tuple[AnswerMode, ...] | None = None
    start_timeout_s: float | None = Field(default=None, gt=0, le=3600)
    environment: dict[str, str] = Field(default_factory=dict)


class AdapterManifest(_Strict):
    """The whole of `adapter.toml`.

    `modes` are those that the system can be run in, the usual one first; none leaves it open.

    Raises:
        pydantic.ValidationError: an unknown key, a wrong value, or a service that waits for one
            that does not exist (or for itself, in a circle).
    """

    name: Name
    version: str = Field(min_length=1, max_length=64)
    description: str = ""
    port: int = Field(default=50051, ge=1024, le=65535)
    start_timeout_s: float = Field(default=30.0, gt=0, le=3600)
    models: tuple[str, ...] = ()
    modes: tuple[AnswerMode, ...] = ()
    image: Container
    services: dict[Name, Service] = Field(default_factory=dict)
    process: ProcessCommand | None = None
    variants: dict[Name, Variant] = Field(default_factory=dict)

    def as_variant(self, name: str) -> "AdapterManifest":
        """The manifest of one of its variants, named ``<name>-<variant>``.

        Raises:
            UsageError: it has no such variant.
        """
        variant = self.variants.get(name)
        if variant is None:
            known = ", ".join(self.variants)
            raise UsageError(
                f"{self.name} has no variant {name!r}",
                where=f"--adapter …+{name}",
                fix=f"one of: {known}" if known else "it has none: leave it out",
            )
        changes = variant.model_dump(exclude_none=True, exclude={"environment"})
        over = {"environment": {**self.image.environment, **variant.environment}}
        changes |= {"name": f"{self.name}-{name}", "variants": {}}
        changes["image"] = self.image.model_copy(update=over)
        if self.process:
            over = {"environment": {**self.process.environment, **variant.environment}}
            changes["process"] = self.process.model_copy(update=over)
        return self.model_copy(update=changes)

    @model_validator(mode="after")
    def _services_can_start(self) -> Self:
        if ADAPTER_SERVICE in self.services:
            msg = f"services.{ADAPTER_SERVICE}: this name means the adapter itself"
            raise ValueError(msg)
        self.start_order()
        return self

    def start_order(self) -> tuple[str, ...]:
        """The companions' names, each after those it waits for.

        Raises:
            ValueError: a service waits for an unknown one, or for itself.
        """
        order: list[str] = []
        waiting = dict(self.services)
        while waiting:
            ready = [n for n, s in waiting.items() if all(a in order for a in s.after)]
            if not ready:
                stuck = {n: s.after for n, s in waiting.items()}
                msg = f"services wait for each other or for an unknown one: {stuck}"
                raise ValueError(msg)
            for name in ready:
                order.append(name)
                del waiting[name]
        return tuple(order)


#: The rig's own baselines, and what stands before their names. `oracle-75` and so on are degraded
#: oracles: of questions that need more than one episode they keep that percentage of the evidence.
Baseline = Literal["oracle", "full-context", "oracle-75", "oracle-50", "oracle-25", "oracle-0"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)
BASELINE_PREFIX = "baseline:"

#: "baseline" runs in the rig itself; "given" stands for answers that were produced elsewhere.
PodKind = Literal["docker", "process", "endpoint", "baseline", "given"]


class AdapterRef(_Strict):
    """An adapter, resolved: all that is needed to start it again, and nothing that can drift.

    `images` maps "adapter" and each companion to an image digest (``sha256:…``); `inputs` maps the
    ones that memrig built to the hash of their build inputs, and those named by reference to their
    registry's digest where it is known (for a process pod: "adapter" is the folder and the local
    sources, "environment" all that is installed beside the rig).
    For an endpoint, only `endpoint` is known; for a baseline, only its name; for given answers,
    `endpoint` is their file.
    """

    name: str
    version: str
    pod: PodKind
    manifest: AdapterManifest | None = None
    images: dict[str, str] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    endpoint: str | None = None


def split_variant(adapter: str) -> tuple[str, str]:
    """An adapter as a user names it, and the variant after its last ``+``, empty if none is named.

    A folder whose own name has a plus sign is taken as it is.
    """
    head, plus, variant = adapter.rpartition("+")
    whole = not (plus and variant) or "://" in adapter or ":" in variant or "/" in variant
    return (adapter, "") if whole or Path(adapter).is_dir() else (head, variant)


def load_manifest(path: Path) -> AdapterManifest:
    """Reads `adapter.toml`.

    Raises:
        DataError: the file is missing, not TOML, or not a manifest; names the field and its value.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror})",
            where=str(path),
            fix="point --adapter at a folder that holds an adapter.toml, such as images/bm25",
        ) from error
    return parse_manifest(text, str(path))


def parse_manifest(text: str, where: str) -> AdapterManifest:
    """Parses the text of an `adapter.toml`; `where` names its origin in errors.

    Raises:
        DataError: as `load_manifest`.
    """
    try:
        return AdapterManifest.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"is not TOML: {error}", where=where) from error
    except ValidationError as error:
        raise DataError(
            _explain(error), where=where, fix="see docs/adapters.md, adapter.toml"
        ) from error


def _explain(error: ValidationError) -> str:
    lines = []
    for item in error.errors():
        field = ".".join(str(part) for part in item["loc"]) or "(top level)"
        value = "" if isinstance(item["input"], dict) else f", got {item['input']!r}"
        message = re.sub("^Value error, ", "", item["msg"])
        lines.append(f"{field}: {message}{value}")
    return "; ".join(lines)
