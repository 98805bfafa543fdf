"""`memrig generate longitudinal`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import generate_app
from memrig.cli.run import Limits, Llm, LlmRecord
from memrig.generate import (
    DETERMINISTIC,
    GenerateModels,
    GenerateSettings,
    check_longitudinal,
    generate_longitudinal,
)
from memrig.runs.config import parse_limits

Specs = Annotated[
    list[str],
    typer.Option("--spec", help="A spec.yaml, a built-in spec's name, or builtin for all of them."),
]
_STUFFED = "Who answers from all documents at once, to see that this is not enough: a model's name."
Model = Annotated[str, typer.Option(help="deterministic, or a model's name.")]


@generate_app.callback()
def generate() -> None:
    """Makes datasets from specs."""


@generate_app.command()
def longitudinal(  # noqa: PLR0913, PLR0917 - the flags of the command line, one a parameter
    spec: Specs,
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    name: Annotated[str, typer.Option(help="Of the dataset and its files.")] = "longitudinal",
    episodes: Annotated[int | None, typer.Option(min=5, help="Of each story.")] = None,
    distractors: Annotated[float | None, typer.Option(min=0, help="For each of them.")] = None,
    planner: Model = DETERMINISTIC,
    renderer: Model = DETERMINISTIC,
    stuffed: Annotated[str, typer.Option(help=_STUFFED)] = DETERMINISTIC,
    check: Annotated[bool, typer.Option("--check", help="Compare, and write nothing.")] = False,
    llm: Llm = "record",
    llm_record: LlmRecord = None,
    stop_at: Limits = None,
) -> None:
    """Makes a longitudinal dataset; refuses one that fails a validator."""
    limits = parse_limits(stop_at or [])
    models = GenerateModels(planner, renderer, stuffed, llm, llm_record, limits)
    settings = GenerateSettings(name, tuple(spec), out, episodes, distractors, models)
    made = check_longitudinal if check else generate_longitudinal
    for path, digest in made(settings, typer.echo).items():
        typer.echo(f"{path}  sha256 {digest}")
