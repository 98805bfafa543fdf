"""`memrig doctor`, `memrig clean`."""

import asyncio
from typing import Annotated

import typer

from memrig.cli.app import app
from memrig.doctor import examine
from memrig.errors import PrerequisiteError
from memrig.gateway.server import sweep_sockets
from memrig.pod import reaper
from memrig.report.console import print_checks, print_clean


@app.command()
def doctor() -> None:
    """Checks what this machine has and lacks, with the fix for each gap. Exit code 3 on a gap."""
    checks = asyncio.run(examine())
    print_checks(checks)
    missing = [check.name for check in checks if check.needed and not check.ok]
    if missing:
        raise PrerequisiteError(f"missing: {', '.join(missing)}", fix="see the table above")


@app.command()
def clean(
    everything: Annotated[
        bool, typer.Option("--all", help="Also pods that are in use, of any run.")
    ] = False,
) -> None:
    """Removes what killed runs and --keep-pod left: containers, volumes, processes, folders."""
    sweep_sockets()
    print_clean(asyncio.run(reaper.clean(everything)))
