"""What private estimators ask of their settings before they read the table, and the notes that they owe afterwards.

Every refusal names the parameter and the remedy. Reading tables: ``validation.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diptych.algorithms import Release
from diptych.preprocessing import LabelScaler
from diptych.spec import Adjacency, Bounds, Budget
from diptych.spec.budget import is_number

FEWEST = 2  # records: one pair; also what a budget is checked with before the table is read
UNSTATED = "the set of classes, read off the labels, is public (pass classes= to state it)"


def read_budget(epsilon: float, delta: float | str, n: int = FEWEST) -> Budget:
    """Return the budget for n records; ``delta="auto"`` is 1/n^2."""
    if not isinstance(delta, str):
        return Budget(epsilon, delta)
    if delta != "auto":
        raise ValueError(f"delta must be a number in [0, 1) or 'auto' (1/n^2); got {delta!r}.")
    return Budget(epsilon, 1.0 / n**2)


def read_bounds(bounds: Any) -> Bounds:
    """Return the bounds, which cannot be left out."""
    if isinstance(bounds, Bounds):
        return bounds
    raise ValueError(
        "bounds is required: state what is publicly known of the features, as Bounds(norm=...) or "
        f"Bounds(low=..., high=...), without looking at the table; got {bounds!r}."
    )


def read_regularization(lam: Any) -> float | None:
    """Return lambda, or None for ``"auto"``."""
    if isinstance(lam, str) and lam == "auto":
        return None
    if not (is_number(lam) and 0 <= lam < math.inf):
        raise ValueError(f"regularization must be a number of at least 0, or 'auto'; got {lam!r}.")
    return float(lam)


def check_components(count: Any, features: int | None = None) -> None:
    """Refuse what is no number of dimensions to map to; with ``features``, more than there are."""
    if count is None:
        return
    if not (is_number(count) and isinstance(count, (int, np.integer)) and count >= 1):
        raise ValueError(f"n_components must be a whole number of at least 1, or None for all; got {count!r}.")
    if features is not None and count > features:
        raise ValueError(f"n_components={count} is more than the {features} features of X; lower it.")


def need_records(n: int) -> None:
    """Refuse a table of a public size that holds next to nothing."""
    if n < FEWEST:
        raise ValueError(f"n_samples={n} is too few: X needs at least {FEWEST} records.")


def read_declared(n_public: Any, adjacency: Adjacency) -> int | None:
    """Return the declared number of records, which goes with ``add-remove`` and with nothing else."""
    if adjacency is not Adjacency.ADD_REMOVE:
        if n_public is not None:
            raise ValueError(
                "n_public goes with adjacency='add-remove' only; elsewhere the number of records is public."
            )
        return None
    if not (is_number(n_public) and isinstance(n_public, (int, np.integer)) and FEWEST <= n_public <= 10**12):
        raise ValueError(
            "n_public must be declared for adjacency='add-remove', where the number of records is private: a whole "
            f"number near what is publicly known of it, from {FEWEST} to 10^12; got {n_public!r}."
        )
    return int(n_public)


def read_scaling(fit_intercept: Any, scaling: Any) -> float:
    """Return the constant in each row that the intercept multiplies; 0 without an intercept."""
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept must be True or False; got {fit_intercept!r}.")
    if not (is_number(scaling) and 1e-3 <= scaling <= 1e3):
        raise ValueError(f"intercept_scaling must be a number from 0.001 to 1000; got {scaling!r}.")
    return float(scaling) if fit_intercept else 0.0


def read_label_bounds(label_bounds: Any) -> LabelScaler:
    """Return the map that the bounds of the labels stand for; they cannot be left out."""
    if not (isinstance(label_bounds, (tuple, list)) and len(label_bounds) == 2):
        raise ValueError(
            "label_bounds is required: state what is publicly known of the labels, as (low, high), without looking at "
            f"the table; got {label_bounds!r}."
        )
    return LabelScaler(*label_bounds)


def admit(release: Release, note: str) -> Release:
    """Return the release with one more assumption, if it promises anything."""
    if not math.isfinite(release.guarantee.epsilon):
        return release
    guarantee = replace(release.guarantee, assumptions=(*release.guarantee.assumptions, note))
    return replace(release, guarantee=guarantee)


def own_up(release: Release, classes: Sequence[Any] | None) -> Release:
    """Return the release with the assumption that its classes are public, if nobody stated them."""
    if classes is not None:
        return release
    return admit(release, UNSTATED)
