"""Clipping and scaling by public bounds, after which every row certainly lies in the unit ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.projections import row_lengths
from diptych.kernels.threads import in_chunks
from diptych.spec import Bounds

Array = NDArray[np.float64]

SLACK = 2.0**-40  # rows may exceed the unit ball by this much and by rounding; the diameter allows for it


@nb.njit(nogil=True, fastmath={"reassoc", "contract"}, cache=True)
def _square(row: Array) -> float:
    square = 0.0
    for k in range(row.size):
        square += row[k] * row[k]
    return square


@nb.njit(nogil=True, fastmath={"reassoc", "contract"}, cache=True)
def _inspect(X: Array) -> tuple[float, float]:
    """Return the largest squared norm of a row, and a number that is finite if and only if all of X is."""
    largest, marker = 0.0, 0.0
    for i in range(X.shape[0]):
        zero = 0.0
        for k in range(X.shape[1]):
            zero += X[i, k] * 0.0
        marker += zero
        largest = max(largest, _square(X[i]))
    return largest, marker


@nb.njit(nogil=True, cache=True)
def _clip_norm(X: Array, norm: float, out: Array) -> None:
    """Shorten long rows; at norm 1 the others stay as they are, whatever the rest of the table is like."""
    for i in range(X.shape[0]):
        if norm == 1.0 and _square(X[i]) <= 1.0 + SLACK:
            out[i] = X[i]
            continue
        largest = 0.0
        for k in range(X.shape[1]):
            largest = max(largest, abs(X[i, k]))
        square = 0.0
        if largest > 0.0:
            for k in range(X.shape[1]):
                square += (X[i, k] / largest) ** 2
        length = largest * math.sqrt(square)
        for k in range(X.shape[1]):
            out[i, k] = X[i, k] / largest / math.sqrt(square) if length > norm else X[i, k] / norm


@nb.njit(nogil=True, cache=True)
def _clip_box(X: Array, centre: Array, half: Array, shrink: float, out: Array) -> None:
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            out[i, k] = min(1.0, max(-1.0, (X[i, k] - centre[k]) / half[k])) * shrink


def all_finite(X: Array) -> bool:
    """Whether no value is NaN or infinite."""
    parts = in_chunks(lambda rows: _inspect(X[rows])[1], X.shape[0])
    return bool(np.isfinite(parts).all())


@dataclass(frozen=True)
class BallScaler:
    """The map from rows in ``bounds`` to the unit ball: fixed by public facts, clipping whatever lies outside.

    A ball of norm R is divided by R; a box is mapped to [-1, 1]^d and divided by sqrt(d).
    """

    bounds: Bounds
    features: int

    def __post_init__(self) -> None:
        named = self.bounds.features
        if named is not None and named != self.features:
            raise ValueError(
                f"bounds names {named} features but X has {self.features}; give one low and one high a feature."
            )

    @property
    def diameter(self) -> float:
        """Return the diameter of the set that certainly holds the rows: 2, and an allowance for rounding."""
        return 2.0 * (1.0 + SLACK + self.features * 2.0**-52)

    def transform(self, X: Array) -> Array:
        """Return the rows in the unit ball; X itself where nothing needs to change."""
        if self.bounds.norm == 1.0:
            largest = max(in_chunks(lambda rows: _inspect(X[rows])[0], X.shape[0]))
            if largest <= 1.0 + SLACK:
                return X
        out = np.empty_like(X)
        if self.bounds.norm is not None:
            norm = self.bounds.norm
            in_chunks(lambda rows: _clip_norm(X[rows], norm, out[rows]), X.shape[0])
        else:
            centre, half = self._box()
            shrink = 1.0 / math.sqrt(self.features)
            in_chunks(lambda rows: _clip_box(X[rows], centre, half, shrink, out[rows]), X.shape[0])
        return out

    def factors(self, X: Any) -> Array:
        """Return what brings each row of a sparse matrix of compressed rows within the unit ball; X stays as it is."""
        assert self.bounds.norm is not None  # a box would fill the zeros
        return 1.0 / np.maximum(self.bounds.norm, row_lengths(X))

    @property
    def scales(self) -> Array:
        """Return what each feature is divided by, once it is centred: differences of rows are divided by it, too."""
        if self.bounds.norm is not None:
            return np.full(self.features, self.bounds.norm)
        return self._box()[1] * math.sqrt(self.features)

    def unfold(self, w: Array) -> tuple[Array, float]:
        """Return coefficients and intercept in the caller's units, with zero at the centre of the bounds."""
        coef = w / self.scales
        return coef, 0.0 if self.bounds.norm is not None else -float(coef @ self._box()[0])

    def _box(self) -> tuple[Array, Array]:
        low = np.broadcast_to(np.asarray(self.bounds.low, dtype=np.float64), self.features)
        high = np.broadcast_to(np.asarray(self.bounds.high, dtype=np.float64), self.features)
        return 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
