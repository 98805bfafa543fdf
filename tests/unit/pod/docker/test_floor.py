"""The floor: each field that the engine gets wrong is found, one at a time."""

import copy
from typing import Any

import pytest

from memrig.model.manifest import Resources
from memrig.pod.docker.facts import ContainerFacts, EngineFacts, MountFacts
from memrig.pod.docker.floor import (
    FORBIDDEN,
    ContainerPlan,
    Mount,
    container_gaps,
    create_config,
    engine_gaps,
    host_config,
    kernel_gaps,
)

IMAGE = "sha256:" + "a" * 64

PLAN = ContainerPlan(
    service="adapter",
    name="memrig-0-adapter",
    image=IMAGE,
    user="65534:65534",
    network="container:d00r",
    resources=Resources(),
    labels={},
    mounts=(Mount("volume", "memrig-0-data", "/data"),),
    tmpfs={"/scratch": "rw,size=1"},
)

ENGINE: dict[str, Any] = {
    "ServerVersion": "20.10.24",
    "ApiVersion": "1.41",
    "OSType": "linux",
    "CgroupVersion": "1",
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsPeriod": True,
    "CpuCfsQuota": True,
    "SecurityOptions": ["name=seccomp,profile=default"],
    "Plugins": {"Volume": ["local"], "Log": ["json-file"]},
}


def created(**host: Any) -> ContainerFacts:
    """What an engine reports of a container that got exactly the floor, but for `host`."""
    config: dict[str, Any] = {
        **copy.deepcopy(host_config(PLAN)),
        **dict.fromkeys(FORBIDDEN),
        "MaskedPaths": ["/proc/kcore", "/proc/keys", "/sys/firmware", "/proc/acpi"],
        "ReadonlyPaths": ["/proc/bus", "/proc/sys", "/proc/sysrq-trigger"],
        **host,
    }
    return ContainerFacts(
        id="c",
        image=IMAGE,
        user=PLAN.user,
        host_config=config,
        mounts=(MountFacts(type="volume", name="memrig-0-data", destination="/data"),),
        status="created",
        running=False,
        oom_killed=False,
        exit_code=0,
        pid=0,
    )


def test_a_container_as_asked_for_has_no_gap() -> None:
    """The control for all that follows."""
    assert container_gaps(PLAN, created()) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("NetworkMode", "bridge"),
        ("NetworkMode", "host"),
        ("NetworkMode", "container:other"),
        ("CapDrop", None),
        ("CapDrop", ["NET_RAW"]),
        ("SecurityOpt", None),
        ("SecurityOpt", ["no-new-privileges:true", "seccomp=unconfined"]),
        ("ReadonlyRootfs", False),
        ("Init", False),
        ("Init", None),
        ("IpcMode", "host"),
        ("IpcMode", "shareable"),
        ("CgroupnsMode", "host"),
        ("Memory", 0),
        ("MemorySwap", -1),
        ("MemorySwap", 0),
        ("NanoCpus", 0),
        ("PidsLimit", None),
        ("PidsLimit", -1),
        ("ShmSize", 1 << 40),
        ("OomScoreAdj", 0),
        ("RestartPolicy", {"Name": "always", "MaximumRetryCount": 0}),
        ("LogConfig", {"Type": "json-file", "Config": {}}),
        ("LogConfig", {"Type": "none", "Config": {}}),
        ("Ulimits", None),
        ("Ulimits", [{"Name": "nofile", "Soft": 1 << 20, "Hard": 1 << 20}]),
        ("Tmpfs", {"/tmp": "size=1g"}),
        ("MaskedPaths", []),
        ("MaskedPaths", None),
        ("ReadonlyPaths", []),
    ],
)
def test_each_limit_that_is_not_as_asked_for_is_a_gap(field: str, value: object) -> None:
    """One field differs: one gap, and it names the field."""
    [gap] = container_gaps(PLAN, created(**{field: value}))

    assert field in gap


@pytest.mark.parametrize("field", FORBIDDEN)
def test_each_way_to_lower_the_floor_must_be_empty(field: str) -> None:
    """What was never asked for is a gap when it is there."""
    [gap] = container_gaps(PLAN, created(**{field: ["something"]}))

    assert field in gap


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image": "sha256:" + "b" * 64}, "the image is"),
        ({"user": ""}, "the user is"),
        ({"user": "0:0"}, "the user is"),
        ({"mounts": ()}, "nothing is mounted at /data"),
    ],
)
def test_another_image_user_or_mount_is_a_gap(changes: dict[str, Any], words: str) -> None:
    """The container as a whole, beside its HostConfig."""
    [gap] = container_gaps(PLAN, created().model_copy(update=changes))

    assert words in gap


