"""The command line as a user runs it: another process, its output, its exit code."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEMRIG = Path(sys.executable).parent / "memrig"


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, object]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def start(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Starts `memrig` in a folder of its own."""
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.Popen(
        [str(MEMRIG), *map(str, arguments)],
        cwd=cwd,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def memrig(*arguments: object, cwd: Path, timeout: float = 100) -> Done:
    """Runs `memrig` to its end."""
    with start(*arguments, cwd=cwd) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Done(process.returncode, out, err)
