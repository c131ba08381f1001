"""The command ``diptych`` and its list of commands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

import diptych
from diptych.cli.refusals import guarded

# Modules of this package, each with a function of its own name. One that is not installed is left out.
COMMANDS = ("fit", "predict", "evaluate", "reproduce")

app = typer.Typer(
    name="diptych",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diptych {diptych.__version__}")
        raise typer.Exit


@app.callback()
def diptych_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Differentially private ranking models from tables of sensitive records.

    Reference and a first session: docs/command-line.md.
    """


for _name in COMMANDS:
    if find_spec(f"diptych.cli.{_name}") is not None:
        app.command(_name)(guarded(getattr(import_module(f"diptych.cli.{_name}"), _name)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on these arguments, by default those of the process, and exit.

    Exit codes: 0 done, 1 refused, 2 the command cannot be understood, 130 interrupted.
    """
    app(args=None if arguments is None else list(arguments), prog_name="diptych")
