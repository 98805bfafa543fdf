"""`memrig image build | load`, `memrig conformance`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import image_app
from memrig.pod.images import ensure_built, load_image
from memrig.report.console import print_images


@image_app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="A folder with an adapter.toml.")],
) -> None:
    """Builds an adapter's image, unless its inputs are unchanged, and prints its digest."""
    image = asyncio.run(ensure_built(folder, progress=lambda line: typer.echo(line, err=True)))
    print_images([image])


@image_app.command()
def load(tar: Annotated[Path, typer.Argument(help="A file that `docker save` wrote.")]) -> None:
    """Loads an image where there is no registry; prints its digest for --adapter."""
    typer.echo(asyncio.run(load_image(tar)))
