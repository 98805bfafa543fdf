"""The tests' stand-in for models that take a key, where what is measured does not hang on one."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memrig.model.manifest import load_manifest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"


def subjects() -> list[str]:
    """Every image folder, and every variant with models of its own."""
    found = []
    for path in sorted((ROOT / "images").glob("*/adapter.toml")):
        name = f"images/{path.parent.name}"
        found.append(name)
        variants = load_manifest(path).variants
        found += [f"{name}+{variant}" for variant, spec in variants.items() if spec.models]
    return found


@contextmanager
def provider() -> Iterator[None]:
    """A provider for every model: each sentence of a text is a fact of it. For child processes."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    extracts = import_module("support.extracting").extracts

    def script(seen: Any) -> str:
        return "" if "input" in seen.body else str(extracts(seen))

    with import_module("support.llm_standin").LlmStandIn.in_thread(script) as server:
        environment = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
        with patch.dict(os.environ, environment):
            yield
