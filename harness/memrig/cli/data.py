"""`memrig data fetch | adopt | list | lint | selftest`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import data_app
from memrig.cli.run import Seeds
from memrig.errors import DataError, GateError
from memrig.grading.selftest import as_markdown, show
from memrig.report.console import print_datasets, print_problems
from memrig.report.progress import Download
from memrig.runs.config import parse_seeds
from memrig.suites.datasets import DATASETS, dataset
from memrig.suites.datasets import adopt as adopt_dataset
from memrig.suites.datasets import fetch as fetch_dataset
from memrig.suites.lint import lint_file


@data_app.command()
def fetch(name: Annotated[str, typer.Argument(help="See `memrig data list`.")]) -> None:
    """Downloads a pinned dataset, resuming where an earlier try stopped."""
    item = dataset(name)
    with Download(item) as download:
        path = fetch_dataset(name, download.advance)
    typer.echo(f"{name}: {path} (sha256 as pinned; licence {item.licence})")


@data_app.command()
def adopt(
    name: Annotated[str, typer.Argument(help="See `memrig data list`.")],
    file: Annotated[Path, typer.Argument(help="Your copy.")],
) -> None:
    """Copies a dataset that is already on this machine to where suites look, by its sha256."""
    path = adopt_dataset(name, file)
    typer.echo(f"{name}: {path} (sha256 as pinned; licence {dataset(name).licence})")


@data_app.command(name="list")
def list_() -> None:
    """Lists the known datasets and whether they are on this machine."""
    print_datasets(list(DATASETS.values()))


@data_app.command()
def lint(file: Annotated[Path, typer.Argument(help="A data file.")]) -> None:
    """Names every defect of a data file. Exit code 2 if a run would refuse it."""
    problems = lint_file(file)
    print_problems(problems, str(file))
    if any(problem.severity == "error" for problem in problems):
        raise typer.Exit(DataError.exit_code)


@data_app.command()
def selftest(
    suite: Annotated[str, typer.Option(help="See `memrig suites`.")] = "practical",
    file: Annotated[Path | None, typer.Option(help="Your own data.")] = None,
    seeds: Seeds = "",
    turns: Annotated[int | None, typer.Option(help="Of a made world.")] = None,
    questions: Annotated[int | None, typer.Option(help="About a made world.")] = None,
    question_set: Annotated[str, typer.Option(help="Such as holdout.")] = "",
) -> None:
    """Tries right and wrong answers on a suite's gold. Exit code 5 if a mean is out of bounds."""
    table = api.selftest(suite, file, parse_seeds(seeds), turns, questions, question_set)
    typer.echo(as_markdown(table))
    for trial in table.failures[:20]:
        typer.echo(show(trial))
    if table.breaches:
        raise GateError("; ".join(table.breaches), where=f"--suite {suite}")
