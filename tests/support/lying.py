"""The adapter of `tests/images/lying`, told how to lie."""

import shutil
import sys
from pathlib import Path

from support.command import ROOT

LYING = ROOT / "tests" / "images" / "lying"


def lying(parent: Path, lie: str = "", file: Path | None = None) -> Path:
    """A folder of the adapter for a process pod or a Docker one.

    Args:
        parent: where to make it.
        lie: one of those in lying.py; empty: it tells the truth.
        file: where it remembers ids from run to run; a process alone can do that.
    """
    folder = parent / f"lying-{lie or 'not'}"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(LYING, folder, ignore=without, dirs_exist_ok=True)
    manifest = folder / "adapter.toml"
    variables = f'LIE = "{lie}"' + (f', LIE_FILE = "{file}"' if file else "")
    here = f'PYTHONDONTWRITEBYTECODE = "1", {variables}'
    text = manifest.read_text("utf-8").replace(
        'command = ["python3", "lying.py"]',
        f'command = ["{sys.executable}", "{folder / "lying.py"}"]\nenvironment = {{ {here} }}',
    )
    text = text.replace('build = "."\n', f'build = "."\nenvironment = {{ LIE = "{lie}" }}\n')
    manifest.write_text(text, "utf-8")
    return folder
