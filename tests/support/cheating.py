"""The adapter of `tests/images/cheating` for process pods, told how to cheat."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from memrig.model.scenario import Scenario, episodes_of, questions_of
from support.command import ROOT

CHEATING = ROOT / "tests" / "images" / "cheating"


def cheating(parent: Path, cheat: str, table: Path | None = None) -> Path:
    """A folder of the adapter.

    Args:
        parent: where to make it.
        cheat: a class of cheating.py.
        table: what its `Table` brings along.
    """
    folder = parent / f"cheating-{cheat.lower()}"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHEATING, folder, ignore=without, dirs_exist_ok=True)
    manifest = folder / "adapter.toml"
    variables = f', TABLE = "{table}"' if table else ""
    text = manifest.read_text("utf-8").replace("cheating:Honest", f"cheating:{cheat}")
    text += (
        f'environment = {{ PYTHONPATH = "{folder}", PYTHONDONTWRITEBYTECODE = "1"{variables} }}\n'
    )
    manifest.write_text(text, "utf-8")
    return folder


def baked_table(scenarios: Iterable[Scenario], path: Path) -> Path:
    """What a cheater learns of published data: by question, the texts that hold its answer."""
    table: dict[str, list[str]] = {}
    for scenario in scenarios:
        texts = {episode.episode_id: episode.text for episode in episodes_of(scenario.timeline)}
        for question in questions_of(scenario.timeline):
            gold = scenario.gold[question.question_id]
            table[question.text] = [texts[name] for name in gold.evidence]
    path.write_text(json.dumps(table), "utf-8")
    return path
