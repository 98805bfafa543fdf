"""Counters from cgroup files, v1 and v2, as they are laid out on real hosts."""

from pathlib import Path

import pytest

from memrig.pod.docker.cgroups import Reading, find_cgroup, read_cgroup

ID = "c0ffee" * 10


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def process(root: Path, text: str) -> Path:
    write(root / "proc" / "42", cgroup=text)
    return root / "proc"


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    """cgroupfs driver, cgroup v1, with an empty v2 hierarchy beside it (hybrid)."""
    write(
        tmp_path / "cg" / "memory" / "docker" / ID,
        memory__usage_in_bytes="1000\n",
        memory__max_usage_in_bytes="3000\n",
        memory__stat="cache 700\nshmem 1\ntotal_cache 700\ntotal_shmem 400\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    )
    write(tmp_path / "cg" / "cpu,cpuacct" / "docker" / ID, cpuacct__usage="2500000000\n")
    process(tmp_path, f"9:memory:/docker/{ID}\n4:cpu,cpuacct:/docker/{ID}\n0::/docker/{ID}\n")
    return tmp_path


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    """systemd driver, cgroup v2."""
    write(
        tmp_path / "cg" / "system.slice" / f"docker-{ID}.scope",
        memory__current="1000\n",
        memory__peak="3000\n",
        memory__stat="anon 300\nfile 700\nshmem 400\nshmem_thp 0\n",
        memory__events="low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n",
        cpu__stat="usage_usec 2500000\nuser_usec 1\nsystem_usec 2\n",
    )
    process(tmp_path, f"0::/system.slice/docker-{ID}.scope\n")
    return tmp_path


def read(root: Path) -> Reading | None:
    cgroup = find_cgroup(42, ID, proc=root / "proc", root=root / "cg")
    return None if cgroup is None else read_cgroup(cgroup)


def test_v1_counters(v1: Path) -> None:
    """cpuacct in nanoseconds, memory's own maximum, kills from oom_control, files as shmem."""
    assert read(v1) == Reading(
        cpu_s=2.5, peak_bytes=3000, memory_bytes=1000, file_bytes=400, oom_kills=2
    )


def test_v2_counters(v2: Path) -> None:
    """cpu.stat in microseconds, memory.peak, kills from memory.events, files as shmem."""
    assert read(v2) == Reading(
        cpu_s=2.5, peak_bytes=3000, memory_bytes=1000, file_bytes=400, oom_kills=1
    )


def test_a_kernel_without_memory_peak_has_none(v2: Path) -> None:
    """Before Linux 5.19 there is no such file: None, not 0."""
    (v2 / "cg" / "system.slice" / f"docker-{ID}.scope" / "memory.peak").unlink()

    found = read(v2)

    assert found is not None
    assert (found.peak_bytes, found.memory_bytes) == (None, 1000)


def test_another_process_with_that_pid_is_not_the_container(v1: Path) -> None:
    """A rig in a container of its own sees other processes under the engine's pids."""
    (v1 / "proc" / "42" / "cgroup").write_text("9:memory:/user.slice\n0::/user.slice\n")

    assert read(v1) is None


def test_a_process_that_is_gone_has_no_cgroup(tmp_path: Path) -> None:
    """An ended container has no process to find it by."""
    assert find_cgroup(42, ID, proc=tmp_path, root=tmp_path) is None


def test_counters_of_an_ended_container_are_unknown(v1: Path) -> None:
    """Its files are gone between finding and reading: each counter is None."""
    cgroup = find_cgroup(42, ID, proc=v1 / "proc", root=v1 / "cg")
    assert cgroup is not None
    for path in sorted((v1 / "cg").rglob("*")):
        if path.is_file():
            path.unlink()

    assert read_cgroup(cgroup) == Reading()
