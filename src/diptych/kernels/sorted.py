"""Pair sums of piecewise losses by sorting: exact for any scores, ties included.

Every derivative of such a loss is a sum of truncated powers (knot - (s_i - t_j))_+^p. The partners that count
are a suffix of the other class's sorted scores, found by the very comparison that explicit pairs would
make (s_i - t_j < knot in floating point), and their powers come from compensated suffix sums.
"""

from __future__ import annotations

from functools import partial

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.classes import join, split
from diptych.kernels.threads import in_chunks, together
from diptych.losses import PiecewiseLoss

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ranks = NDArray[np.int32]

AHEAD = 6  # scores compared at once by ``_locate``


@nb.njit(nogil=True, cache=True)
def _suffix_sums(t: Array, q: Array, centre: float, power: int, out: Array) -> None:
    """out[r] = sum over j >= r of q_j (t_j - centre)^power, compensated by Knuth's two-sum."""
    total, lost = 0.0, 0.0
    out[t.size] = 0.0
    weighted = q.size > 0
    for j in range(t.size - 1, -1, -1):
        z = t[j] - centre
        x = 1.0 if power == 0 else z if power == 1 else z * z
        if weighted:
            x *= q[j]
        new = total + x
        back = new - total
        lost += (total - (new - back)) + (x - back)
        total = new
        out[j] = total + lost


@nb.njit(nogil=True, cache=True)
def _index(t: Array, low: float, per_bucket: float, first: Ranks) -> None:
    """first[b] = how many scores lie in buckets below b."""
    first[:] = 0
    for j in range(t.size):
        first[int((t[j] - low) * per_bucket) + 1] = j + 1
    most = 0
    for b in range(first.size):
        most = max(most, first[b])
        first[b] = most


@nb.njit(nogil=True, inline="always")
def _bisect(s: float, t: Array, knot: float, a: int, z: int) -> int:
    while a < z:
        middle = (a + z) // 2
        if s - t[middle] < knot:
            z = middle
        else:
            a = middle + 1
    return a


@nb.njit(nogil=True, cache=True)
def _locate(s: Array, t: Array, knot: float, low: float, per_bucket: float, first: Ranks, out: Ranks) -> None:
    """out[i] = rank of the first t with s_i - t < knot; ``t`` ends in ``AHEAD`` infinities.

    Comparing the next few scores without branches settles nearly all queries; bisection the rest.
    """
    last, size = first.size - 2, t.size - AHEAD
    for i in range(s.size):
        x = (s[i] - knot - low) * per_bucket
        b = 0 if x < 0.0 else last if x > last else int(x)
        a = first[b]
        passed = 0
        for k in range(AHEAD):
            passed += s[i] - t[a + k] >= knot
        before = s[i] - t[max(a - 1, 0)] < knot
        if passed == AHEAD or (before and a > 0):
            a, passed = (_bisect(s[i], t, knot, 0, a), 0) if before else (_bisect(s[i], t, knot, a, size), 0)
        out[i] = a + passed


@nb.njit(nogil=True, cache=True)
def _accumulate(
    s: Array,
    ranks: Ranks,
    shift: float,
    power: int,
    scale: float,
    linear: Array,
    square: Array,
    n: int,
    out: Array,
) -> None:
    """Add scale * sum over the suffix of (t - (s_i - knot))^power, from its suffix sums."""
    for i in range(s.size):
        r = ranks[i]
        y = s[i] - shift
        count = float(n - r)
        if power == 0:
            out[i] += scale * count
        elif power == 1:
            out[i] += scale * (linear[r] - y * count)
        else:
            out[i] += scale * (square[r] - 2.0 * y * linear[r] + y * y * count)


class _Suffixes:
    """Truncated power sums over one class's scores t, at queries s of the other class."""

    def __init__(self, s: Array, t: Array) -> None:
        self.s, self.data = s, t
        self.padded = np.full(t.size + AHEAD, np.inf)
        self.t = self.padded[: t.size]
        self.t[:] = t
        self.t.sort()
        self.order: NDArray[np.intp] | None = None
        low, high = self.t[0], self.t[-1]
        buckets = t.size
        width = (high - low) / buckets
        self.low, self.per_bucket = float(low), 1.0 / width if width > 1e-300 else 0.0
        self.first = np.empty(buckets + 2, dtype=np.int32)
        _index(self.t, self.low, self.per_bucket, self.first)
        self.centre = float(0.5 * (low + high))
        self.powers: list[Array] = []
        self.known: dict[float, Ranks] = {}

    def ranks(self, knot: float, rows: slice = slice(None)) -> Ranks:
        """Where the partners that count begin, for each of these queries."""
        s = self.s[rows]
        out = np.empty(s.size, dtype=np.int32)
        _locate(s, self.padded, knot, self.low, self.per_bucket, self.first, out)
        return out

    def add(self, knot: float, power: int, scale: float, out: Array) -> None:
        """Add the unweighted sums of one truncated power."""
        while len(self.powers) < power:
            self.powers.append(np.empty(self.t.size + 1))
            _suffix_sums(self.t, np.empty(0), self.centre, len(self.powers), self.powers[-1])
        linear = self.powers[0] if power > 0 else np.empty(0)
        square = self.powers[1] if power > 1 else np.empty(0)
        shift, size = knot + self.centre, self.t.size

        def part(rows: slice) -> None:
            ranks = self.ranks(knot, rows)
            _accumulate(self.s[rows], ranks, shift, power, scale, linear, square, size, out[rows])

        in_chunks(part, self.s.size)

    def add_weighted(self, knot: float, scale: float, weights: Array, out: Array) -> None:
        """Add the weighted sums of one step (power 0); sorting and ranks are kept for the next weights."""
        if self.order is None:
            self.order = np.argsort(self.data, kind="stable")
        if knot not in self.known:
            self.known[knot] = self.ranks(knot)
        sums = np.empty(self.t.size + 1)
        _suffix_sums(self.t, weights[self.order], 0.0, 0, sums)
        out += scale * sums[self.known[knot]]


class SortedSums:
    """All pair sums of a piecewise loss at fixed scores."""

    def __init__(self, loss: PiecewiseLoss, scores: Array, positive: Mask) -> None:
        self.loss, self.positive = loss, positive
        up, down = split(scores, positive, int(np.count_nonzero(positive)))
        self.sides = together([lambda: _Suffixes(up, down), lambda: _Suffixes(-down, -up)], scores.size)

    def total(self) -> float:
        """Sum of the loss over all pairs."""
        return float(self._side(self.sides[0], 0, None).sum())

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums over the partners of each record, the two classes side by side in two threads."""
        partners: list[Array | None] = [None, None]
        if weights is not None:
            up, down = split(weights, self.positive, self.sides[0].s.size)
            partners = [down, up]
        jobs = [partial(self._side, self.sides[k], order, partners[k]) for k in (0, 1)]
        parts = together(jobs, self.positive.size)
        return join(parts[0], parts[1], self.positive)

    def _side(self, side: _Suffixes, order: int, weights: Array | None) -> Array:
        """Sums for the records of one class."""
        out = np.zeros(side.s.size)
        for piece in self.loss.pieces(order):
            if weights is None:
                side.add(piece.knot, piece.power, piece.coefficient, out)
            elif piece.power == 0:
                side.add_weighted(piece.knot, piece.coefficient, weights, out)
            else:
                raise ValueError("weights are for curvatures, whose pieces are steps.")
        return out
