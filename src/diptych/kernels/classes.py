"""Vectors of records of two classes in arbitrary order: take them apart, map them.

Compiled without branches: a boolean mask in random order costs NumPy a misprediction a record.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import in_chunks

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@nb.njit(nogil=True, cache=True)
def _split(values: Array, positive: Mask, up: Array, down: Array) -> None:
    i, j = 0, 0
    for k in range(values.size):  # the slot past the end takes the write that does not count
        up[i] = values[k]
        down[j] = values[k]
        i += positive[k]
        j += not positive[k]


@nb.njit(nogil=True, cache=True)
def _affine(values: Array, positive: Mask, coefficients: Array, out: Array) -> None:
    for k in range(values.size):
        row = 1 - int(positive[k])
        out[k] = coefficients[row, 0] + coefficients[row, 1] * values[k]


def split(values: Array, positive: Mask, positives: int) -> tuple[Array, Array]:
    """Values of the positives and of the negatives, in their order."""
    up, down = np.empty(positives + 1), np.empty(values.size - positives + 1)
    _split(values, positive, up, down)
    return up[:-1], down[:-1]


def affine(
    values: Array,
    positive: Mask,
    up: tuple[float, float],
    down: tuple[float, float],
    out: Array | None = None,
) -> Array:
    """Map v to a + b v, with (a, b) of the record's class. ``out`` may be ``values`` itself."""
    result = np.empty_like(values) if out is None else out
    coefficients = np.array([up, down])
    in_chunks(lambda part: _affine(values[part], positive[part], coefficients, result[part]), values.size)
    return result
