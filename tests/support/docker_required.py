"""Docker tests skip where there is no daemon, and fail there under MEMRIG_REQUIRE_DOCKER=1."""

import os
from functools import cache

import pytest
from docker import APIClient
from docker.errors import DockerException

from memrig.errors import PrerequisiteError
from memrig.pod.docker import socket_path

REQUIRE_VARIABLE = "MEMRIG_REQUIRE_DOCKER"


@cache
def why_no_docker() -> str:
    """Why no Docker test can run; empty: they can."""
    try:
        client = APIClient(base_url=f"unix://{socket_path()}", version="1.41", timeout=10)
    except (DockerException, PrerequisiteError) as error:
        return str(error)
    try:
        client.ping()
    except (DockerException, OSError) as error:
        return f"no Docker daemon answers: {error}"
    finally:
        client.close()
    return ""


def require_docker(item: pytest.Item) -> None:
    """Skips or fails a test that is marked `docker`; call it from pytest_runtest_setup."""
    if item.get_closest_marker("docker") is None or not (why := why_no_docker()):
        return
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(f"{REQUIRE_VARIABLE}=1, but {why}", pytrace=False)
    pytest.skip(why)
