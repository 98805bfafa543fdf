"""`memrig run`, `memrig suites`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import app
from memrig.cli.show import run_as_json, run_shown, show_plan
from memrig.model.trial import Isolation, Mode
from memrig.report.console import print_suites
from memrig.runs.config import DEFAULT_SEED, PodChoice, RunConfig, default_jobs, make_config
from memrig.suites.base import load_suite, suite_names

Adapter = Annotated[
    str, typer.Option(help="Folder with an adapter.toml, image@sha256:…, or grpc://host:port.")
]


@app.command()
def run(  # noqa: PLR0913, PLR0917 - the flags of the command line, one a parameter
    adapter: Adapter,
    suite: Annotated[str, typer.Option(help="Which suite; see `memrig suites`.")] = "practical",
    file: Annotated[Path | None, typer.Option(help="Data of your own.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="The built-in sample.")] = False,
    mode: Annotated[Mode, typer.Option(help="How a question is answered.")] = "retrieval",
    protocol: Annotated[str, typer.Option(help="Grading protocol of the suite.")] = "",
    category_labels: Annotated[str, typer.Option(help="Category numbering in use.")] = "true",
    pod: Annotated[PodChoice, typer.Option(help="Where the adapter runs.")] = "auto",
    isolation: Annotated[Isolation, typer.Option(help="Between scenarios.")] = "fresh",
    jobs: Annotated[int | None, typer.Option(min=1, help="Scenarios measured at once.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions, stratified.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="Hits per question.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each scenario.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Keys ids and draws.")] = DEFAULT_SEED,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    audit: Annotated[bool, typer.Option(help="Also audit isolation.")] = True,
    keep_pod: Annotated[bool, typer.Option("--keep-pod", help="Leave pods for a look.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan only.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON lines on stdout.")] = False,
) -> None:
    """Runs a memory system through a suite, grades it, and reports. Repeat it to resume."""
    jobs = jobs or default_jobs()
    config = make_config({k: v for k, v in locals().items() if k in RunConfig.model_fields})
    if dry_run:
        show_plan(config, as_json=json)
    elif json:
        run_as_json(config)
    else:
        run_shown(config)


@app.command()
def suites() -> None:
    """Lists the installed suites and their protocols."""
    print_suites([load_suite(name) for name in suite_names()])
