"""`memrig leaderboard build | new`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import leaderboard_app
from memrig.leaderboard.new import new_leaderboard
from memrig.leaderboard.site import BoardOptions, build_board
from memrig.report.units import plural

_TITLE = BoardOptions().title
_PAIRS = BoardOptions().most_pairs


def _say(line: str) -> None:
    typer.echo(line, err=True)


@leaderboard_app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="Holds submissions, NAME.memrig.")],
    out: Annotated[Path, typer.Option(help="The site's folder.")] = Path("site"),
    title: Annotated[str, typer.Option(help="Of the site.")] = _TITLE,
    data: Annotated[
        list[Path] | None, typer.Option(help="A folder with data that does not ship; repeatable.")
    ] = None,
    organiser: Annotated[
        list[str] | None, typer.Option(help="A public key whose audit records count; repeatable.")
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=0, help="The most pairs of a table to compare, neighbours first.")
    ] = _PAIRS,
    skip_refused: Annotated[
        bool, typer.Option("--skip-refused", help="Name what does not verify on the site instead.")
    ] = False,
) -> None:
    """Verifies submissions and builds a static site. Exit code 6 if one is not valid."""
    options = BoardOptions(
        title=title,
        data=tuple(data or ()),
        organisers=tuple(organiser or ()),
        most_pairs=pairs,
        skip_refused=skip_refused,
    )
    built = build_board(folder, out, options, say=_say)
    typer.echo(f"{built.folder / 'index.html'}  {plural(len(built.board.entries), 'submission')}")


@leaderboard_app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    title: Annotated[str, typer.Option(help="Of the leaderboard.")] = _TITLE,
) -> None:
    """Begins a leaderboard's repository: workflows that verify and publish, how to submit."""
    made = new_leaderboard(folder, title)
    for path in made.files:
        typer.echo(made.folder / path)
