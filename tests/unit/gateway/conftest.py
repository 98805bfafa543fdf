"""A model provider that answers what it heard, and a folder for a record."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.llm_standin import LlmStandIn


@pytest.fixture
async def standin() -> AsyncIterator[LlmStandIn]:
    """Answers with the last line that it was told; the script can be replaced."""
    async with LlmStandIn(lambda seen: f"heard: {seen.text.splitlines()[-1]}") as server:
        yield server


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Where a record goes."""
    return tmp_path / "llm.sqlite"
