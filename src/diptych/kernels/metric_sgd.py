"""Stochastic descent of a metric: step t takes record i_t against all earlier ones of a sequence, by their counts.

A step costs one pass over the distinct earlier records and, where a matrix leaves its set, an eigendecomposition.
Cholesky's method tells whether a matrix is positive semidefinite, to rounding, for a fraction of that.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.slopes import Curve, slope_at

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
FAST = {"reassoc", "contract", "nsz"}


@nb.njit(nogil=True, fastmath=FAST, cache=True)
def _against(
    W: Array, x: Array, code: int, rows: Array, codes: Rows, counts: Array, seen: int, offset: float, curve: Curve,
    g: Array,
) -> None:  # fmt: skip
    """Set the upper half of g to the sum over earlier records of counts times the pair's gradient."""
    d = x.size
    u = np.empty(d)
    g[:] = 0.0
    for j in range(seen):
        for k in range(d):
            u[k] = rows[j, k] - x[k]
        square = 0.0
        for k in range(d):
            s = 0.0
            for m in range(d):
                s += W[k, m] * u[m]
            square += s * u[k]
        sign = 1.0 if codes[j] == code else -1.0
        slope = slope_at(curve, sign * (offset - square))
        pull = -sign * counts[j] * slope
        if pull != 0.0:
            for k in range(d):
                v = pull * u[k]
                for m in range(k, d):
                    g[k, m] += v * u[m]


@nb.njit(nogil=True, cache=True)
def _is_positive(W: Array, L: Array) -> bool:
    """Whether Cholesky's method runs through; L is its workspace."""
    d = len(W)
    for k in range(d):
        for m in range(k + 1):
            s = W[k, m]
            for q in range(m):
                s -= L[k, q] * L[m, q]
            if m < k:
                L[k, m] = s / L[m, m]
            elif s > 0.0:
                L[k, k] = math.sqrt(s)
            else:
                return False
    return True


@nb.njit(nogil=True, cache=True)
def _on_simplex(values: Array, total: float) -> Array:
    """Project ascending values on {v >= 0, sum v = total} (Duchi et al. 2008)."""
    summed, shift = 0.0, 0.0
    for count in range(1, values.size + 1):
        value = values[values.size - count]
        summed += value
        if value <= (summed - total) / count:
            break
        shift = (summed - total) / count
    return np.maximum(values - shift, 0.0)


@nb.njit(nogil=True, cache=True)
def _project(W: Array, radius: float, traced: bool, L: Array) -> Array:
    """Project on the positive semidefinite matrices of trace, or of Frobenius norm, at most ``radius``."""
    positive = _is_positive(W, L)
    size = np.trace(W) if traced else math.sqrt((W * W).sum())
    if positive and size <= radius:
        return W
    if positive and not traced:
        return W * (radius / size)
    values, vectors = np.linalg.eigh(W)
    kept = np.maximum(values, 0.0)
    if traced and kept.sum() > radius:
        kept = _on_simplex(values, radius)
    elif not traced:
        kept = kept * min(1.0, radius / max(math.sqrt((kept * kept).sum()), 1e-300))
    rebuilt: Array = (vectors * kept) @ vectors.T
    return rebuilt


@nb.njit(nogil=True, cache=True)
def _descend(
    X: Array, codes: Rows, draws: Rows, W: Array, step: float, ridge: float, radius: float, traced: bool,
    offset: float, curve: Curve,
) -> Array:  # fmt: skip
    n, d = X.shape
    most = min(n, draws.size)
    rows, kinds, counts = np.empty((most, d)), np.empty(most, dtype=np.intp), np.zeros(most)
    place, seen = np.full(n, -1, dtype=np.intp), 0
    g, L, total = np.zeros((d, d)), np.zeros((d, d)), W.copy()
    for t in range(1, draws.size):
        last, new = draws[t - 1], draws[t]
        if place[last] < 0:
            place[last] = seen
            rows[seen] = X[last]
            kinds[seen] = codes[last]
            seen += 1
        counts[place[last]] += 1.0
        _against(W, X[new], codes[new], rows, kinds, counts, seen, offset, curve, g)
        for k in range(d):
            for m in range(k, d):
                W[k, m] -= step * (g[k, m] / t + ridge * W[k, m])
                W[m, k] = W[k, m]
        W = _project(W, radius, traced, L)
        total += W
    return total / draws.size


def metric_mean(
    X: Array, codes: NDArray[np.int64], draws: Rows, start: Array, step: float, ridge: float, radius: float,
    *, traced: bool, offset: float, curve: Curve,
) -> Array:  # fmt: skip
    """Return the mean of W_1 = start, W_2, ..., W_T, as ``ranking_mean`` does for vectors."""
    kinds = codes.astype(np.intp)
    return np.asarray(_descend(X, kinds, draws, start.copy(), step, ridge, radius, traced, offset, curve))
