"""Attempts to get out of a Docker pod, made from inside one. Each has a control that can succeed.

The attempts are `tests/images/testbed/probe.py`, run as the adapter's own container through the
same code path as any adapter, and read from its log.
"""

import fcntl
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memrig.model.manifest import Resources
from memrig.pod.base import Fate
from memrig.pod.docker import DockerProvider, Engine, socket_path
from support.pods import (
    TEST_RUN,
    ended,
    eventually,
    findings,
    host_listener,
    left_over,
    probe_command,
    probe_here,
    request,
    tricky,
)

pytestmark = [pytest.mark.docker, pytest.mark.isolation]

UNREACHABLE = "ENETUNREACH"
_GET_ADDRESS = 0x8915  # SIOCGIFADDR, netdevice(7)


@pytest.fixture
def provider() -> Any:
    made = DockerProvider()
    yield made
    made.close()


async def attempt(
    provider: DockerProvider, *arguments: str, **changes: Any
) -> tuple[list[dict[str, Any]], Fate]:
    """Runs one probe in a pod to its end; what it told, and how it ended."""
    adapter = await tricky("docker", command=probe_command(*arguments), **changes)
    async with provider.start(request(adapter)) as pod:
        fate = await ended(pod)
        log = await eventually(pod.logs, lambda text: "end" in text or fate.exit_code != 0, 5)
    return findings(log), fate


def host_addresses() -> list[str]:
    """Every IPv4 address of this host, Docker's bridges included."""
    addresses = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for _, name in socket.if_nameindex():
            packed = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(udp.fileno(), _GET_ADDRESS, packed)
            except OSError:  # no IPv4 address
                continue
            addresses.append(socket.inet_ntoa(answer[20:24]))
    return addresses


async def test_no_service_of_the_host_can_be_reached(provider: DockerProvider) -> None:
    """A listener on every address of the host, bridges included, is out of reach on each."""
    with host_listener() as port:
        targets = [f"{address}:{port}" for address in host_addresses()]
        control = probe_here("connect", *targets)
        found, _ = await attempt(provider, "connect", *targets)

    assert {f["result"] for f in control} == {"connected"}
    assert len(targets) > 1, "this host has no address but its loopback: no test"
    results = {f["target"].split(":")[0]: f["result"] for f in found}
    assert results.pop("127.0.0.1") == "ECONNREFUSED"  # the pod's own loopback
    assert set(results.values()) == {UNREACHABLE}


async def test_the_usual_gateways_lead_nowhere(provider: DockerProvider) -> None:
    """The addresses that Docker gives bridges and clouds give metadata are unreachable at once."""
    targets = [f"172.{n}.0.1:80" for n in range(17, 32)]
    targets += ["169.254.169.254:80", "10.0.0.1:80", "192.168.0.1:80"]

    found, _ = await attempt(provider, "connect", *targets)

    assert len(found) == len(targets)
    assert {f["result"] for f in found} == {UNREACHABLE}


async def test_the_internet_is_unreachable_at_once(provider: DockerProvider) -> None:
    """Nothing leaves, TCP or UDP, and an attempt does not wait for a time-out."""
    found, _ = await attempt(provider, "connect", "192.0.2.1:443", "198.51.100.1:80")
    sent, _ = await attempt(provider, "send", "192.0.2.1:53", "203.0.113.1:123")

    assert {f["result"] for f in found} == {UNREACHABLE}
    assert max(f["seconds"] for f in found) < 1
    assert {f["result"] for f in sent} == {UNREACHABLE}


async def test_no_name_but_localhost_resolves(provider: DockerProvider) -> None:
    """There is no DNS. The control: localhost resolves."""
    found, _ = await attempt(
        provider, "resolve", "localhost", "example.com", "host.docker.internal", "registry"
    )

    results = {f["name"]: f["result"] for f in found}
    assert results.pop("localhost") in {"127.0.0.1", "::1"}
    assert set(results.values()) == {"gaierror"}


async def test_the_pod_has_a_loopback_and_no_route(provider: DockerProvider) -> None:
    """The control: this host has more than a loopback, or routes."""
    found, _ = await attempt(provider, "interfaces")
    [control] = probe_here("interfaces")

    assert found == [{"up": ["lo"], "routes": 0}]
    assert control != found[0]


async def test_another_pod_cannot_be_reached(provider: DockerProvider) -> None:
    """A port that is open in one pod, to itself, is closed in its neighbour."""
    listening = await tricky("docker", command=probe_command("listen", "6000"))
    async with provider.start(request(listening)) as neighbour:
        log = await eventually(neighbour.logs, lambda text: "connected" in text, 10)
        address = findings(log)[1]
        found, _ = await attempt(provider, "connect", "127.0.0.1:6000", "[::1]:6000")

    assert address["result"] == "connected"  # the control, inside the neighbour
    assert found[0]["result"] == "ECONNREFUSED"


