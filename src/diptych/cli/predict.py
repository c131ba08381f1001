"""``diptych predict``: scores and predicted classes of a table's records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from diptych.cli.files import readable, writable
from diptych.cli.patience import waiting
from diptych.cli.refusals import RefusedError


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that diptych fit wrote.")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV or Parquet file with the model's columns.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or Parquet file to write. Default: CSV to standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Score and classify the records of a table.

    The higher the score, the more likely is the positive class. Scores rank; they are no probabilities.
    Columns are matched by name, in any order; others are ignored.
    """
    readable("MODEL", model)
    readable("TABLE", table)
    if output is not None:
        if output.suffix.lower() not in (".csv", ".parquet"):
            raise RefusedError(f"--output: {str(output)!r} must end in .csv or .parquet; rename it.")
        writable(output, force=force, inputs=(model, table))
    with waiting("Loading diptych"):
        from diptych.cli import scoring
        from diptych.estimators.persistence import whole_file
    fitted, names = scoring.open_model(model)
    _, rows = scoring.open_features(table, names)
    result = scoring.predictions(fitted, rows)
    if output is None:
        scoring.write_csv(result, sys.stdout.buffer)
        return
    write = scoring.write_csv if output.suffix.lower() == ".csv" else scoring.write_parquet
    with whole_file(output) as file:
        write(result, file)
