"""The floor that no adapter can lower (architecture §4), as pure functions.

`host_config` asks for it, `engine_gaps` and `container_gaps` check that the engine can and will
give it. The check is total: what is asked for must be there, what was not asked for must be empty,
so a daemon's own defaults cannot add a device, a capability or a mount either.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memrig.model.manifest import Resources
from memrig.pod.check import Check
from memrig.pod.docker.facts import ContainerFacts, EngineFacts, MountFacts

MIN_API = (1, 41)

#: Two files of 8 MiB: enough to keep the last lines, too little to fill a disk.
LOG = {"Type": "json-file", "Config": {"max-size": "8m", "max-file": "2"}}
_NOFILE = 16384
#: When the machine runs out of memory, pods go before anything else of the user's.
_OOM_SCORE_ADJ = 500

#: Paths of /proc and /sys that the engine must hide, the ones that matter most of its defaults.
_MASKED = {"/proc/kcore", "/proc/keys", "/sys/firmware"}
_READ_ONLY = {"/proc/sys", "/proc/sysrq-trigger", "/proc/bus"}

#: Ways to lower the floor that are never asked for, and so must be empty.
FORBIDDEN = (
    *("AutoRemove", "Binds", "BlkioDeviceReadBps", "BlkioDeviceWriteBps", "CapAdd", "Cgroup"),
    *("CgroupParent", "CpuPeriod", "CpuQuota", "CpuRealtimePeriod", "CpuRealtimeRuntime"),
    *("CpusetCpus", "CpusetMems", "DeviceCgroupRules", "DeviceRequests", "Devices", "Dns"),
    *("ExtraHosts", "GroupAdd", "Links", "OomKillDisable", "PidMode", "PortBindings", "Privileged"),
    *("PublishAllPorts", "StorageOpt", "Sysctls", "UTSMode", "UsernsMode", "VolumesFrom"),
)


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume (`source` is its name) or a bind (`source` is a host path)."""

    type: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """One container of a pod, before it is created.

    Args:
        service: "doorman", "adapter" or a companion's name.
        name: the container's name on the engine.
        image: its digest, ``sha256:…``.
        user: uid:gid, never 0.
        network: "none" for the doorman, "container:<its name>" for all others.
    """

    service: str
    name: str
    image: str
    user: str
    network: str
    resources: Resources
    labels: Mapping[str, str]
    command: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    tmpfs: Mapping[str, str] = field(default_factory=dict)


def host_config(plan: ContainerPlan) -> dict[str, object]:
    """The HostConfig that asks for the floor."""
    limits = plan.resources
    return {
        "NetworkMode": plan.network,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],  # and nothing of seccomp: the default stays
        "ReadonlyRootfs": True,
        "Init": True,
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "Memory": int(limits.memory),
        "MemorySwap": int(limits.memory),  # memory and swap together: so no swap
        "NanoCpus": int(limits.cpus * 1_000_000_000),
        "PidsLimit": limits.pids,
        "ShmSize": int(limits.shm),
        "OomScoreAdj": _OOM_SCORE_ADJ,
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "LogConfig": LOG,
        "Ulimits": [
            {"Name": "nofile", "Soft": _NOFILE, "Hard": _NOFILE},
            {"Name": "core", "Soft": 0, "Hard": 0},
        ],
        "Tmpfs": {"/tmp": tmpfs_options(int(limits.tmp), "1777"), **plan.tmpfs},  # noqa: S108
        "Mounts": [_mount(m) for m in plan.mounts],
    }


def create_config(plan: ContainerPlan) -> dict[str, object]:
    """The whole body of a create call."""
    config: dict[str, object] = {
        "Image": plan.image,
        "User": plan.user,
        "Env": [f"{k}={v}" for k, v in plan.environment.items()],
        "Labels": dict(plan.labels),
        "Healthcheck": {"Test": ["NONE"]},  # an image's own check would run beside the measurement
        "HostConfig": host_config(plan),
    }
    if plan.command is not None:
        config["Cmd"] = list(plan.command)
    return config


def tmpfs_options(size: int, mode: str, uid: int | None = None) -> str:
    """Mount options of a sized tmpfs from which nothing can be run."""
    owner = "" if uid is None else f",uid={uid},gid={uid}"
    return f"rw,noexec,nosuid,nodev,size={size},mode={mode}{owner}"


