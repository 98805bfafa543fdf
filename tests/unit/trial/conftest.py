"""What trials are tested in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.answer_rig import Rig


@pytest.fixture
def rig() -> Iterator[Rig]:
    """A rig in a folder short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="mr") as folder:
        yield Rig(Path(folder))
