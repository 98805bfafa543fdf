"""`memrig show`, `memrig score`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import app
from memrig.errors import IncompleteError
from memrig.report.console import print_question, print_questions_table, print_report
from memrig.report.questions import find_questions
from memrig.runs.directory import RunDirectory

RunFolder = Annotated[Path, typer.Argument(help="A folder that `memrig run` wrote.")]


@app.command()
def show(
    run: RunFolder,
    question: Annotated[str, typer.Argument(help="A question's id, or a part of it.")] = "",
) -> None:
    """Shows a run's summary, or one question with what was retrieved for it."""
    directory = RunDirectory(run)
    if question:
        for shown in find_questions(directory, question):
            print_question(shown)
    else:
        report = api.read_report(run)
        print_report(report, directory)
        print_questions_table(report, directory)


@app.command()
def score(run: RunFolder) -> None:
    """Grades a run again from its transcripts. Needs no container and no network."""
    report = api.score(run)
    print_report(report, RunDirectory(run))
    if not report.complete:
        raise IncompleteError(report.incomplete, where=str(run), fix="repeat the run's command")
