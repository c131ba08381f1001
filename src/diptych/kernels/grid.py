"""Pair sums of a smooth loss on a uniform grid: deposit, convolve by FFT, interpolate back.

With 8-point Lagrange weights L_k on cells of width h, K(s - t) ~ sum_kl L_k(s) K(node_k - node_l) L_l(t), so
a class needs one pass to deposit its records on the grid and one to read the other's sums. Each
cell keeps the 8 power sums of the offsets in it (one cache line), which a fixed matrix turns into node
weights; reading is a polynomial a cell. Error bound: ``docs/theory/pair-kernels.md``.
"""

from __future__ import annotations

from functools import lru_cache

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from diptych.kernels.threads import in_chunks
from diptych.losses import SmoothLoss

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

POINTS = 8
CELL = 1.0 / 20.0  # in temperatures


def grid_nodes(low: float, high: float, temperature: float) -> float:
    """Return the number of nodes that scores in [low, high] take (a float: it may be huge)."""
    return (high - low) / (CELL * temperature) + POINTS


@lru_cache(maxsize=1)
def _lagrange() -> Array:
    """Matrix A with L_k(u) = sum_p A[k, p] u^p on the nodes -3 ... 4, for u in [0, 1]."""
    nodes = np.arange(POINTS) - (POINTS // 2 - 1)
    rows = []
    for k in range(POINTS):
        others = np.delete(nodes, k)
        rows.append(np.poly(others)[::-1] / np.prod(nodes[k] - others))
    return np.array(rows)


@nb.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _deposit(s: Array, positive: Mask, weights: Array, low: float, per_cell: float, up: Array, down: Array) -> None:
    weighted = weights.size > 0
    for i in range(s.size):
        x = (s[i] - low) * per_cell
        b = int(x)
        u = x - b
        q = weights[i] if weighted else 1.0
        u2 = u * u
        u4 = u2 * u2
        g = up if positive[i] else down
        g[b, 0] += q
        g[b, 1] += q * u
        g[b, 2] += q * u2
        g[b, 3] += q * (u2 * u)
        g[b, 4] += q * u4
        g[b, 5] += q * (u4 * u)
        g[b, 6] += q * (u4 * u2)
        g[b, 7] += q * (u4 * u2 * u)


@nb.njit(nogil=True, fastmath={"contract"}, cache=True)
def _read(s: Array, positive: Mask, low: float, per_cell: float, up: Array, down: Array, out: Array) -> None:
    for i in range(s.size):
        x = (s[i] - low) * per_cell
        b = int(x)
        u = x - b
        c = up if positive[i] else down
        out[i] = (
            (((((c[b, 7] * u + c[b, 6]) * u + c[b, 5]) * u + c[b, 4]) * u + c[b, 3]) * u + c[b, 2]) * u + c[b, 1]
        ) * u + c[b, 0]


class GridSums:
    """All pair sums at fixed scores, for scores that spread over a moderate number of temperatures."""

    def __init__(self, loss: SmoothLoss, scores: Array, positive: Mask, low: float, high: float) -> None:
        self.loss, self.scores, self.positive, self.low = loss, scores, positive, low
        self.step = CELL * loss.temperature
        self.cells = int((high - low) / self.step) + 2
        self.nodes = self.cells + POINTS - 1

    def total(self) -> float:
        """Sum of the loss over all pairs: one deposit, no reading back."""
        up, down = self._grids(None)
        return float(up @ self._convolve(0, down, transposed=False))

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums over the partners of each record."""
        up, down = self._grids(weights)
        for_positives = self._polynomials(self._convolve(order, down, transposed=False))
        for_negatives = self._polynomials(self._convolve(order, up, transposed=True))
        out = np.empty_like(self.scores)
        in_chunks(
            lambda part: _read(
                self.scores[part],
                self.positive[part],
                self.low,
                1.0 / self.step,
                for_positives,
                for_negatives,
                out[part],
            ),
            out.size,
        )
        return out

    def _grids(self, weights: Array | None) -> tuple[Array, Array]:
        """Node weights of both classes."""

        def part(rows: slice) -> tuple[Array, Array]:
            grids = np.zeros((self.cells, POINTS)), np.zeros((self.cells, POINTS))
            q = np.empty(0) if weights is None else weights[rows]
            _deposit(self.scores[rows], self.positive[rows], q, self.low, 1.0 / self.step, *grids)
            return grids

        parts = in_chunks(part, self.scores.size)
        up, down = (self._nodes(np.sum([p[side] for p in parts], axis=0)) for side in (0, 1))
        return up, down

    def _nodes(self, moments: Array) -> Array:
        """Turn the power sums of each cell into weights on the eight nodes around it."""
        spread = moments @ _lagrange().T
        out = np.zeros(self.nodes)
        for k in range(POINTS):
            out[k : k + self.cells] += spread[:, k]
        return out

    def _convolve(self, order: int, grid: Array, *, transposed: bool) -> Array:
        """Sum over nodes l of l^(order)((k - l) h) grid[l], or with k - l reversed."""
        m = self.nodes
        offsets = np.arange(-(m - 1), m, dtype=np.float64) * self.step
        loss = self.loss
        derivative = (loss.value, loss.slope, loss.curvature)[order]
        kernel = derivative(-offsets if transposed else offsets)
        size = fft.next_fast_len(3 * m - 2, real=True)
        product = fft.rfft(kernel, size) * fft.rfft(grid, size)
        return np.asarray(fft.irfft(product, size)[m - 1 : 2 * m - 1])

    def _polynomials(self, values: Array) -> Array:
        """Return the interpolating polynomial of each cell."""
        windows = np.lib.stride_tricks.sliding_window_view(values, POINTS)
        return np.ascontiguousarray(windows @ _lagrange())
