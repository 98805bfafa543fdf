"""Shared fixtures. `tests/` itself is on the path, so that tests say `from support.x import y`."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

#: A busy machine is no failure: what a test may take is said by its timeout.
settings.register_profile("memrig", deadline=None)
settings.load_profile("memrig")

sys.path.insert(0, str(Path(__file__).parent))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Docker tests skip without a daemon, and fail under MEMRIG_REQUIRE_DOCKER=1."""
    # Imported here: the path above must be set first, and most tests never need it.
    from support.docker_required import require_docker

    require_docker(item)
