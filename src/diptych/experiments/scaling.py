"""Maps of rows into the unit ball that are taken as public, for experiments only.

They are fitted on the training part, and no budget is charged for them. A private analysis declares its bounds
(``diptych.Bounds``).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Scaler = Callable[[Array], Array]

CLIP = 3.0  # standard deviations
SPREAD = 0.5  # rows are divided by this times sqrt(d)
TINY = 1e-12


def shorten(Z: Array) -> Array:
    """Return the rows, those longer than 1 shortened to length 1."""
    return np.asarray(Z / np.maximum(1.0, np.linalg.norm(Z, axis=1, keepdims=True)))


def public_scaler(train: Array) -> Scaler:
    """Centre and scale every feature, clip at 3 deviations, divide by 0.5 sqrt(d), clip to the unit ball."""
    mean, spread = train.mean(axis=0), train.std(axis=0) + TINY
    width = SPREAD * math.sqrt(train.shape[1])
    return lambda X: shorten(np.clip((X - mean) / spread, -CLIP, CLIP) / width)


def column_scaler(train: Array) -> Scaler:
    """Divide every feature by its largest absolute value, then shorten rows to length at most 1.

    As Chaudhuri, Monteleoni and Sarwate (2011) prepare their tables, whose procedure Wang et al. say they follow.
    """
    largest = np.abs(train).max(axis=0) + TINY
    return lambda X: shorten(np.clip(X / largest, -1.0, 1.0))


SCALINGS: dict[str, Callable[[Array], Scaler]] = {"public": public_scaler, "columns": column_scaler}
SCALING_WORDS = {
    "public": (
        "public scaling: per-feature mean and standard deviation of the training part taken as public, values clipped "
        "at 3 deviations, rows divided by 0.5√d and clipped to the unit ball"
    ),
    "columns": (
        "column scaling (Chaudhuri et al. 2011): features divided by their largest absolute value in the training "
        "part, taken as public, and rows longer than 1 shortened to length 1"
    ),
}
