"""`memrig export`, `memrig import`: between this rig and a benchmark's own tools."""

from pathlib import Path
from typing import Annotated

import typer

from memrig import api
from memrig.cli.app import export_app, import_app
from memrig.cli.inspect import RunFolder
from memrig.cli.run import File, Judge, Limits, Llm, LlmRecord, Protocol, Variant
from memrig.cli.show import run_shown
from memrig.pod.images import ANSWERS
from memrig.runs.config import RunConfig, make_config, parse_limits


@export_app.command()
def longmemeval(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("hypotheses.jsonl"),
) -> None:
    """Writes a run's answers as the hypothesis file that LongMemEval's evaluator reads."""
    done = api.export_longmemeval(run, out)
    typer.echo(f"{done.written} hypotheses written to {out}")
    if done.left_out:
        names = ", ".join(done.left_out)
        typer.echo(f"left out, failed by the rig or a provider: {names}", err=True)


@import_app.command(name="longmemeval")
def import_longmemeval(  # noqa: PLR0913, PLR0917 - the flags of the command line
    hypotheses: Annotated[Path, typer.Argument(help="Hypotheses, with or without verdicts.")],
    file: File = None,
    variant: Variant = "",
    protocol: Protocol = "",
    judge_model: Judge = "",
    stop_at: Limits = None,
    llm: Llm = "record",
    llm_record: LlmRecord = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
) -> None:
    """Grades somebody's hypotheses; takes the official evaluator's verdicts where they are."""
    limits, mode, suite = parse_limits(stop_at or []), "native", "longmemeval"
    adapter = f"{ANSWERS}{hypotheses}"
    config = make_config({k: v for k, v in locals().items() if k in RunConfig.model_fields})
    run_shown(api.import_longmemeval(config, hypotheses))
