"""Where progress is shown: a plain file, a real pseudo-terminal; and a run's events to show."""

import io
import os
import pty

import pytest
from rich.console import Console

from memrig.model.trial import TrialOutcome, TrialSpec
from memrig.report.console import make_console
from memrig.trial import Progress


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def plain() -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return make_console(file=file), file


def outcome(spec: TrialSpec, **statuses: int) -> TrialOutcome:
    return TrialOutcome(
        trial_id=spec.trial_id,
        spec_digest="sha256:0",
        head="0",
        records=9,
        questions=sum(statuses.values()),
        attempts=1,
        statuses=statuses,
    )


def progress(spec: TrialSpec, questions: int, episodes: int = 4) -> Progress:
    return Progress(spec.trial_id, spec.scenarios[0].scenario_id, episodes, questions)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> "Terminal":
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


class Terminal:
    """A real pseudo-terminal, and what was written to it."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        self.file = os.fdopen(slave, "w", encoding="utf-8")

    def console(self) -> Console:
        console = make_console(file=self.file)
        console.width = 80
        return console

    def text(self) -> str:
        self.file.flush()
        os.set_blocking(self._master, False)
        found = b""
        try:
            while block := os.read(self._master, 65536):
                found += block
        except BlockingIOError:
            pass
        finally:
            self.file.close()
            os.close(self._master)
        return found.decode()
