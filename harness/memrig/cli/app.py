"""The typer applications that the commands of this package hang on."""

from typing import Annotated

import typer

from memrig._version import __version__

app = typer.Typer(
    name="memrig",
    help="A test rig for AI memory systems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="Datasets: fetch, list, check.", no_args_is_help=True)
adapter_app = typer.Typer(help="Adapters: begin one.", no_args_is_help=True)
image_app = typer.Typer(help="Adapter images: build, load, pin, prune.", no_args_is_help=True)
trial_app = typer.Typer(help="Single trials.", no_args_is_help=True)
judge_app = typer.Typer(help="Judges: measure one against labels.", no_args_is_help=True)
export_app = typer.Typer(help="Answers for a benchmark's own evaluator.", no_args_is_help=True)
import_app = typer.Typer(help="Answers and verdicts made elsewhere.", no_args_is_help=True)
generate_app = typer.Typer(help="Datasets: make one.", no_args_is_help=True)
key_app = typer.Typer(help="The key that signs submissions.", no_args_is_help=True)
submission_app = typer.Typer(help="Submissions: runs that anybody can check.", no_args_is_help=True)
leaderboard_app = typer.Typer(help="Leaderboards: a site of submissions.", no_args_is_help=True)
profiles_app = typer.Typer(help="Profiles: what comparable runs share.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(adapter_app, name="adapter")
app.add_typer(image_app, name="image")
app.add_typer(trial_app, name="trial")
app.add_typer(judge_app, name="judge")
app.add_typer(export_app, name="export")
app.add_typer(import_app, name="import")
app.add_typer(generate_app, name="generate")
app.add_typer(profiles_app, name="profiles")
app.add_typer(key_app, name="key")
app.add_typer(submission_app, name="submission")
app.add_typer(leaderboard_app, name="leaderboard")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memrig {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A test rig for AI memory systems."""
    del version
