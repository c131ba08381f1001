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
from diptych.spec import Bounds, Budget
from diptych.spec.budget import is_number

FEWEST = 2  # records that make a pair; also what a budget is checked with before the table is read


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


def need_pairs(n: int) -> None:
    """Refuse a table without a pair."""
    if n < FEWEST:
        raise ValueError(f"n_samples={n} is too few: X needs at least {FEWEST} records to form a pair.")


def own_up(release: Release, classes: Sequence[Any] | None) -> Release:
    """Return the release with the assumption that its classes are public, if nobody stated them."""
    if classes is not None or not math.isfinite(release.guarantee.epsilon):
        return release
    note = "the set of classes, read off the labels, is public (pass classes= to state it)"
    guarantee = replace(release.guarantee, assumptions=(*release.guarantee.assumptions, note))
    return replace(release, guarantee=guarantee)
