"""Errors, for people."""

from rich.console import Console
from rich.text import Text

from memrig.errors import AdapterCrashedError, MemrigError
from memrig.report.terminal.base import BAD, DIM, make_console, words
from memrig.report.text import clean

_LINES, _LONG = 20, 2000


def print_error(error: MemrigError, console: Console | None = None) -> None:
    """Prints an error on stderr: where, what, a dead adapter's last lines, the next step."""
    console = console or make_console(stderr=True)
    text = Text("error: ", style=f"bold {BAD}")
    if error.where:
        text.append_text(words(error.where, "default", 500)).append(": ", "default")
    console.print(text.append_text(words(error.message, "default", _LONG)), soft_wrap=True)
    if isinstance(error, AdapterCrashedError) and error.log_tail:
        console.print(Text("  its last lines:", style=DIM))
        for line in clean(error.log_tail).splitlines()[-_LINES:]:
            console.print(Text("  | ", DIM).append_text(words(line, DIM, 300)), soft_wrap=True)
    if error.fix:
        fix = Text("  fix: ", style="bold").append_text(words(error.fix, "not bold", _LONG))
        console.print(fix, soft_wrap=True)
