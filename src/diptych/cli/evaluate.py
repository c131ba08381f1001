"""``diptych evaluate``: how well a model ranks the records of a test table, privately on request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diptych.cli.files import readable
from diptych.cli.patience import waiting
from diptych.cli.prose import paragraphs
from diptych.cli.refusals import MisusedError
from diptych.spec import Budget


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file that diptych fit wrote.")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV or Parquet file with columns and labels.")],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="Column that holds the two classes.")],
    epsilon: Annotated[
        float | None, typer.Option(help="Budget for a private AUC. Default: the exact AUC, which is not private.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Reproducible noise, for experiments: the result is NOT private.")
    ] = None,
) -> None:
    """Print a model's area under the ROC curve (AUC).

    Without --epsilon it is exact and not private: do not publish it for a private table.
    """
    if seed is not None and epsilon is None:
        raise MisusedError(
            "--seed seeds the noise of a private AUC, which needs --epsilon; give it, or leave out --seed."
        )
    if epsilon is not None:
        Budget(epsilon)  # refuses what is none
    readable("MODEL", model)
    readable("TABLE", table)
    with waiting("Loading diptych"):
        from diptych.cli import columns, scoring, tables
    fitted, names = scoring.open_model(model)
    records, rows = scoring.open_features(table, names)
    tables.require(records, [target], "is the target")
    labels = tables.read_target(records, target)
    columns.check_labels(labels, list(fitted.classes_), target, "the model's classes")
    if epsilon is None:
        value = fitted.score(rows, labels)
        typer.echo(f"AUC {value:.4f}: exact, NOT private. Do not publish it for a private table; use --epsilon.")
        return
    answer = fitted.private_score(rows, labels, epsilon=epsilon, random_state=seed)
    typer.echo(f"Private AUC {answer.value:.4f}")
    typer.echo(paragraphs(answer.guarantee))
