"""Fixtures of runs that call models: nobody from outside, a stand-in as every provider."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import memrig.runs.models
from memrig.gateway.config import GatewayConfig, RetryPolicy
from support.llm_standin import LlmStandIn
from support.model_runs import KEY, models

_VARIABLES = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY",
    "GRADER_MODEL",
    "EVAL_MODEL",
    "MEMRIG_KEYRING",
)


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key and no address from outside, a keyring that is not there, and short pauses."""
    without_models(monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    quick = RetryPolicy(initial_s=0.01, max_s=0.02)
    monkeypatch.setattr(memrig.runs.models, "GatewayConfig", partial(GatewayConfig, retry=quick))


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmStandIn]:
    """The stand-in as both providers."""
    with LlmStandIn.in_thread(models) as server:
        with_models(monkeypatch, server)
        yield server


def with_models(monkeypatch: pytest.MonkeyPatch, server: LlmStandIn) -> None:
    """A stand-in in the environment, with a key for it."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nobody could be called: no address, no key."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