def engine_checks(facts: EngineFacts) -> tuple[Check, ...]:
    """What the floor needs of the engine, each with what was found."""

    def switch(name: str, on: bool, fix: str) -> Check:
        return Check(name, on, "enforced" if on else "not enforced", "" if on else fix)

    api = _version(facts.api_version) >= MIN_API
    cgroup = "mount the controller, or use a machine with cgroup v2"
    seccomp = ", ".join(o for o in facts.security if "seccomp" in o) or "off"
    plugins = {"local", "json-file"} - {*facts.volume_drivers, *facts.log_drivers}
    return (
        Check(
            "container platform", facts.os_type == "linux", facts.os_type or "unknown", "use Linux"
        ),
        Check("API version", api, facts.api_version, "Docker 20.10 (API 1.41) or newer is needed"),
        switch("memory limit", facts.memory_limit, cgroup),
        switch("swap limit", facts.swap_limit, "boot with swapaccount=1, or use cgroup v2"),
        switch("pids limit", facts.pids_limit, cgroup),
        switch("CPU limit", facts.cpu_period and facts.cpu_quota, cgroup),
        Check(
            "default seccomp profile",
            _default_seccomp(facts.security),
            seccomp,
            "remove `seccomp-profile` from the daemon's configuration",
        ),
        Check(
            "volume and log drivers",
            not plugins,
            f"missing: {', '.join(sorted(plugins))}" if plugins else "local, json-file",
            "a Docker daemon with its built-in drivers is needed",
        ),
    )


def engine_gaps(facts: EngineFacts) -> tuple[str, ...]:
    """What of the floor this engine cannot give; empty: nothing."""
    return tuple(f"{c.name}: {c.value} ({c.fix})" for c in engine_checks(facts) if not c.ok)


def container_gaps(plan: ContainerPlan, facts: ContainerFacts) -> tuple[str, ...]:
    """Where a created container differs from what was asked for; empty: nowhere."""
    gaps = []
    for key, wanted in host_config(plan).items():
        if key == "Mounts":
            continue  # the mounts themselves are compared below, not the request for them
        if not _same(wanted, facts.host_config.get(key)):
            gaps.append(f"{key} is {facts.host_config.get(key)!r}, not {wanted!r}")
    host = facts.host_config
    gaps += [f"{key} is {host[key]!r}, not empty" for key in FORBIDDEN if host.get(key)]
    for key, paths in (("MaskedPaths", _MASKED), ("ReadonlyPaths", _READ_ONLY)):
        if missing := paths - _names(facts.host_config.get(key)):
            gaps.append(f"{key} lacks {', '.join(sorted(missing))}")
    if facts.image != plan.image:
        gaps.append(f"the image is {facts.image}, not {plan.image}")
    if facts.user != plan.user or plan.user.split(":")[0] == "0":
        gaps.append(f"the user is {facts.user!r}, not {plan.user!r}")
    return (*gaps, *_mount_gaps(plan, facts.mounts))


def kernel_gaps(status: str) -> tuple[str, ...]:
    """What /proc/<pid>/status of a running container's process says against the floor."""
    lines = (line.partition(":") for line in status.splitlines())
    values = {name: value.split() for name, _, value in lines}
    gaps = []
    for name, wanted in (("NoNewPrivs", "1"), ("Seccomp", "2")):
        if values.get(name) != [wanted]:
            gaps.append(f"{name} is {values.get(name)}, not {wanted}")
    gaps += [
        f"{name} is not empty: {values.get(name)}"
        for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")
        if int((values.get(name) or ["1"])[0], 16)
    ]
    if "0" in values.get("Uid", ["0"]):
        gaps.append("it runs as root")
    return tuple(gaps)


def _mount_gaps(plan: ContainerPlan, mounts: tuple[MountFacts, ...]) -> list[str]:
    wanted = {m.target: m for m in plan.mounts}
    gaps = []
    for mount in mounts:
        if mount.type == "tmpfs" and mount.destination in {"/tmp", *plan.tmpfs}:  # noqa: S108
            continue
        asked = wanted.pop(mount.destination, None)
        source = mount.name if mount.type == "volume" else mount.source
        if asked is None or (asked.type, asked.source) != (mount.type, source):
            gaps.append(f"a {mount.type} that was not asked for at {mount.destination}")
    return gaps + [f"nothing is mounted at {target}" for target in wanted]


def _mount(mount: Mount) -> dict[str, object]:
    body: dict[str, object] = {"Type": mount.type, "Source": mount.source, "Target": mount.target}
    if mount.type == "volume":
        # Volumes start empty, as their manifest sized and owned them: what an image has at that
        # path would otherwise be copied in, with its owner and mode.
        body["VolumeOptions"] = {"NoCopy": True}
    return body


def _same(wanted: object, got: object) -> bool:
    """Equality where a list's order is free, and JSON's null, 0, "" and [] are one."""
    if isinstance(wanted, list) and isinstance(got, list):
        return len(wanted) == len(got) and all(any(_same(w, g) for g in got) for w in wanted)
    if isinstance(wanted, dict) and isinstance(got, dict):
        return all(_same(wanted.get(k), got.get(k)) for k in wanted.keys() | got.keys())
    return wanted == got or (not wanted and not got)


def _names(value: object) -> set[str]:
    return {str(item) for item in value} if isinstance(value, list | tuple) else set()


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _default_seccomp(options: tuple[str, ...]) -> bool:
    """Docker names its own profile "default" up to 20.10 and "builtin" since."""
    parsed = [dict(part.partition("=")[::2] for part in o.split(",")) for o in options]
    return any(
        o.get("name") == "seccomp" and o.get("profile") in {"default", "builtin"} for o in parsed
    )
