"""What a submission discloses of the engine and its containers."""

import pytest
from docker.errors import DockerException

from memrig.errors import PrerequisiteError
from memrig.model.manifest import AdapterRef, parse_manifest
from memrig.pod.docker.facts import EngineFacts
from memrig.pod.images.engine import Engine
from memrig.submission.engine import disclosed_engine, disclosed_limits

MANIFEST = """
name = "two"
version = "1"
[image]
build = "."
[image.resources]
cpus = 0.5
memory = "256MiB"
[services.db]
reference = "postgres:16"
[services.db.resources]
memory = "1GiB"
pids = 64
"""


def test_each_container_has_its_limits():
    """As its manifest asks for them, companions too; sizes in bytes."""
    adapter = AdapterRef(
        name="two", version="1", pod="docker", manifest=parse_manifest(MANIFEST, "")
    )
    assert disclosed_limits(adapter) == {
        "adapter": "cpus=0.5 memory=268435456 pids=256 shm=67108864 tmp=67108864",
        "db": "cpus=1 memory=1073741824 pids=64 shm=67108864 tmp=67108864",
    }


def test_without_a_manifest_there_are_no_limits():
    """An endpoint's are its owner's."""
    assert disclosed_limits(AdapterRef(name="e", version="1", pod="endpoint")) == {}


def test_no_engine_has_no_facts(monkeypatch):
    """Where none took part, and where none answers: a run can be packed on another day."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert disclosed_engine("process") == disclosed_engine("docker") == {}


def test_the_engines_facts_have_what_is_disclosed():
    """By the names that the engine's `info` gives them."""
    said = {"ServerVersion": "20.10.24", "Driver": "overlay2", "KernelVersion": "6.1.0"}
    facts = EngineFacts.model_validate(said)
    assert (facts.storage_driver, facts.kernel) == ("overlay2", "6.1.0")


def test_without_an_engine_the_command_that_can_do_without_is_named(monkeypatch):
    """Neither packing nor a rerun has the flag that `memrig run` has."""

    def absent(**_: object) -> None:
        raise DockerException("no such file")

    monkeypatch.setattr("docker.from_env", absent)
    with pytest.raises(PrerequisiteError, match="no Docker daemon answers") as caught:
        Engine()
    assert "`memrig run` can do without it: --pod process" in caught.value.fix
