"""Runs the checks against memories in this process."""

from collections.abc import Awaitable, Callable

import pytest

from memrig.conformance import ConformanceReport, run_conformance
from memrig.model.trial import Deadlines
from support.right_adapter import InProcessProvider, Memory, in_process_adapter

Checked = Callable[..., Awaitable[ConformanceReport]]


@pytest.fixture
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Runs the checks that are not slow, or those that are named, on a kind of memory."""

    async def run(
        memory: type[Memory], *only: str, deadlines: Deadlines | None = None
    ) -> ConformanceReport:
        provider = InProcessProvider(tmp_path_factory.mktemp("s"), memory)
        adapter = in_process_adapter()
        return await run_conformance(adapter, provider, only=only or None, deadlines=deadlines)

    return run
