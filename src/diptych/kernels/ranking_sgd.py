"""Stochastic descent of a ranking: step t takes record i_t against all earlier ones of a sequence, by their counts.

A step costs one pass over the distinct earlier records of the other class. Rows are copied side by side in the order
in which they first occur, so that the pass reads memory in order.
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
def _against(w: Array, x: Array, others: Array, counts: Array, seen: int, sign: float, curve: Curve, g: Array) -> None:
    """Set g to the sum over earlier records of counts times the pair's gradient; sign is 1 if x is positive."""
    d = w.size
    score = 0.0
    for k in range(d):
        score += x[k] * w[k]
        g[k] = 0.0
    pulls = 0.0
    for j in range(seen):
        s = 0.0
        for k in range(d):
            s += others[j, k] * w[k]
        pull = counts[j] * slope_at(curve, sign * (score - s))
        if pull != 0.0:
            pulls += pull
            for k in range(d):
                g[k] -= pull * others[j, k]
    for k in range(d):
        g[k] = sign * (g[k] + pulls * x[k])


@nb.njit(nogil=True, cache=True)
def _remember(i: int, x: Array, rows: Array, counts: Array, place: Rows, seen: int) -> int:
    """Count record i once more; return how many distinct ones there are."""
    if place[i] < 0:
        place[i] = seen
        rows[seen] = x
        seen += 1
    counts[place[i]] += 1.0
    return seen


@nb.njit(nogil=True, cache=True)
def _descend(
    X: Array, positive: NDArray[np.bool_], draws: Rows, step: float, ridge: float, radius: float, curve: Curve
) -> Array:
    n, d = X.shape
    most = min(n, draws.size)
    rows, counts = np.empty((2, most, d)), np.zeros((2, most))
    place, seen = np.full(n, -1, dtype=np.intp), np.zeros(2, dtype=np.intp)
    w, g, total = np.zeros(d), np.empty(d), np.zeros(d)
    for t in range(1, draws.size):
        last, new = draws[t - 1], draws[t]
        kind = int(positive[last])
        seen[kind] = _remember(last, X[last], rows[kind], counts[kind], place, seen[kind])
        other = 1 - int(positive[new])
        sign = 1.0 if positive[new] else -1.0
        _against(w, X[new], rows[other], counts[other], seen[other], sign, curve, g)
        square = 0.0
        for k in range(d):
            w[k] -= step * (g[k] / t + ridge * w[k])
            square += w[k] * w[k]
        if square > radius * radius:
            shrink = radius / math.sqrt(square)
            for k in range(d):
                w[k] *= shrink
        for k in range(d):
            total[k] += w[k]
    return total / draws.size


def ranking_mean(
    X: Array, positive: NDArray[np.bool_], draws: Rows, step: float, ridge: float, radius: float, curve: Curve
) -> Array:
    """Return the mean of w_1 = 0, w_2, ..., w_T, where w_(t+1) = P(w_t - step (g_t + ridge w_t)).

    g_t is the mean of the pair gradients of record draws[t] with records draws[0], ..., draws[t - 1]; P projects on the
    ball of that radius.
    """
    return np.asarray(_descend(X, positive, draws, step, ridge, radius, curve))
