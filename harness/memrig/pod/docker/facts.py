"""What the engine says about itself and its objects, parsed at the edge into frozen types."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field


def _or_empty(value: object) -> object:
    return {} if value is None else value


def _or_nothing(value: object) -> object:
    return () if value is None else value


Labels = Annotated[dict[str, str], BeforeValidator(_or_empty)]
Strings = Annotated[tuple[str, ...], BeforeValidator(_or_nothing)]


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class EngineFacts(_Facts):
    """`docker info` and `docker version`, as far as the floor depends on them."""

    server_version: str = Field(alias="ServerVersion", default="")
    api_version: str = Field(alias="ApiVersion", default="0.0")
    os_type: str = Field(alias="OSType", default="")
    cgroup_version: str = Field(alias="CgroupVersion", default="")
    memory_limit: bool = Field(alias="MemoryLimit", default=False)
    swap_limit: bool = Field(alias="SwapLimit", default=False)
    pids_limit: bool = Field(alias="PidsLimit", default=False)
    cpu_period: bool = Field(alias="CpuCfsPeriod", default=False)
    cpu_quota: bool = Field(alias="CpuCfsQuota", default=False)
    security: Strings = Field(alias="SecurityOptions", default=())
    root: str = Field(alias="DockerRootDir", default="")
    storage_driver: str = Field(alias="Driver", default="")
    kernel: str = Field(alias="KernelVersion", default="")
    volume_drivers: Strings = Field(validation_alias=AliasPath("Plugins", "Volume"), default=())
    log_drivers: Strings = Field(validation_alias=AliasPath("Plugins", "Log"), default=())


class ImageFacts(_Facts):
    """An image's own configuration, as far as it shapes a container."""

    id: str = Field(alias="Id")
    volumes: Annotated[dict[str, object], BeforeValidator(_or_empty)] = Field(
        validation_alias=AliasPath("Config", "Volumes"), default_factory=dict
    )
    environment: Strings = Field(validation_alias=AliasPath("Config", "Env"), default=())


class MountFacts(_Facts):
    """One mount of a container, however it came about."""

    type: str = Field(alias="Type")
    name: str = Field(alias="Name", default="")
    source: str = Field(alias="Source", default="")
    destination: str = Field(alias="Destination")


class ContainerFacts(_Facts):
    """`docker inspect` of a container."""

    id: str = Field(alias="Id")
    image: str = Field(alias="Image")
    user: str = Field(validation_alias=AliasPath("Config", "User"), default="")
    host_config: Mapping[str, object] = Field(alias="HostConfig")
    mounts: Annotated[tuple[MountFacts, ...], BeforeValidator(_or_nothing)] = Field(
        alias="Mounts", default=()
    )
    status: str = Field(validation_alias=AliasPath("State", "Status"))
    running: bool = Field(validation_alias=AliasPath("State", "Running"))
    oom_killed: bool = Field(validation_alias=AliasPath("State", "OOMKilled"))
    exit_code: int = Field(validation_alias=AliasPath("State", "ExitCode"))
    pid: int = Field(validation_alias=AliasPath("State", "Pid"))
    finished_at: str = Field(validation_alias=AliasPath("State", "FinishedAt"), default="")
    log_path: str = Field(alias="LogPath", default="")

    @property
    def finished(self) -> datetime:
        """When it ended; the year 1 while it never did."""
        return datetime.fromisoformat(self.finished_at[:19] + "+00:00")


class Listed(_Facts):
    """One container or volume of a listing."""

    id: str
    name: str
    labels: Labels
