"""Reading a caller's table: every refusal names the parameter and the remedy, and no private value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from diptych.preprocessing.scaling import all_finite

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Openings of scikit-learn's refusals that speak of shapes and types only. All others may quote the table.
HARMLESS = ("Sparse data was passed", "Found array with", "Complex data not supported")
NUMBERS = (
    "{name} must hold numbers only, each argument must be a string that reads as a number or a number itself; "
    "encode or drop other columns."
)

COMPLEX = "Complex data not supported"
ONE_LABEL = "y should be a 1d array; pass one label a record."
NO_LABELS = "requires y to be passed, but the target y is None; give one label a record."
STRANGER = "y holds a label that is not in classes; drop such records or correct classes."


def read_rows(X: Any, name: str = "X") -> Array:
    """Return X as finite doubles in C order."""
    return np.asarray(_read(X, name, sparse=False))


def read_any_rows(X: Any, name: str = "X") -> Any:
    """Return X as finite doubles: in C order, or if it is sparse as compressed rows without duplicates."""
    rows: Any = _read(X, name, sparse=True)
    if not isinstance(rows, np.ndarray) and not rows.has_canonical_format:
        rows = rows.copy()  # the caller's own may not change
        rows.sum_duplicates()
    return rows


def _read(X: Any, name: str, *, sparse: bool) -> Any:
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"{name} has a mask, which would be ignored; fill the masked values, one record at a time.")
    if getattr(getattr(X, "dtype", None), "kind", "?") in "mM":  # a missing time would pass for a number
        raise ValueError(f"{name} holds dates or times; turn them into numbers, one record at a time.")
    _check_names(X, name)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # of casts that overflow: found below
            kinds = "csr" if sparse else False
            rows = check_array(
                X, accept_sparse=kinds, dtype=np.float64, order="C", ensure_all_finite=False, input_name=name
            )
    except Exception as error:  # the original quotes values of the table: it must not be shown, not even as a cause
        raise _harmless(error, name) from None
    if not all_finite(rows if isinstance(rows, np.ndarray) else rows.data[None]):
        raise ValueError(
            f"{name} contains NaN or infinity (inf); impute or drop such records by a rule that looks at one record "
            "at a time."
        )
    return rows


def read_pairs(pairs: Any, estimator: Any) -> Array:
    """Return pairs of records of as many features as were fitted, as finite doubles of shape (n_pairs, 2, d)."""
    try:
        array = np.asanyarray(pairs)
    except Exception:  # it may quote the table
        array = np.empty(0)
    if array.ndim != 3 or array.shape[1] != 2:
        raise ValueError("pairs must have shape (n_pairs, 2, n_features): stack two records a pair.")
    features, known = array.shape[2], estimator.n_features_in_
    if features != known:
        raise ValueError(f"pairs has {features} features, but {type(estimator).__name__} is expecting {known}.")
    return read_rows(array.reshape(-1, features), "pairs").reshape(-1, 2, features)


def _harmless(error: Exception, name: str) -> Exception:
    text = str(error).splitlines()[0] if str(error) else ""
    if text.startswith(("Expected 2D array", "Found array with dim")):
        return ValueError(f"{name} must have two dimensions, records by features. Reshape your data.")
    if text.startswith(HARMLESS):
        return type(error)(text)
    text = NUMBERS.format(name=name)
    return TypeError(text) if isinstance(error, TypeError) else ValueError(text)


def _check_names(X: Any, name: str) -> None:
    """Refuse columns named by numbers in text: a file without a header, whose first record they would give away."""
    if any(isinstance(column, str) and _reads_as_number(column) for column in getattr(X, "columns", ())):
        raise ValueError(
            f"{name} has a column whose name reads as a number, as if the first record had been taken for the header; "
            "read the file with header=None, or name the columns."
        )


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def remember_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``."""
    validate_data(estimator, X, reset=True, skip_check_array=True)


def check_features(estimator: Any, X: Any) -> None:
    """Refuse a table with other features than the one that was fitted."""
    validate_data(estimator, X, reset=False, skip_check_array=True)


