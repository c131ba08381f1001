"""Reading a caller's table: every refusal names the parameter and the remedy, and no private value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from diptych.preprocessing.scaling import all_finite

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def read_rows(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Return X as finite doubles in C order, with its feature names checked or remembered."""
    try:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=1,
        )
    except ValueError as error:
        # The original messages quote values of the table, so they must not be shown, not even as a cause.
        if "could not convert" in str(error):
            raise ValueError("X must hold numbers only; encode or drop its text columns.") from None
        if "Expected 2D array" in str(error):
            raise ValueError("X must have two dimensions, records by features. Reshape your data.") from None
        raise
    if not all_finite(rows):
        raise ValueError(
            "X contains NaN or infinity (inf); impute or drop such records by a rule that looks at one record "
            "at a time."
        )
    return np.asarray(rows)


def read_labels(y: Any, classes: Sequence[Any] | NDArray[Any] | None, n: int) -> tuple[NDArray[Any], Mask]:
    """Return the two classes, negative first, and which records are positive."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; give one label a record.")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n} and y has {len(labels)}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity; drop such records.")
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):  # noqa: PLR0124
        raise ValueError("Input y contains missing labels (NaN); drop such records.")
    check_classification_targets(labels)
    return _known(labels, classes) if classes is not None else _read_off(labels)


def _known(labels: NDArray[Any], classes: Sequence[Any] | NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    known = np.asarray(classes)
    if known.ndim != 1 or known.size != 2 or known[0] == known[1]:
        raise ValueError(f"classes must hold two different labels, the negative one first; got {classes!r}.")
    positive = np.asarray(labels == known[1], dtype=np.bool_)
    if not np.all(positive | (labels == known[0])):
        raise ValueError("y holds a label that is not in classes; drop such records or correct classes.")
    return known, positive


def _read_off(labels: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    known = np.unique(labels)
    if known.size > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}. "
            "Pass y with two classes."
        )
    if known.size < 2:
        raise ValueError("y holds one class only; name both with classes=(negative, positive).")
    return known, np.asarray(labels == known[1], dtype=np.bool_)
