"""What ``diptych fit`` does once it is understood: settings, then columns, then the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from diptych.cli import columns, tables
from diptych.cli.bounds import StatedBounds
from diptych.cli.patience import waiting
from diptych.cli.refusals import MisusedError
from diptych.estimators import AUCClassifier
from diptych.losses import Loss, loss_named
from diptych.spec import Bounds


@dataclass(frozen=True)
class Question:
    """What to learn from a table: which label, from which features, within which bounds.

    Attributes
    ----------
    target, classes
        The column of labels, and the two public ones as the caller wrote them.
    stated
        The public bounds.
    only, drop
        The columns to use, or those to leave out.
    """

    target: str
    classes: str | None
    stated: StatedBounds
    only: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None


def train(model: AUCClassifier, question: Question, path: Path) -> AUCClassifier:
    """Fit a model to a table; its settings are refused before the table is opened."""
    check_settings(model)
    table, target = tables.read_table(path), question.target
    tables.require(table, [target], "is the target")
    names = columns.select(table.column_names, target, question.stated, question.only, question.drop)
    tables.require(table, names, "is asked for as a feature")
    bounds = question.stated.of(names)
    labels = tables.read_target(table, target)
    classes = columns.read_classes(question.classes, labels, target)
    columns.check_labels(labels, classes, target, "--classes")
    rows = tables.read_features(table, names)
    with waiting("Fitting"):
        model.set_params(bounds=bounds, classes=classes).fit(rows, labels)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


class _Accepted(BaseException):
    """The estimator has reached for the table, so it has accepted its settings."""


class _UnreadTable:
    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise _Accepted


def check_settings(model: AUCClassifier) -> None:
    """Refuse settings as ``fit`` does, which reads no table before it has checked them all."""
    try:
        model.set_params(bounds=Bounds(norm=1.0)).fit(_UnreadTable(), None)
    except _Accepted:
        return


def choose_loss(name: str, margin: float | None, temperature: float | None) -> Loss:
    """Return the loss of that name, with what was said of its shape."""
    said = {"margin": margin, "temperature": temperature}
    return replace(loss_named(name), **{key: value for key, value in said.items() if value is not None})


def number_or_auto(text: str, parameter: str) -> float | str:
    """Read a number, or leave ``auto`` as it is."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise MisusedError(f"{parameter} must be a number or auto; got {text!r}.") from None
