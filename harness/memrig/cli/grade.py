"""`memrig grade`, `memrig judge calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import app, judge_app
from memrig.cli.run import (
    AsJson,
    AuditFile,
    DistractorFile,
    Distractors,
    File,
    Granularity,
    Judge,
    Labels,
    Limits,
    Llm,
    LlmRecord,
    Naive,
    Order,
    Protocol,
    Questions,
    QuestionSet,
    Reader,
    Seeds,
    Turns,
    Variant,
)
from memrig.cli.show import run_as_json, run_shown
from memrig.pod.images import ANSWERS
from memrig.report.console import print_calibration
from memrig.runs.config import RunConfig, make_config, parse_limits


@app.command()
def grade(  # noqa: PLR0913, PLR0917 - the flags of the command line, one a parameter
    answers: Annotated[Path, typer.Option(help="JSON lines: question_id, answer, cited, …")],
    suite: Annotated[str, typer.Option(help="The suite that the questions are from.")],
    file: File = None,
    sample: Annotated[bool, typer.Option("--sample", help="The built-in sample.")] = False,
    variant: Variant = "",
    order: Order = "",
    granularity: Granularity = "",
    labels: Labels = "",
    audit_file: AuditFile = None,
    distractors: Distractors = None,
    distractor_file: DistractorFile = None,
    protocol: Protocol = "",
    judge_model: Judge = "",
    naive: Naive = False,
    reader_model: Reader = "",
    stop_at: Limits = None,
    llm: Llm = "record",
    llm_record: LlmRecord = None,
    only_answered: Annotated[
        bool, typer.Option("--only-answered", help="Leave out what has no answer.")
    ] = False,
    seeds: Seeds = "",
    turns: Turns = None,
    questions: Questions = None,
    question_set: QuestionSet = "",
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    json: AsJson = False,
) -> None:
    """Grades answers that were produced elsewhere into the same report; runs nothing."""
    limits, mode = parse_limits(stop_at or []), "native"
    adapter = f"{ANSWERS}{answers}"
    config = make_config({k: v for k, v in locals().items() if k in RunConfig.model_fields})
    if json:
        run_as_json(config)
    else:
        run_shown(config)


@judge_app.command()
def calibrate(
    judge_model: Annotated[str, typer.Option(help="The judge to measure.")],
    file: Annotated[Path | None, typer.Argument(help="Labelled answers; default: ours.")] = None,
    protocol: Annotated[str, typer.Option(help="Whose prompt.")] = "answer-judge",
    stop_at: Limits = None,
    llm: Llm = "record",
    llm_record: LlmRecord = None,
    json: AsJson = False,
) -> None:
    """Measures a judge against labels: accuracy, kappa, position and verbosity bias."""
    limits = parse_limits(stop_at or [])
    settings = api.JudgeSettings(judge_model, protocol, llm, llm_record, limits)
    result = api.calibrate(settings, file)
    typer.echo(result.model_dump_json(indent=1)) if json else print_calibration(result)