@pytest.mark.parametrize(
    "mount",
    [
        MountFacts(type="volume", name="8f3e", destination="/var/lib/extra"),
        MountFacts(type="bind", source="/var/run/docker.sock", destination="/run/docker.sock"),
        MountFacts(type="tmpfs", destination="/elsewhere"),
    ],
)
def test_a_mount_that_was_not_asked_for_is_a_gap(mount: MountFacts) -> None:
    """An anonymous volume for an image's VOLUME above all: it would be unbounded, on disk."""
    facts = created()
    facts = facts.model_copy(update={"mounts": (*facts.mounts, mount)})

    [gap] = container_gaps(PLAN, facts)

    assert mount.destination in gap


def test_a_planned_root_user_is_a_gap() -> None:
    """Root is refused even where plan and engine agree on it."""
    from dataclasses import replace

    plan = replace(PLAN, user="0:0")

    assert container_gaps(plan, created().model_copy(update={"user": "0:0"}))


def test_an_image_s_own_health_check_is_off() -> None:
    """It would run beside the measurement, on the adapter's CPU."""
    assert create_config(PLAN)["Healthcheck"] == {"Test": ["NONE"]}


def test_volumes_start_empty() -> None:
    """An image's content and ownership are not copied over the declared ones."""
    [mount] = host_config(PLAN)["Mounts"]  # type: ignore[misc]

    assert mount["VolumeOptions"] == {"NoCopy": True}  # type: ignore[has-type]


def test_an_engine_with_all_of_it_has_no_gap() -> None:
    """The control for what follows."""
    assert engine_gaps(EngineFacts.model_validate(ENGINE)) == ()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("OSType", "windows", "container platform"),
        ("ApiVersion", "1.40", "API version"),
        ("ApiVersion", "", "API version"),
        ("MemoryLimit", False, "memory limit"),
        ("SwapLimit", False, "swap limit"),
        ("PidsLimit", False, "pids limit"),
        ("CpuCfsPeriod", False, "CPU limit"),
        ("CpuCfsQuota", False, "CPU limit"),
        ("SecurityOptions", None, "seccomp"),
        ("SecurityOptions", ["name=apparmor"], "seccomp"),
        ("SecurityOptions", ["name=seccomp,profile=unconfined"], "seccomp"),
        ("SecurityOptions", ["name=seccomp,profile=/etc/mine.json"], "seccomp"),
        ("Plugins", {"Volume": [], "Log": ["json-file"]}, "local"),
        ("Plugins", {"Volume": ["local"], "Log": []}, "json-file"),
    ],
)
def test_each_thing_an_engine_lacks_is_a_gap(field: str, value: object, words: str) -> None:
    """One field of `docker info` differs: one gap, and it says what is missing."""
    [gap] = engine_gaps(EngineFacts.model_validate({**ENGINE, field: value}))

    assert words in gap


def test_newer_names_and_versions_are_known() -> None:
    """Docker 23 and later call the default profile "builtin"; 1.100 is newer than 1.41."""
    facts = {**ENGINE, "SecurityOptions": ["name=seccomp,profile=builtin"], "ApiVersion": "1.100"}

    assert engine_gaps(EngineFacts.model_validate(facts)) == ()


STATUS = """Name:\tpython3
Uid:\t65533\t65533\t65533\t65533
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
CapAmb:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
"""


def test_a_process_as_it_should_be_has_no_gap() -> None:
    """The control for what follows."""
    assert kernel_gaps(STATUS) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("CapEff:\t0000000000000000", "CapEff:\t0000000000002000"),
        ("CapPrm:\t0000000000000000", "CapPrm:\t00000000a80425fb"),
        ("CapBnd:\t0000000000000000", "CapBnd:\t00000000a80425fb"),
        ("CapAmb:\t0000000000000000", "CapAmb:\t0000000000000001"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0"),
        ("Seccomp:\t2", "Seccomp:\t0"),
        ("Seccomp:\t2\n", ""),
        ("Uid:\t65533\t65533", "Uid:\t65533\t0"),
    ],
)
def test_each_line_of_the_kernel_s_status_counts(before: str, after: str) -> None:
    """What the kernel says of the doorman is believed over what the engine says."""
    assert before in STATUS
    assert len(kernel_gaps(STATUS.replace(before, after))) == 1
