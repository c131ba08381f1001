"""Pair sums of a smooth loss for scores of any spread: two sweeps over the sorted scores.

Beyond the margin a smooth loss is a short series in exp(-k v) (``SmoothLoss.decay``). Sums of exponentials
over all earlier records obey a one-term recursion, so each sweep costs one step a record whatever
the gaps: no grid, no range, no overflow. Slower than the grid, used where a grid would not fit.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import together
from diptych.losses import SmoothLoss

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

FORGOTTEN = 45.0  # exp(-45) < 3e-20: what is farther away no longer counts in the series
NOTHING = 1e-200


@nb.njit(nogil=True, cache=True)
def _sweep(v: Array, first: Mask, q: Array, c: Array, sign: float, p0: float, p1: float, out: Array) -> None:
    """Add to out[i], for ascending v, the sums over earlier partners.

    Records with ``first`` True read the others at non-negative offsets (the decaying side), the
    others read the first kind at negative offsets (the side with the polynomial p0 + p1 v).
    """
    n_terms = c.size
    near = np.zeros((2, n_terms))  # running sums of q exp(-k (v_i - v_j)) of either kind
    count = np.zeros(2)
    linear = np.zeros(2)  # running sums of q (v_i - v_j)
    for i in range(v.size):
        if i > 0:
            gap = v[i] - v[i - 1]
            linear += count * gap
            if gap > FORGOTTEN:
                near[:] = 0.0
            elif gap > 0.0:
                x = np.exp(-gap)
                r = 1.0
                for k in range(n_terms):
                    r = r * x if r > NOTHING else 0.0  # never into the slow subnormal numbers
                    for kind in range(2):
                        left = near[kind, k] * r
                        near[kind, k] = left if abs(left) > NOTHING else 0.0
        mine = 0 if first[i] else 1
        other = 1 - mine
        s = 0.0
        for k in range(n_terms):
            s += c[k] * near[other, k]
        if mine == 0:
            out[i] += s
        else:
            out[i] += sign * s + p0 * count[other] - p1 * linear[other]
        for k in range(n_terms):
            near[mine, k] += q[i]
        count[mine] += q[i]


class ExponentialSums:
    """All pair sums at fixed scores, for scores that spread over many orders of magnitude."""

    def __init__(self, loss: SmoothLoss, scores: Array, positive: Mask) -> None:
        self.loss, self.positive = loss, positive
        centre = 0.5 * (scores.min() + scores.max())
        v = (scores - centre) / loss.temperature
        v[~positive] += loss.margin / loss.temperature
        self.order = np.argsort(v, kind="stable")
        self.sorted = v[self.order]

    def total(self) -> float:
        """Sum of the loss over all pairs."""
        return float(self.sums(0)[self.positive].sum())

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums over the partners of each record: partners below it, then partners above it."""
        c, sign, (p0, p1) = self.loss.decay(order)
        q = np.ones(self.sorted.size) if weights is None else weights[self.order]
        first = self.positive[self.order]

        def sweep(v: Array, first: Mask, q: Array) -> Array:
            out = np.zeros(v.size)
            _sweep(v, first, q, c, sign, p0, p1, out)
            return out

        below, above = together(
            [
                lambda: sweep(self.sorted, first, q),
                lambda: sweep(-self.sorted[::-1], ~first[::-1], q[::-1]),
            ],
            self.sorted.size,
        )
        out = np.empty(self.sorted.size)
        out[self.order] = below + above[::-1]
        return out
