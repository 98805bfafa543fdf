"""`memrig trial run`: one trial from its spec. Every executor comes down to this."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import trial_app


@trial_app.command()
def run(
    spec: Annotated[Path, typer.Argument(help="A spec.json that planning wrote.")],
    out: Annotated[Path, typer.Option(help="The folder that gets the trial's folder.")],
    scenarios: Annotated[
        Path | None, typer.Option(help="The spooled scenarios; default: beside the spec's folder.")
    ] = None,
) -> None:
    """Runs one trial, or what is left of it, and seals it; prints the outcome as JSON."""
    outcome = api.run_one_trial(spec, scenarios, out)
    typer.echo(outcome.model_dump_json())