def read_classes(classes: Sequence[Any] | None, most: int | None = 2) -> NDArray[Any] | None:
    """Return the public labels in sorted order, if they were named: two, or any number above one for None."""
    if classes is None:
        return None
    try:
        known = np.unique(np.asarray(classes))
        different = np.ndim(classes) == 1 and 2 <= len(classes) == known.size <= (most or known.size)
    except (TypeError, ValueError):  # labels that cannot be sorted, or of unequal shapes
        different = False
    if not different:
        count = "two" if most == 2 else "two or more"
        raise ValueError(f"classes must hold {count} different labels, or be None; got {classes!r}.")
    return known


def read_labels(y: Any, known: NDArray[Any] | None, n: int) -> tuple[NDArray[Any], Mask]:
    """Return the two classes in sorted order, and which records are of the second, the positive one."""
    labels = _column(y, n)
    if known is not None:
        positive = np.asarray(labels == known[1], dtype=np.bool_)
        if not np.all(positive | (labels == known[0])):
            raise ValueError(STRANGER)
        return known, positive
    known = np.unique(labels)
    if known.size > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}. "
            "Pass y with two classes."
        )
    if known.size < 2:
        raise ValueError("y holds one class only; name both with classes=.")
    return known, np.asarray(labels == known[1], dtype=np.bool_)


def read_numbers(y: Any, n: int) -> Array:
    """Return one finite double a record."""
    if y is None:
        raise ValueError(NO_LABELS)
    try:
        labels = column_or_1d(y, warn=True)
    except ValueError as error:  # most of its words tell the number of records
        complex_ = str(error).startswith(COMPLEX)
        raise ValueError(f"{COMPLEX}: y must hold numbers." if complex_ else ONE_LABEL) from None
    if labels.dtype.kind == "c":
        raise ValueError(f"{COMPLEX}: y must hold numbers.")
    _need_alike(len(labels), n)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            numbers = labels.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # it may quote the table
        raise ValueError("y must hold numbers only; drop or convert other labels.") from None
    if labels.dtype.kind in "mM":
        raise ValueError("y holds dates or times; turn them into numbers, one record at a time.")
    if not np.isfinite(numbers).all():
        raise ValueError("Input y contains NaN or infinity; drop such records.")
    return np.asarray(numbers)


def linear_scores(model: Any, X: Any, *, sparse: bool = False) -> Array:
    """Return w.x + b for the coefficients of a fitted model, of shape (1, d) or (d,)."""
    check_is_fitted(model)
    rows = read_any_rows(X) if sparse else read_rows(X)
    check_features(model, X)
    return np.asarray(rows @ np.ravel(model.coef_) + np.ravel(model.intercept_)[0])


def read_codes(y: Any, known: NDArray[Any] | None, n: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes in sorted order, any number of them, and of which one each record is."""
    present, codes = np.unique(_column(y, n), return_inverse=True)
    if known is None:
        return present, codes.astype(np.int64)
    places = {label: place for place, label in enumerate(known.tolist())}
    found = np.array([places.get(label, -1) for label in present.tolist()], dtype=np.int64)
    if np.any(found < 0):
        raise ValueError(STRANGER)
    return known, found[codes]


def _column(y: Any, n: int) -> NDArray[Any]:
    """Return one label a record."""
    if y is None:
        raise ValueError(NO_LABELS)
    labels = _labels(y)
    _need_alike(len(labels), n)
    return labels


def _need_alike(labels: int, n: int) -> None:
    if labels != n:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X and y differ; give one label a record."
        )


def _labels(y: Any) -> NDArray[Any]:
    try:
        labels = column_or_1d(y, warn=True)
    except ValueError as error:  # most of its words tell the number of records
        complex_ = str(error).startswith(COMPLEX)
        raise ValueError(f"{COMPLEX}: y must hold labels." if complex_ else ONE_LABEL) from None
    if labels.dtype.kind == "c":
        raise ValueError(f"{COMPLEX}: y must hold labels.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity; drop such records.")
    if labels.dtype.kind == "O" and any(map(_missing, labels)):
        raise ValueError("Input y contains missing labels (NaN); drop such records.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are many classes, which is private
            check_classification_targets(labels)
    except (TypeError, ValueError):
        raise ValueError(
            "Unknown label type: y must hold classes, as texts, whole numbers or truth values; convert it."
        ) from None
    return np.asarray(labels)


def _missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except TypeError:  # pandas' NA will not say whether it differs from itself
        return True
