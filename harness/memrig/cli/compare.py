"""`memrig compare`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import app
from memrig.report.console import print_comparison
from memrig.report.gates import require_gates


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Runs' folders; the first is the base.")],
    gate: Annotated[
        list[str] | None, typer.Option(help="Such as 'overall>=0.8' or 'mrr:overall>0.5'.")
    ] = None,
    no_regression: Annotated[
        Path | None, typer.Option(help="A run that none may be shown to be worse than.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Whose categories are printed; default: the first.")
    ] = "",
    html: Annotated[Path | None, typer.Option(help="Also write a page with forest plots.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Everything, as one JSON document.")] = False,
) -> None:
    """Compares runs question by question; exit code 5 if a gate is not met."""
    found = api.compare(runs, gates=gate or [], base=no_regression, html=html)
    if json:
        typer.echo(found.model_dump_json(indent=1))
    else:
        print_comparison(found, metric, html)
    require_gates(found)
