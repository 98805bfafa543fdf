"""The console that everything is printed on, and the few shapes that outputs are made of.

Text from outside goes through `words`: rich's own mark-up is off, so that a bracket stays a
bracket, and control sequences never arrive.
"""

import io
import os
import sys
from collections.abc import Iterable
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    RenderHook,
    RenderResult,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from memrig.report.text import one_line

GOOD, WARN, BAD, DIM = "green", "yellow", "red", "dim"


def make_console(*, stderr: bool = False, file: TextIO | None = None) -> Console:
    """A console on stdout or stderr, as wide as its terminal, 80 columns where there is none.

    Colours and weights appear on a terminal only, and never under NO_COLOR.
    """
    stream = file or (sys.stderr if stderr else sys.stdout)
    if isinstance(stream, io.TextIOWrapper):
        # A report must not break off at a letter that the terminal's encoding lacks.
        stream.reconfigure(errors="replace")
    console = Console(
        file=stream,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.push_render_hook(_NoTrailingSpace())
    return console


class _NoTrailingSpace(RenderHook):
    """Ends every line at its last letter: what is copied has no ragged tail."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Trimmed(item) if isinstance(item, (Table, Text)) else item for item in renderables]


class _Trimmed:
    def __init__(self, whole: Table | Text) -> None:
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in Segment.split_lines(console.render(self._whole, options)):
            while line and not line[-1].text.strip():
                line.pop()
            yield from line[:-1]
            if line:
                last = line[-1]
                yield Segment(last.text.rstrip(), last.style, last.control)
            yield Segment.line()


def words(text: str, style: str = "", limit: int | None = None) -> Text:
    """Text from anywhere, on one line, safe to print."""
    return Text(one_line(text, limit), style=style)


def new_table(*heads: str, right: Iterable[int] = ()) -> Table:
    """A table with these column heads; `right` are the places of columns of numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    numbers = set(right)
    for place, head in enumerate(heads):
        number = place in numbers
        table.add_column(
            head, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    return table


def facts(console: Console, rows: Iterable[tuple[str, Text]]) -> None:
    """Prints names and what they stand for, long values hanging below their own start."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=DIM, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value)
    console.print(grid)


def title(*parts: str) -> Text:
    """The head of an output: the first part stands out."""
    text = Text(one_line(parts[0]), style="bold")
    for part in parts[1:]:
        text.append(f" · {one_line(part)}", style="not bold")
    return text


def warning(text: str, style: str = WARN) -> Table:
    """What must not be overlooked, colour or not; long ones hang below their own start."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text("!", style=style), words(text, style))
    return grid
