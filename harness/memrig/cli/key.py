"""`memrig key new | show`: the key that signs submissions."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import key_app
from memrig.submission import keys


@key_app.command()
def new(
    out: Annotated[
        Path | None, typer.Option(help="The file to write; default: your configuration's.")
    ] = None,
) -> None:
    """Makes a key to sign submissions with. Keep the file: who loses it is somebody else."""
    path = out or keys.default_path()
    key = keys.new_key(path)
    typer.echo(f"written      {path}\npublic key   {key.public}\nfingerprint  {key.fingerprint}")


@key_app.command()
def show(
    key: Annotated[Path | None, typer.Option(help="A key's file; default: your own.")] = None,
) -> None:
    """Prints a key's public half and its fingerprint, never the secret."""
    found = keys.load_key(key)
    typer.echo(f"public key   {found.public}\nfingerprint  {found.fingerprint}")
