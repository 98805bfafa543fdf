"""Which pod is chosen, and what it says about it."""

import pytest

from memrig.errors import InfrastructureError, PrerequisiteError
from memrig.pod import select
from memrig.pod.docker.facts import EngineFacts

GOOD = EngineFacts.model_validate(
    {
        "ServerVersion": "27.1",
        "ApiVersion": "1.46",
        "OSType": "linux",
        "MemoryLimit": True,
        "SwapLimit": True,
        "PidsLimit": True,
        "CpuCfsPeriod": True,
        "CpuCfsQuota": True,
        "SecurityOptions": ["name=seccomp,profile=builtin"],
        "Plugins": {"Volume": ["local"], "Log": ["json-file"]},
    }
)


def answer(monkeypatch: pytest.MonkeyPatch, found: EngineFacts | Exception) -> None:
    async def facts() -> EngineFacts:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(select, "engine_facts", facts)


async def test_auto_takes_docker_where_it_can_give_the_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And says which daemon."""
    answer(monkeypatch, GOOD)

    kind, reason = await select.choose_pod("auto")

    assert (kind, "27.1" in reason) == ("docker", True)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (PrerequisiteError("no Docker daemon listens at /x"), "no Docker daemon"),
        (InfrastructureError("Docker: connection refused"), "connection refused"),
        (GOOD.model_copy(update={"pids_limit": False}), "pids limit"),
    ],
)
async def test_auto_takes_a_process_else_and_says_why(
    monkeypatch: pytest.MonkeyPatch, found: EngineFacts | Exception, words: str
) -> None:
    """No daemon, one that does not answer, or one without the floor."""
    answer(monkeypatch, found)

    kind, reason = await select.choose_pod("auto")

    assert kind == "process"
    assert words in reason


async def test_what_was_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without looking: its provider refuses where it cannot."""
    answer(monkeypatch, PrerequisiteError("none"))

    assert (await select.choose_pod("docker")).kind == "docker"


def test_a_remote_daemon_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unix sockets do not cross to another machine."""
    from memrig.pod.docker import socket_path

    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with pytest.raises(PrerequisiteError, match="another machine"):
        socket_path()
