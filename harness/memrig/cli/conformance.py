"""`memrig conformance`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import app
from memrig.conformance.junit import junit_xml
from memrig.conformance.model import ConformanceReport
from memrig.errors import UsageError
from memrig.kit import Tally, badge_svg
from memrig.report.console import print_conformance
from memrig.runs.config import PodChoice
from memrig.trial.directory import write_aside


@app.command()
def conformance(
    adapter: Annotated[str, typer.Argument(help="Folder, image@sha256:…, or grpc://host:port.")],
    pod: Annotated[PodChoice, typer.Option(help="Where the adapter runs.")] = "auto",
    only: Annotated[list[str] | None, typer.Option(help="Ids or groups; repeatable.")] = None,
    slow: Annotated[bool, typer.Option("--slow", help="The slow checks too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML to this file.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Also draw a badge to this file.")] = None,
) -> None:
    """Checks an adapter against the contract. Exit code 4 if a check failed."""
    _require_writable(junit, "--junit")
    _require_writable(badge, "--badge")
    report = api.check_conformance(adapter, pod, only=only, slow=slow, say=_say)
    if junit:
        write_aside(junit, junit_xml(report).encode())
    if badge:
        write_aside(badge, badge_svg(_tally(report)).encode())
    if json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        print_conformance(report)
    raise typer.Exit(report.exit_code)


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _require_writable(file: Path | None, flag: str) -> None:
    """What cannot be a file is refused before the checks, which take minutes."""
    if file and (file.is_dir() or not file.absolute().parent.is_dir()):
        raise UsageError(
            f"{file} is a folder" if file.is_dir() else f"there is no folder {file.parent}",
            where=f"memrig conformance {flag}",
            fix="name a file in a folder that is there",
        )


def _tally(report: ConformanceReport) -> Tally:
    adapter, counts = report.adapter, report.counts
    return Tally(
        subject=f"{adapter.name} {adapter.version}",
        made_by=f"{adapter.pod} pod, memrig {report.memrig_version}",
        contract=adapter.contract_version,
        passed=counts["passed"],
        failed=counts["failed"] + counts["error"],
        left_out=len(report.left_out),
    )
