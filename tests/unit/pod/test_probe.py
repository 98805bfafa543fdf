"""What `memrig doctor` gets to know about pods."""

from pathlib import Path

import pytest

from memrig.pod.probe import probe_pods


async def test_without_a_daemon_the_other_checks_still_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The daemon's absence is a check with a fix, not an error."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")

    checks = {c.name: c for c in await probe_pods()}

    assert not checks["Docker daemon"].ok
    assert "no Docker daemon" in checks["Docker daemon"].value
    assert checks["Docker daemon"].fix
    assert checks["platform"].ok


async def test_a_long_runtime_path_is_a_failed_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the variable that helps."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setenv("MEMRIG_RUNTIME_DIR", str(tmp_path / ("x" * 90)))

    checks = {c.name: c for c in await probe_pods()}

    assert not checks["socket path length"].ok
    assert "MEMRIG_RUNTIME_DIR" in checks["socket path length"].fix


@pytest.mark.docker
async def test_with_a_daemon_each_limit_is_a_check() -> None:
    """Version, cgroup, seccomp, limits and storage are all there."""
    checks = {c.name: c for c in await probe_pods()}

    wanted = {"Docker daemon", "API version", "cgroup version", "default seccomp profile"}
    wanted |= {f"{what} limit" for what in ("memory", "swap", "pids", "CPU")} | {"Docker storage"}
    assert wanted <= checks.keys()
    assert all(checks[name].value for name in wanted)
