"""What every command loads before it does anything."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules that the command line loads, in a process of its own."""
    code = "import sys, memrig.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["scipy.stats", "nltk", "openai", "anthropic"])
def test_a_command_starts_without_what_few_commands_need(loaded: set[str], name: str) -> None:
    """Each of these takes longer to load than all of memrig."""
    assert "memrig.api" in loaded
    assert name not in loaded
