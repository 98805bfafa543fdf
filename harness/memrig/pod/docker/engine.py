"""The Docker engine as an async object: the SDK in threads, its errors in our tree."""

import asyncio
import os
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import requests
from docker import APIClient
from docker.errors import APIError, DockerException

from memrig.errors import AdapterCrashedError, InfrastructureError, MemrigError, PrerequisiteError
from memrig.pod.docker.facts import ContainerFacts, EngineFacts, ImageFacts, Listed
from memrig.pod.docker.failures import classify

MIN_API = "1.41"
DEFAULT_SOCKET = "/var/run/docker.sock"

#: A call that the engine does not answer within this is an infrastructure fault.
CALL_TIMEOUT_S = 60
_THREADS = 16

T = TypeVar("T")
Json = Mapping[str, object]


class MissingError(InfrastructureError):
    """The engine does not know the container or volume."""


def socket_path() -> Path:
    """The local engine's Unix socket, from DOCKER_HOST or the usual place.

    Raises:
        PrerequisiteError: DOCKER_HOST is not a Unix socket, or there is none.
    """
    host = os.environ.get("DOCKER_HOST", "")
    if host and not host.startswith("unix://"):
        raise PrerequisiteError(
            f"DOCKER_HOST is {host!r}: the pods' sockets do not cross to another machine",
            fix="unset DOCKER_HOST to use a local daemon, or use --pod process",
        )
    path = Path(host.removeprefix("unix://") or DEFAULT_SOCKET)
    try:
        is_socket = stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        is_socket = False
    if not is_socket:
        raise PrerequisiteError(
            f"no Docker daemon listens at {path}",
            fix="install and start Docker, or use --pod process",
        )
    return path


