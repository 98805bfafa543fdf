"""`memrig profiles show|diff`."""

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import profiles_app
from memrig.report.console import print_differences, print_profile
from memrig.runs.profiles import load_profile, profile_digest

Name = Annotated[str, typer.Argument(help="Such as official-v1.")]
AsJson = Annotated[bool, typer.Option("--json", help="As one JSON document.")]


@profiles_app.command()
def show(name: Name = "official-v1", json: AsJson = False) -> None:
    """Shows what a profile freezes, and its hash."""
    profile = load_profile(name)
    if json:
        typer.echo(profile.model_dump_json(indent=1))
    else:
        print_profile(profile, profile_digest(profile))


@profiles_app.command()
def diff(
    name: Name, run: Annotated[Path, typer.Argument(help="A run's folder.")], json: AsJson = False
) -> None:
    """Shows in what a run is not the profile's: what makes its division open."""
    profile, found = api.profile_differences(name, run)
    if json:
        typer.echo(dumps({"profile": name, "differences": found}, ensure_ascii=False))
    else:
        print_differences(profile.name, found)
