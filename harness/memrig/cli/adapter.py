"""`memrig adapter new`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import adapter_app
from memrig.kit import LANGUAGES, new_adapter

_LANG = f"What it is written in: {', '.join(LANGUAGES)}."


@adapter_app.command()
def new(
    name: Annotated[str, typer.Argument(help="What it is called in tables: acme-memory.")],
    lang: Annotated[str, typer.Option(help=_LANG)] = "python",
    out: Annotated[Path | None, typer.Option(help="The folder to make. Default: NAME.")] = None,
) -> None:
    """Makes a folder that is an adapter already; then make it yours.

    It builds, conforms and can be measured as it stands (docs/adapters.md).
    """
    made = new_adapter(name, lang, out)
    for path in made.files:
        typer.echo(made.folder / path)
    typer.echo(f"next: memrig conformance {made.folder}", err=True)
