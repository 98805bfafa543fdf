"""`memrig image build | load | pin | prune`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import image_app
from memrig.pod.images import (
    BuiltImage,
    ensure_base,
    ensure_built,
    ensure_doorman,
    load_images,
    pin_images,
    prune_images,
)
from memrig.report.console import print_images

Force = Annotated[bool, typer.Option("--force", help="Build though nothing changed.")]


def _say(line: str) -> None:
    typer.echo(line, err=True)


@image_app.command()
def build(
    what: Annotated[str, typer.Argument(help="A folder with an adapter.toml; base; doorman.")],
    force: Force = False,
) -> None:
    """Builds an image, unless its inputs are unchanged, and prints its digest."""
    print_images([asyncio.run(_build(what, force=force))])


async def _build(what: str, *, force: bool) -> BuiltImage:
    if what == "base":
        return await ensure_base(force=force, progress=_say)
    if what == "doorman":
        return await ensure_doorman(force=force, progress=_say)
    return await ensure_built(Path(what), force=force, progress=_say)


@image_app.command()
def load(tar: Annotated[Path, typer.Argument(help="A file that `docker save` wrote.")]) -> None:
    """Loads images from a file; prints their digests and names."""
    for image in asyncio.run(load_images(tar)):
        typer.echo("  ".join((image.digest, *image.names)))


@image_app.command()
def pin(
    folder: Annotated[Path, typer.Argument(help="A folder with an adapter.toml.")],
    update: Annotated[
        bool, typer.Option("--update", help="Take what the tags mean now, not what is pinned.")
    ] = False,
) -> None:
    """Shows which images references mean, pinned now if not yet."""
    for image in asyncio.run(pin_images(folder, update=update, progress=_say)):
        registry = image.digest or "unknown to a registry"
        typer.echo(f"{image.service}  {image.reference}  {image.id}  {registry}")


@image_app.command()
def prune(
    name: Annotated[str | None, typer.Argument(help="Only images of this name.")] = None,
) -> None:
    """Removes images that memrig built and has built again since; keeps the newest of each."""
    for removed in asyncio.run(prune_images(name, progress=_say)):
        typer.echo(removed)