class Engine:
    """One connection pool to the local engine. `close` it, or leave that to the end."""

    def __init__(self, path: Path) -> None:
        # Any: the SDK's stubs leave half of the calls untyped. What they return is parsed at once.
        self._client: Any = APIClient(
            base_url=f"unix://{path}",
            version=MIN_API,
            timeout=CALL_TIMEOUT_S,
            max_pool_size=_THREADS,
        )
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="docker")

    def close(self) -> None:
        """Closes the connections; calls that still run end by themselves."""
        self._threads.shutdown(wait=False)
        self._client.close()

    async def facts(self) -> EngineFacts:
        """What the engine can enforce."""
        info, version = await asyncio.gather(
            self._call(self._client.info), self._call(lambda: self._client.version(False))
        )
        return EngineFacts.model_validate({**info, "ApiVersion": version.get("ApiVersion", "0.0")})

    async def image(self, digest: str) -> ImageFacts:
        """An image's own configuration.

        Raises:
            PrerequisiteError: the engine does not have it.
        """
        return ImageFacts.model_validate(
            await self._call(lambda: self._client.inspect_image(digest), where=digest)
        )

    async def create_volume(self, name: str, options: Mapping[str, str], labels: Json) -> None:
        """Creates a volume of the local driver."""
        await self._call(
            lambda: self._client.create_volume(
                name, driver="local", driver_opts=dict(options), labels=dict(labels)
            ),
            where=name,
        )

    async def create(self, name: str, config: Json) -> str:
        """Creates a container and returns its id."""
        made = await self._call(
            lambda: self._client.create_container_from_config(dict(config), name),
            where=name,
        )
        return str(made["Id"])

    async def start(self, container: str, *, where: str) -> None:
        """Starts a container.

        Raises:
            AdapterCrashedError: its command cannot be run.
        """
        await self._call(lambda: self._client.start(container), where=where)

    async def restart(self, container: str, grace_s: int, *, where: str) -> None:
        """Stops a container (SIGTERM, then SIGKILL after `grace_s`) and starts it again."""
        await self._call(lambda: self._client.restart(container, timeout=grace_s), where=where)

    async def kill(self, container: str, *, where: str) -> None:
        """Sends SIGKILL to a container, which may go on running for a moment."""
        await self._call(lambda: self._client.kill(container), where=where)

    async def inspect(self, container: str) -> ContainerFacts:
        """Everything about a container."""
        return ContainerFacts.model_validate(
            await self._call(lambda: self._client.inspect_container(container), where=container)
        )

    async def remove(self, container: str) -> bool:
        """Kills and removes a container and its anonymous volumes; False: it was not there."""
        return await self._gone(
            lambda: self._client.remove_container(container, v=True, force=True), container
        )

    async def remove_volume(self, name: str) -> bool:
        """Removes a volume; False: it was not there."""
        return await self._gone(lambda: self._client.remove_volume(name, force=True), name)

    async def logs(self, container: str, lines: int) -> str:
        """The last log lines, both streams, each with its RFC 3339 stamp in front."""
        data: bytes = await self._call(
            lambda: self._client.logs(container, tail=lines, timestamps=True, stream=False)
        )
        return data.decode("utf-8", "replace")

    async def execute(self, container: str, command: tuple[str, ...]) -> str:
        """Starts a command inside a container and returns the id to ask for its end with."""
        made = await self._call(lambda: self._client.exec_create(container, list(command)))
        await self._call(lambda: self._client.exec_start(made["Id"], detach=True))
        return str(made["Id"])

    async def executed(self, execution: str) -> int | None:
        """The exit code of an `execute`d command; None while it runs."""
        state = await self._call(lambda: self._client.exec_inspect(execution))
        return None if state["Running"] else int(state["ExitCode"])

    async def containers(self, labels: tuple[str, ...]) -> tuple[Listed, ...]:
        """All containers, running or not, that have the labels."""
        found = await self._call(
            lambda: self._client.containers(all=True, filters={"label": list(labels)})
        )
        return tuple(
            Listed(id=c["Id"], name=c["Names"][0].lstrip("/"), labels=c["Labels"])
            for c in found
            if c.get("Names")
        )

    async def volumes(self, labels: tuple[str, ...]) -> tuple[Listed, ...]:
        """All volumes that have the labels."""
        found = await self._call(lambda: self._client.volumes(filters={"label": list(labels)}))
        return tuple(
            Listed(id=v["Name"], name=v["Name"], labels=v["Labels"])
            for v in found.get("Volumes") or ()
        )

    async def _gone(self, function: Callable[[], object], where: str) -> bool:
        try:
            await self._call(function, where=where)
        except MissingError:
            return False
        except InfrastructureError as error:
            # Another remover was quicker: what we want is on its way.
            if "already in progress" in error.message:
                return True
            raise
        return True

    async def _call(self, function: Callable[[], T], *, where: str = "") -> T:
        """Runs a call of the SDK in a thread.

        A cancelled caller waits for its call to end (the SDK's own time-out bounds it): a call that
        went on behind its back could create what nobody would remove.
        """
        task = asyncio.get_running_loop().run_in_executor(self._threads, function)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # taken, so that asyncio does not report it as lost
            raise
        except (DockerException, requests.exceptions.RequestException) as error:
            raise translate(error, where) from error


def translate(error: Exception, where: str) -> MemrigError:
    """The error of our tree for one of the SDK."""
    response = error.response if isinstance(error, APIError) else None
    status = None if response is None else response.status_code
    text = str(error.explanation or error) if isinstance(error, APIError) else str(error)
    match classify(status, text):
        case "adapter":
            return AdapterCrashedError("exit", f"its command cannot be run: {text}", where=where)
        case "prerequisite":
            return PrerequisiteError(
                f"Docker: {text}",
                where=where,
                fix="`memrig image build` makes images; Docker must see MEMRIG_RUNTIME_DIR",
            )
        case "missing":
            return MissingError(f"Docker: {text}", where=where)
        case _:
            return InfrastructureError(
                f"Docker: {text}", where=where, fix="`memrig doctor` checks the daemon"
            )