async def test_abstract_sockets_of_the_host_are_out_of_reach(provider: DockerProvider) -> None:
    """Abstract Unix sockets belong to a network namespace: the host's are not in the pod's."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0memrig-isolation-test")
        server.listen()
        [control] = probe_here("connect", "@memrig-isolation-test")
        found, _ = await attempt(provider, "connect", "@memrig-isolation-test")

    assert control["result"] == "connected"
    assert found[0]["result"] == "ECONNREFUSED"


async def test_the_root_file_system_cannot_be_written(provider: DockerProvider) -> None:
    """Every folder but the sized scratch ones is read-only or not ours. The control: /tmp."""
    folders = ["/", "/etc", "/usr/bin", "/opt/testbed", "/home", "/var/tmp", "/run", "/dev", "/sys"]

    found, _ = await attempt(provider, "write", "/tmp", *folders)

    results = {f["path"]: f["result"] for f in found}
    assert results.pop("/tmp") == "written"
    assert set(results.values()) <= {"EROFS", "EACCES", "EPERM"}
    assert results["/opt/testbed"] == "EROFS"


async def test_nothing_that_was_written_can_be_run(provider: DockerProvider) -> None:
    """Scratch folders are noexec."""
    for folder in ("/tmp", "/dev/shm", "/data"):
        found, _ = await attempt(provider, "execute", folder)
        assert found == [{"folder": folder, "result": "EACCES"}]


@pytest.mark.parametrize(
    ("folder", "mebibytes"), [("/tmp", 8), ("/dev/shm", 8), ("/data", 64)], ids=str
)
async def test_no_folder_can_fill_the_disk(
    provider: DockerProvider, folder: str, mebibytes: int
) -> None:
    """Each writable folder ends at its size, a VOLUME that the manifest does not name included."""
    found, _ = await attempt(provider, "fill", folder, str(256 << 20))

    assert found[0]["result"] == "ENOSPC"
    assert (mebibytes - 1) << 20 <= found[0]["written"] <= mebibytes << 20


async def test_no_privilege_is_held_or_can_be_gained(provider: DockerProvider) -> None:
    """No capability, no new privileges, seccomp on, and each attempt to gain any is refused."""
    found, _ = await attempt(provider, "privileges")

    held = found.pop(0)
    assert (held["uid"], held["gid"]) == (65534, 65534)
    assert {int(held[key], 16) for key in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert (held["NoNewPrivs"], held["Seccomp"]) == ("1", "2")
    assert len(found) >= 9
    assert {f["attempt"]: f["result"] for f in found if f["result"] != "EPERM"} == {}


async def test_a_set_user_id_program_does_not_become_root(provider: DockerProvider) -> None:
    """su and its like run as nobody. The control: the image has such programs."""
    found, _ = await attempt(provider, "set_user_id")

    assert found, "the image has no set-user-id program: no test"
    for finding in found:
        assert "0" not in finding["uids"], finding


async def test_a_fork_bomb_ends_at_the_pids_limit(provider: DockerProvider) -> None:
    """Processes are bounded by the manifest's limit; the control: some could be made."""
    found, _ = await attempt(provider, "forks", "500")

    assert found[0]["result"] == "EAGAIN"
    assert 30 < found[0]["children"] < 64


async def test_memory_over_the_limit_kills_the_pod_only(provider: DockerProvider) -> None:
    """At its limit the process is killed, and no swap makes up for it."""
    found, fate = await attempt(provider, "memory", "1024")

    assert (fate.oom, fate.exit_code) == (True, 137)
    assert 96 <= max(f["mebibytes"] for f in found) <= 160


async def test_tmpfs_counts_as_memory(provider: DockerProvider) -> None:
    """A scratch folder larger than the memory limit does not add memory."""
    limits = Resources.model_validate({"memory": "48MiB", "tmp": "512MiB", "pids": 64})

    _, fate = await attempt(provider, "fill", "/tmp", str(512 << 20), resources=limits)

    assert fate.oom


async def test_a_log_flood_does_not_grow_on_the_host(provider: DockerProvider) -> None:
    """64 MiB of output leave at most 16 MiB on disk, and the end of it can be read."""
    adapter = await tricky("docker", command=probe_command("flood", "64"))
    engine = Engine(socket_path())
    async with provider.start(request(adapter)) as pod:
        await ended(pod, 90)
        container = pod.description["container.adapter"]
        facts = await engine.inspect(container)
        kept = len(await engine.logs(container, 10**6))
        text = await eventually(lambda: pod.logs(5), lambda log: log.endswith("end"), 10)
    engine.close()

    assert facts.host_config["LogConfig"] == {
        "Type": "json-file",
        "Config": {"max-size": "8m", "max-file": "2"},
    }
    assert 1 << 20 < kept <= 16_100_000
    assert text.endswith("end")


async def test_no_key_of_the_host_is_in_the_environment(
    provider: DockerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rig's environment, keys and proxies included, stays outside. The control: DECLARED."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-of-the-rig")
    monkeypatch.setenv("HTTPS_PROXY", "http://sk-secret-of-the-rig@192.0.2.1:3128")

    found, _ = await attempt(provider, "environment", environment={"DECLARED": "yes"})

    assert found[0]["own"]["DECLARED"] == "yes"
    assert "sk-secret-of-the-rig" not in str(found)
    assert not any("proxy" in name.lower() for name in found[0]["own"])


async def test_nothing_of_the_host_is_mounted(provider: DockerProvider) -> None:
    """The adapter sees neither the Docker socket, nor the pod's sockets, nor the host's folders."""
    here = Path(__file__).parent
    paths = ["/var/run/docker.sock", "/run/docker.sock", "/run/memrig", "/volumes", str(here)]

    found, _ = await attempt(provider, "look", "/opt/testbed", *paths)

    assert {f["path"]: f["there"] for f in found} == {"/opt/testbed": True} | dict.fromkeys(
        paths, False
    )
    assert here.exists()


@pytest.fixture(autouse=True)
async def nothing_left() -> AsyncIterator[None]:
    """Whatever a probe did, its pod goes away."""
    yield
    assert await left_over(TEST_RUN) == []
