"""``diptych fit``: from a table and public facts to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diptych.cli.bounds import state_bounds
from diptych.cli.files import readable, writable
from diptych.cli.patience import waiting
from diptych.cli.prose import paragraphs
from diptych.cli.refusals import MisusedError


def fit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV or Parquet file, a record a row.")],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="Column that holds the two classes.")],
    epsilon: Annotated[float, typer.Option(help="Privacy budget, above 0; inf fits without privacy.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Model file to write.")],
    bounds: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with the public bounds of each feature.")
    ] = None,
    norm: Annotated[
        float | None, typer.Option(help="Public bound of the length of a record, in place of --bounds.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NEG,POS", help="The two classes; the one that sorts last is positive. Default: read off."
        ),
    ] = None,
    features: Annotated[str | None, typer.Option(metavar="A,B,C", help="Columns to use, in this order.")] = None,
    drop: Annotated[str | None, typer.Option(metavar="X,Y", help="Columns to leave out.")] = None,
    delta: Annotated[str, typer.Option(help="In [0, 1): 0 is pure privacy, auto is 1/n^2.")] = "auto",
    adjacency: Annotated[
        str, typer.Option(help="replace: labels are private; replace-within-class: labels are public.")
    ] = "replace",
    algorithm: Annotated[
        str,
        typer.Option(
            help="auto, output-perturbation, objective-perturbation, gd-output, noisy-gd, epoch-gd, online-output, "
            "sgd-output or dp-sgd."
        ),
    ] = "auto",
    loss: Annotated[
        str, typer.Option(help="logistic, squared-hinge, smoothed-hinge, squared, hinge or q-norm-hinge.")
    ] = "logistic",
    margin: Annotated[float | None, typer.Option(help="Where the loss bends.")] = None,
    temperature: Annotated[float | None, typer.Option(help="How sharply the loss bends.")] = None,
    regularization: Annotated[str, typer.Option(help="At least 0, or auto: a rule of public facts.")] = "auto",
    radius: Annotated[float | None, typer.Option(help="Ball that holds the model, in internal units.")] = None,
    constants: Annotated[str, typer.Option(help="defended, or paper: noise as published.")] = "defended",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Reproducible noise, for experiments: the result is NOT private.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Fit a private ranking model and print its guarantee.

    Bounds are required, as --bounds or --norm, and must not be read off the table.
    """
    readable("TABLE", table)
    stated = state_bounds(bounds, norm)
    if features is not None and drop is not None:
        raise MisusedError("--features and --drop exclude each other; leave one out.")
    writable(output, force=force, inputs=(table, bounds or table))
    with waiting("Loading diptych"):
        from diptych.cli import training
        from diptych.cli.columns import split
        from diptych.estimators import AUCClassifier
        from diptych.estimators.persistence import save_model
    question = training.Question(
        target, classes, stated, only=split(features, "--features"), drop=split(drop, "--drop")
    )
    model = AUCClassifier(
        epsilon,
        training.number_or_auto(delta, "--delta"),
        algorithm=algorithm,
        loss=training.choose_loss(loss, margin, temperature),
        regularization=training.number_or_auto(regularization, "--regularization"),
        radius=radius,
        adjacency=adjacency,
        constants=constants,
        random_state=seed,
    )
    training.train(model, question, table)
    save_model(model, output)
    typer.echo(paragraphs(model.guarantee_))
    typer.echo(f"The positive class is {str(model.classes_[1])!r}. The model is in {output}.")
