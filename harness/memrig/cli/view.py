"""`memrig view`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import app
from memrig.viewer import serve


@app.command()
def view(
    runs: Annotated[
        Path, typer.Argument(help="A folder of runs, or one run's.", show_default="runs")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of 127.0.0.1; 0: any that is free.")
    ] = 8765,
) -> None:
    """Shows runs in the browser, one in flight too. Read only, and for this machine alone."""
    serve(runs, port, typer.echo)
