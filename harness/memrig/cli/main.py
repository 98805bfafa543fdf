"""The entry point: runs a command and turns errors into messages and exit codes."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

from memrig.cli import (
    adapter,
    compare,
    conformance,
    data,
    exchange,
    generate,
    grade,
    image,
    inspect,
    key,
    leaderboard,
    machine,
    profiles,
    run,
    submission,
    trial,
    view,
)
from memrig.cli.app import app
from memrig.errors import MemrigError
from memrig.report.console import print_error

COMMANDS = (
    adapter,
    compare,
    conformance,
    data,
    exchange,
    generate,
    grade,
    image,
    inspect,
    key,
    leaderboard,
    machine,
    profiles,
    run,
    submission,
    trial,
    view,
)
INTERRUPTED = 130


def main() -> None:
    """Runs `memrig`; never shows a traceback for an error of the tree in memrig/errors.py."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        app()
    except (KeyboardInterrupt, BrokenPipeError) as stop:
        _interrupted(stop)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer's own way to end on Ctrl-C says nothing
            _interrupted(end)
        raise
    except MemrigError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except BaseExceptionGroup as group:
        _end_group(group)


def _interrupted(stop: BaseException) -> None:
    """Ends, with what the command noted on its interrupt, else with how to go on with a run."""
    notes: list[str] = []
    cause: BaseException | None = stop
    while cause and not notes:
        notes, cause = getattr(cause, "__notes__", []), cause.__cause__ or cause.__context__
    with suppress(BrokenPipeError):
        said = notes[0] if notes else "repeat the command to resume a run"
        sys.stderr.write(f"Interrupted; {said}.\n")
    sys.exit(INTERRUPTED)


def _as_interrupt(_signal: int, _frame: object) -> None:
    """A polite kill ends a run as Ctrl-C does: pods are removed first.

    A job in the background of a script has SIGINT ignored; a kill is meant all the same.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)


def _end_group(group: BaseExceptionGroup[BaseException]) -> None:
    leaves = list(_leaves(group))
    if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
        _interrupted(group)
    known = [leaf for leaf in leaves if isinstance(leaf, MemrigError)]
    if not known:
        raise group
    print_error(known[0])
    sys.exit(known[0].exit_code)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
