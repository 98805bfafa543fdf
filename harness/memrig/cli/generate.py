"""`memrig generate longitudinal` and `memrig generate longhorizon`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import generate_app
from memrig.cli.run import Limits, Llm, LlmRecord
from memrig.generate import (
    DETERMINISTIC,
    GenerateModels,
    GenerateSettings,
    check_longhorizon,
    check_longitudinal,
    generate_longhorizon,
    generate_longitudinal,
)
from memrig.runs.config import parse_limits
from memrig.suites.longhorizon.spec import QUESTIONS, TURNS, QuestionSet, WorldSpec

Specs = Annotated[
    list[str],
    typer.Option("--spec", help="A spec.yaml, a built-in spec's name, or builtin for all of them."),
]
_STUFFED = "Who answers from all documents at once, to see that this is not enough: a model's name."
Model = Annotated[str, typer.Option(help="deterministic, or a model's name.")]


@generate_app.callback()
def generate() -> None:
    """Makes datasets, from specs or from a seed."""


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


@generate_app.command()
def longhorizon(
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    turns: Annotated[int, typer.Option(help="100 to 100,000.")] = TURNS,
    seed: Annotated[int, typer.Option(help="Another seed makes another world.")] = 42,
    questions: Annotated[int, typer.Option(help="15 or more.")] = QUESTIONS,
    question_set: Annotated[QuestionSet, typer.Option(help="Whom is asked about.")] = "standard",
    check: Annotated[bool, typer.Option("--check", help="Compare, and write nothing.")] = False,
) -> None:
    """Makes a long-horizon world: turns.jsonl, events.jsonl and questions.jsonl."""
    spec = WorldSpec(seed, turns, questions, question_set)
    made = check_longhorizon if check else generate_longhorizon
    for path, digest in made(spec, out).items():
        typer.echo(f"{path}  sha256 {digest}")
