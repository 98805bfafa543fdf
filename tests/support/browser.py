"""A real headless Chromium, by its command line. MEMRIG_REQUIRE_BROWSER=1 forbids skipping."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

REQUIRE_VARIABLE = "MEMRIG_REQUIRE_BROWSER"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@dataclass(frozen=True, slots=True)
class Browser:
    """Chromium with a profile of its own."""

    program: str
    profile: Path

    def dom(self, page: Path, *flags: str) -> str:
        """The page's document after its scripts had their time, as HTML."""
        return self.visit(page.as_uri(), *flags)

    def visit(self, address: str, *flags: str) -> str:
        """The same of an address, such as a local server's.

        Well before the three seconds after which a running page loads itself again: while it does
        there is no document.
        """
        return self._run(address, "--dump-dom", "--virtual-time-budget=1000", *flags)

    def _run(self, address: str, *flags: str) -> str:
        command = [self.program, *_FLAGS, f"--user-data-dir={self.profile}", *flags, address]
        done = subprocess.run(command, capture_output=True, timeout=90, check=True)
        return done.stdout.decode("utf-8")


def find_browser(profile: Path) -> Browser:
    """Chromium, or a skipped test."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is not None:
        return Browser(program, profile)
    why = "there is no Chromium here; install the package chromium"
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(f"{REQUIRE_VARIABLE}=1, but {why}", pytrace=False)
    pytest.skip(why)
