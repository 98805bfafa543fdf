"""`memrig submission …`: archives of runs that anybody can check."""

from pathlib import Path
from typing import Annotated

import typer

from memrig.cli.app import submission_app
from memrig.cli.audits import show_audit
from memrig.errors import VerificationError
from memrig.report.console import Held, HeldRun, print_facts, print_step, print_verification
from memrig.report.standing import standing_of
from memrig.runs.config import default_jobs, parse_limits
from memrig.submission.keys import fingerprint
from memrig.submission.pack import Packed, make_statement
from memrig.submission.pack import pack as pack_runs
from memrig.submission.rerun import RerunOptions
from memrig.submission.rerun import rerun as rerun_archive
from memrig.submission.tolerance import RuleChoice
from memrig.submission.verify import Opened, opened


@submission_app.command()
def pack(
    runs: Annotated[list[Path], typer.Argument(help="Runs' folders, of one memory system.")],
    out: Annotated[Path, typer.Option(help="The archive to write, NAME.memrig.")],
    title: Annotated[str, typer.Option(help="What the submission is called.")] = "",
    submitter: Annotated[str, typer.Option(help="Who submits it.")] = "",
    url: Annotated[str, typer.Option(help="Where more is said about it.")] = "",
    changed: Annotated[
        str, typer.Option(help="What you changed of the memory system, the rig or the machine.")
    ] = "",
    key: Annotated[
        Path | None, typer.Option(help="Who signs; default: what `memrig key new` wrote.")
    ] = None,
    with_image: Annotated[
        bool, typer.Option("--with-image", help="Put the adapter's images in, as docker save does.")
    ] = False,
) -> None:
    """Grades runs again and writes them as one signed archive."""
    statement = make_statement(title, submitter, url, changed)
    _show(pack_runs(runs, out, statement, key=key, images=with_image, say=print_step))


@submission_app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="The archive, NAME.memrig.")],
    data: Annotated[
        list[Path] | None, typer.Option(help="A folder with data that does not ship; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Name each check that passed, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON on stdout.")] = False,
) -> None:
    """Checks an archive and makes all its numbers again. Exit code 6 if it is not valid."""
    print_step(f"verifying {file}")
    with opened(file, data or ()) as archive:
        found = archive.verification
        if json:
            typer.echo(found.model_dump_json(indent=1))
        else:
            signer = fingerprint(found.key) if found.key else ""
            print_verification(found, signer, _held(archive), every=every)
    raise typer.Exit(0 if found.passed else VerificationError.exit_code)


@submission_app.command()
def rerun(  # noqa: PLR0913, PLR0917 - the flags of the command line, one a parameter
    file: Annotated[Path, typer.Argument(help="The archive, NAME.memrig.")],
    cells: Annotated[int, typer.Option(min=1, help="Trials to run again, drawn.")] = 5,
    fresh: Annotated[
        bool, typer.Option("--fresh-seeds", help="Also under seeds that nobody could know.")
    ] = False,
    adapter: Annotated[str, typer.Option(help="Your own copy of the memory system.")] = "",
    draw: Annotated[int | None, typer.Option(min=0, help="Repeat a draw; default: a new one.")] = (
        None
    ),
    tolerance: Annotated[RuleChoice, typer.Option(help="How results are compared.")] = "auto",
    data: Annotated[
        list[Path] | None, typer.Option(help="A folder with data that does not ship; repeatable.")
    ] = None,
    stop_at: Annotated[
        list[str] | None, typer.Option("--stop-at", help="Stop at 5usd, 2000000tokens, …")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials measured at once.")] = None,
    keep: Annotated[Path | None, typer.Option(help="A new folder to keep the runs in.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="Who signs; default: what `memrig key new` wrote.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The record, NAME.audit.json.")] = None,
) -> None:
    """Runs cells again and signs what came of it: an organiser's audit. Exit code 6: disagrees."""
    places, limits, jobs = tuple(data or ()), parse_limits(stop_at or ()), jobs or default_jobs()
    options = RerunOptions(
        cells, fresh, adapter, draw, tolerance, data=places, keep=keep, jobs=jobs, limits=limits
    )
    found = rerun_archive(file, options, out=out, key=key, say=print_step)
    show_audit(found)
    raise typer.Exit(0 if found.audit.passed else VerificationError.exit_code)


def _held(archive: Opened) -> Held | None:
    """What an archive holds, as far as it could be read."""
    manifest = archive.manifest
    if manifest is None:
        return None
    standings = {run.entry.run_id: standing_of(run.report) for run in archive.runs}
    said, system = manifest.statement, manifest.adapter
    runs = (HeldRun(run.run_id, run.suite, standings.get(run.run_id)) for run in manifest.runs)
    return Held(f"{system.name} {system.version}", tuple(runs), said.title, said.submitter)


def _show(packed: Packed) -> None:
    """Prints what was written, and by whom."""
    rows = [
        ("written", f"{packed.file} ({packed.file.stat().st_size:,} bytes)"),
        ("manifest", packed.digest.removeprefix("sha256:")),
        ("signed by", packed.fingerprint),
        *(("run", f"{run.run_id}: {run.suite}, {run.protocol}") for run in packed.manifest.runs),
        *(("note", note) for note in packed.notes),
        ("check it", f"memrig submission verify {packed.file}"),
    ]
    print_facts(rows, whole=("written", "check it"))
