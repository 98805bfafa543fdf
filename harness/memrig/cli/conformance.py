"""`memrig conformance`."""

from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import app
from memrig.report.console import print_conformance
from memrig.runs.config import PodChoice


@app.command()
def conformance(
    adapter: Annotated[str, typer.Argument(help="Folder, image@sha256:…, or grpc://host:port.")],
    pod: Annotated[PodChoice, typer.Option(help="Where the adapter runs.")] = "auto",
    only: Annotated[list[str] | None, typer.Option(help="Ids or groups; repeatable.")] = None,
    slow: Annotated[bool, typer.Option("--slow", help="The slow checks too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False,
) -> None:
    """Checks an adapter against the contract. Exit code 4 if a check failed."""
    said = lambda line: typer.echo(line, err=True)  # noqa: E731 - one line, used once
    report = api.check_conformance(adapter, pod, only=only, slow=slow, say=said)
    if json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        print_conformance(report)
    raise typer.Exit(report.exit_code)
