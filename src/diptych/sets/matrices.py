"""Sets of positive semidefinite matrices, as vectors whose Euclidean norm is the matrices' Frobenius norm.

A symmetric matrix of order d is packed into d(d+1)/2 numbers: its diagonal, then what lies above it times sqrt(2).
So everything that holds for vectors (projections, sensitivities, noise) holds for matrices in the right norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.sets.euclidean import check_radius

Array = NDArray[np.float64]

ROOT_TWO = math.sqrt(2.0)


def packed_size(order: int) -> int:
    """Return how many numbers a symmetric matrix of that order packs into."""
    return order * (order + 1) // 2


def pack(matrix: Array) -> Array:
    """Return the diagonal, then sqrt(2) times the entries above it, row by row."""
    above = np.triu_indices(len(matrix), 1)
    return np.concatenate((np.diag(matrix), ROOT_TWO * matrix[above]))


def unpack(vector: Array) -> Array:
    """Return the symmetric matrix that ``pack`` made the vector of."""
    order = (math.isqrt(8 * vector.size + 1) - 1) // 2
    if packed_size(order) != vector.size:
        raise ValueError(f"no symmetric matrix packs into {vector.size} numbers.")
    matrix = np.zeros((order, order))
    matrix[np.triu_indices(order, 1)] = vector[order:] / ROOT_TWO
    matrix += matrix.T
    np.fill_diagonal(matrix, vector[:order])
    return matrix


def spectrum(vector: Array) -> tuple[Array, Array]:
    """Return eigenvalues, ascending, and eigenvectors of a packed matrix."""
    values, vectors = np.linalg.eigh(unpack(vector))
    return values, vectors


def root(vector: Array) -> Array:
    """Return L with L'L = W for a packed W: a row for each eigenvalue, the largest first; signs are fixed."""
    values, vectors = spectrum(vector)
    rows = (np.sqrt(np.maximum(values, 0.0)) * vectors).T[::-1]
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return np.asarray(np.where(largest < 0.0, -rows, rows))


def _rebuilt(values: Array, vectors: Array) -> Array:
    return pack((vectors * values) @ vectors.T)


@dataclass(frozen=True)
class PSDFrobeniusBall:
    """The positive semidefinite matrices of Frobenius norm at most ``radius``, packed."""

    radius: float

    def __post_init__(self) -> None:
        check_radius(self.radius)

    @property
    def diameter(self) -> float:
        """Sqrt(2) times the radius: the inner product of two positive semidefinite matrices is not negative."""
        return ROOT_TWO * self.radius

    def norm(self, w: Array) -> float:
        """Return the Frobenius norm of a packed matrix."""
        return float(np.linalg.norm(w))

    def project(self, w: Array) -> Array:
        """Drop negative eigenvalues, then shrink to the sphere; for a cone and a ball around its tip this is exact."""
        values, vectors = spectrum(w)
        kept = np.maximum(values, 0.0)
        norm = float(np.linalg.norm(kept))
        if values[0] >= 0.0 and norm <= self.radius:
            return w
        return _rebuilt(kept * min(1.0, self.radius / max(norm, 1e-300)), vectors)


@dataclass(frozen=True)
class PSDTraceBall:
    """The positive semidefinite matrices of trace (nuclear norm) at most ``radius``, packed."""

    radius: float

    def __post_init__(self) -> None:
        check_radius(self.radius)

    @property
    def diameter(self) -> float:
        """Sqrt(2) times the radius, between two orthogonal matrices of rank one."""
        return ROOT_TWO * self.radius

    def norm(self, w: Array) -> float:
        """Return the trace of a packed positive semidefinite matrix."""
        return float(np.trace(unpack(w)))

    def project(self, w: Array) -> Array:
        """Project the spectrum on {v >= 0, sum v <= radius}."""
        values, vectors = spectrum(w)
        kept = np.maximum(values, 0.0)
        if values[0] >= 0.0 and float(kept.sum()) <= self.radius:
            return w
        return _rebuilt(kept if float(kept.sum()) <= self.radius else on_simplex(values, self.radius), vectors)


def on_simplex(values: Array, total: float) -> Array:
    """Return the nearest point with entries of at least 0 that sum to ``total`` (Duchi et al. 2008)."""
    descending = np.sort(values)[::-1]
    shifts = (np.cumsum(descending) - total) / np.arange(1, values.size + 1)
    last = int(np.flatnonzero(descending > shifts)[-1])
    return np.asarray(np.maximum(values - shifts[last], 0.0))
