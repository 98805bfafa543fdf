"""`memrig run`, `memrig suites`."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import app
from memrig.cli.show import run_all
from memrig.gateway.config import GatewayMode
from memrig.model.trial import Isolation, Mode, PromptStyle
from memrig.report.console import print_suites
from memrig.runs.config import (
    PodChoice,
    RunConfig,
    Tier,
    make_config,
    parse_deadlines,
    parse_limits,
)
from memrig.suites.base import load_suite, suite_names

Adapter = Annotated[
    str,
    typer.Option(
        help="Folder with an adapter.toml, image@sha256:…, grpc://host:port, or baseline:NAME."
    ),
]
File = Annotated[Path | None, typer.Option(help="Data of your own.")]
Variant = Annotated[str, typer.Option(help="Which dataset of the suite.")]
Order = Annotated[str, typer.Option(help="Order of sessions: file or date.")]
Granularity = Annotated[str, typer.Option(help="An episode is a session or a turn.")]
Labels = Annotated[str, typer.Option(help="Labels to grade by: published or audited.")]
AuditFile = Annotated[Path | None, typer.Option(help="The label problems, for audited.")]
Distractors = Annotated[
    float | None, typer.Option(min=0, help="Distractor episodes for each signal episode.")
]
DistractorFile = Annotated[Path | None, typer.Option(help="Whose episodes distract.")]
Protocol = Annotated[str, typer.Option(help="Grading protocol of the suite.")]
Judge = Annotated[str, typer.Option(help="Who judges; default: $GRADER_MODEL.")]
Limits = Annotated[
    list[str] | None,
    typer.Option("--stop-at", help="Stop at 5usd, 2000000tokens; judge=1usd, trial=0.1usd, …"),
]
Deadline = Annotated[
    list[str] | None, typer.Option(help="Seconds of a call: ingest=14400, answer=300, …")
]
Reader = Annotated[str, typer.Option(help="Who answers; default: $EVAL_MODEL.")]
Naive = Annotated[
    bool, typer.Option("--naive-baseline", help="Also ask with everything in the context.")
]
Llm = Annotated[GatewayMode, typer.Option(help="Call models, record, or replay.")]
LlmRecord = Annotated[Path | None, typer.Option(help="The record; default: the run's.")]
Seeds = Annotated[str, typer.Option("--seeds", "--seed", help="Such as 42,123; key all chance.")]
Turns = Annotated[int | None, typer.Option(min=1, help="Of each world made from a seed.")]
Questions = Annotated[int | None, typer.Option(min=1, help="About each such world.")]
QuestionSet = Annotated[str, typer.Option(help="Which of the suite's sets of questions.")]
Suite = Annotated[str, typer.Option(help="Such as practical (the default); `memrig suites`.")]
Profile = Annotated[str, typer.Option(help="What a comparable run has in common: official-v1.")]
Tiers = Annotated[Tier | None, typer.Option(help="Which part of the profile; default: no-key.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON lines on stdout.")]


#: Flags whose values a configuration keeps in another form, under another name.
_FLAGS = {"limits": "stop_at", "deadlines": "deadline"}


def chosen(context: typer.Context, given: dict[str, object]) -> dict[str, object]:
    """What a command line sets itself: a flag's default is no choice that goes before a profile."""
    sources = {name: context.get_parameter_source(_FLAGS.get(name, name)) for name in given}
    return {
        name: value
        for name, value in given.items()
        if (source := sources[name]) is not None and source.name != "DEFAULT"
    }


@app.command()
def run(  # noqa: PLR0913, PLR0917 - the flags of the command line, one a parameter
    context: typer.Context,
    adapter: Adapter,
    suite: Suite = "",
    profile: Profile = "",
    tier: Tiers = None,
    file: File = None,
    sample: Annotated[bool, typer.Option("--sample", help="The built-in sample.")] = False,
    variant: Variant = "",
    order: Order = "",
    granularity: Granularity = "",
    labels: Labels = "",
    audit_file: AuditFile = None,
    distractors: Distractors = None,
    distractor_file: DistractorFile = None,
    mode: Annotated[Mode | None, typer.Option(help="How a question is answered.")] = None,
    protocol: Protocol = "",
    category_labels: Annotated[str, typer.Option(help="Category numbering in use.")] = "true",
    reader_model: Reader = "",
    judge_model: Judge = "",
    prompt: Annotated[PromptStyle | None, typer.Option(help="A reader's instruction.")] = None,
    context_tokens: Annotated[int, typer.Option(min=100, help="Shown to a reader.")] = 16_000,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, help="Of a reply.")] = None,
    naive: Naive = False,
    budget: Annotated[str | None, typer.Option(help="fast, standard, extended, …")] = None,
    stop_at: Limits = None,
    deadline: Deadline = None,
    prices: Annotated[Path | None, typer.Option(help="A price table of your own.")] = None,
    llm: Llm = "record",
    llm_record: LlmRecord = None,
    pod: Annotated[PodChoice, typer.Option(help="Where the adapter runs.")] = "auto",
    isolation: Annotated[Isolation, typer.Option(help="Between scenarios.")] = "fresh",
    jobs: Annotated[int | None, typer.Option(min=1, help="Scenarios measured at once.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions a seed, stratified.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="Hits per question.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each scenario.")] = 1,
    seeds: Seeds = "",
    turns: Turns = None,
    questions: Questions = None,
    question_set: QuestionSet = "",
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    audit: Annotated[bool, typer.Option(help="Also audit isolation.")] = True,
    audits: Annotated[bool, typer.Option(help="Also audit caches, resets, chunks…")] = False,
    keep_pod: Annotated[bool, typer.Option("--keep-pod", help="Leave pods for a look.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan only.")] = False,
    json: AsJson = False,
) -> None:
    """Runs a memory system through a suite, grades it, and reports. Repeat it to resume."""
    limits, deadlines = parse_limits(stop_at or []), parse_deadlines(deadline or [])
    given = {k: v for k, v in locals().items() if k in RunConfig.model_fields}
    run_all(make_config(chosen(context, given)), dry=dry_run, as_json=json)


@app.command()
def suites() -> None:
    """Lists the installed suites and their protocols."""
    print_suites([load_suite(name) for name in suite_names()])
