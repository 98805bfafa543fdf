"""The typer applications that the commands of this package hang on."""

import typer

app = typer.Typer(
    name="memrig",
    help="A test rig for AI memory systems.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="Datasets: fetch, list, check.", no_args_is_help=True)
image_app = typer.Typer(help="Adapter images: build, load.", no_args_is_help=True)
trial_app = typer.Typer(help="Single trials.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(image_app, name="image")
app.add_typer(trial_app, name="trial")
