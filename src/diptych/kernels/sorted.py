"""Pair sums of piecewise losses by sorting: exact for any scores, ties included.

Every derivative of such a loss is a sum of truncated powers (knot - (s_i - t_j))_+^p. The partners that count
are a suffix of the other class's sorted scores; one merge of both classes finds them all, by the very comparison
that explicit pairs would make (s_i - t_j < knot in floating point). Powers come from compensated suffix sums.
"""

from __future__ import annotations

from functools import partial

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import together
from diptych.losses import PiecewiseLoss

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Ranks = NDArray[np.int64]

SHIFTS = 8  # moves a record that repairing an almost sorted class may take before it is sorted afresh


@nb.njit(nogil=True, cache=True)
def _keys(s: Array, wanted: Mask, value: bool, low: float, scale: float, out: NDArray[np.uint64]) -> None:
    """Pack the records of one class: score in 32 bits above, position in 32 bits below.

    Branchless: the slot past the end takes the writes that do not count.
    """
    j = 0
    for i in range(s.size):
        out[j] = (np.uint64(np.int64((s[i] - low) * scale)) << np.uint64(32)) | np.uint64(i)
        j += wanted[i] == value


@nb.njit(nogil=True, cache=True)
def _repair(keys: NDArray[np.uint64], s: Array, order: Ranks, out: Array) -> bool:
    """Unpack sorted keys and order records with one key by their scores; False if that takes too long."""
    budget = SHIFTS * keys.size
    for j in range(keys.size):
        i = np.int64(keys[j] & np.uint64(0xFFFFFFFF))
        x = s[i]
        k = j
        while k > 0 and out[k - 1] > x:
            out[k], order[k] = out[k - 1], order[k - 1]
            k -= 1
        budget -= j - k
        if budget < 0:
            return False
        out[k], order[k] = x, i
    return True


def _sort(s: Array, positive: Mask, value: bool, count: int, low: float, high: float) -> tuple[Array, Ranks]:
    """Return the scores of one class in ascending order, and the records that they belong to."""
    scale = (2.0**32 - 1.0) / (high - low) if high > low else 0.0
    if np.isfinite(high - low) and np.isfinite(scale) and s.size < 2**32:
        packed = np.empty(count + 1, dtype=np.uint64)
        _keys(s, positive, value, low, scale, packed)
        keys = packed[:-1]
        keys.sort()  # integers sort several times faster than scores with their positions
        out, order = np.empty(count), np.empty(count, dtype=np.int64)
        if _repair(keys, s, order, out):
            return out, order
    order = np.flatnonzero(positive == value)
    order = order[np.argsort(s[order], kind="stable")]
    return s[order], order


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
def _start(s: Array, t: Array, knot: float, steps: int) -> int:
    """Return how many s a merge has passed after that many steps; s and t end in an infinity."""
    low, high = max(0, steps - t.size + 1), min(steps, s.size - 1)
    while low < high:  # the least i at which step i, steps - i - 1 would pass a t
        i = (low + high) // 2
        if s[i] - t[steps - i - 1] < knot:
            low = i + 1
        else:
            high = i
    return low


@nb.njit(nogil=True, cache=True)
def _merge(s: Array, t: Array, knot: float, out: Ranks) -> None:
    """out[i] = rank of the first t with s_i - t < knot, for ascending s and t that end in an infinity.

    Four stretches of the merge at once, each without a branch: one alone would wait for its own comparisons.
    """
    steps = s.size + t.size - 2
    stretch = steps // 4
    i, k, m, p = 0, _start(s, t, knot, stretch), _start(s, t, knot, 2 * stretch), _start(s, t, knot, 3 * stretch)
    starts = (k, m, p)
    j, n, q, u = 0, stretch - k, 2 * stretch - m, 3 * stretch - p
    for _ in range(stretch):
        out[i], out[k], out[m], out[p] = j, n, q, u
        a, b = s[i] - t[j] < knot, s[k] - t[n] < knot
        c, d = s[m] - t[q] < knot, s[p] - t[u] < knot
        i, j, k, n = i + a, j + (not a), k + b, n + (not b)
        m, q, p, u = m + c, q + (not c), p + d, u + (not d)
    for _ in range(steps - 4 * stretch):
        out[p] = u
        a = s[p] - t[u] < knot
        p, u = p + a, u + (not a)
    for i in starts:  # the stretch before may have written here last
        low, high = 0, t.size - 1
        while low < high:
            j = (low + high) // 2
            if s[i] - t[j] < knot:
                high = j
            else:
                low = j + 1
        out[i] = low


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


class _Side:
    """Truncated power sums over one class's sorted scores t, at the sorted scores s of the other."""

    def __init__(self, s: Array, t: Array) -> None:
        self.s, self.t = s, t
        self.ended = np.append(s, np.inf), np.append(t, np.inf)
        self.centre = 0.5 * float(t[0]) + 0.5 * float(t[-1])
        self.powers: list[Array] = []
        self.known: dict[float, Ranks] = {}

    def ranks(self, knot: float) -> Ranks:
        """Where the partners that count begin; kept, because Hessian products ask again and again."""
        if knot not in self.known:
            ranks = np.empty(self.s.size + 1, dtype=np.int64)
            _merge(*self.ended, knot, ranks)
            self.known[knot] = ranks[:-1]
        return self.known[knot]

    def add(self, knot: float, power: int, scale: float, out: Array) -> None:
        """Add the unweighted sums of one truncated power."""
        while len(self.powers) < power:
            self.powers.append(np.empty(self.t.size + 1))
            _suffix_sums(self.t, np.empty(0), self.centre, len(self.powers), self.powers[-1])
        linear = self.powers[0] if power > 0 else np.empty(0)
        square = self.powers[1] if power > 1 else np.empty(0)
        shift = knot + self.centre
        _accumulate(self.s, self.ranks(knot), shift, power, scale, linear, square, self.t.size, out)

    def add_weighted(self, knot: float, scale: float, weights: Array, out: Array) -> None:
        """Add the sums of one step (power 0), weighted by ``weights`` in the order of t."""
        sums = np.empty(self.t.size + 1)
        _suffix_sums(self.t, weights, 0.0, 0, sums)
        out += scale * sums[self.ranks(knot)]


class SortedSums:
    """All pair sums of a piecewise loss at fixed scores; each class is the query of one side."""

    def __init__(self, loss: PiecewiseLoss, scores: Array, positive: Mask) -> None:
        self.loss, self.n = loss, scores.size
        low, high, positives = float(scores.min()), float(scores.max()), int(np.count_nonzero(positive))
        counts = {True: positives, False: self.n - positives}
        jobs = [partial(_sort, scores, positive, value, counts[value], low, high) for value in (True, False)]
        (up, order_up), (down, order_down) = together(jobs, self.n)
        # Mirrored, the partners of a negative are a suffix too: s_i - t_j = (-t_j) - (-s_i).
        self.sides = _Side(up, down), _Side(-down[::-1], -up[::-1])
        self.orders = order_up, order_down[::-1]

    def total(self) -> float:
        """Sum of the loss over all pairs."""
        return float(self._side(0, 0, None).sum())

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums over the partners of each record, the two classes side by side in two threads."""
        out = np.empty(self.n)

        def job(side: int) -> None:
            out[self.orders[side]] = self._side(side, order, weights)

        together([partial(job, side) for side in (0, 1)], self.n)
        return out

    def _side(self, number: int, order: int, weights: Array | None) -> Array:
        """Sums for the records of one class, in its sorted order."""
        side = self.sides[number]
        out = np.zeros(side.s.size)
        partners = None if weights is None else weights[self.orders[1 - number]][::-1]
        for piece in self.loss.pieces(order):
            if partners is None:
                side.add(piece.knot, piece.power, piece.coefficient, out)
            elif piece.power == 0:
                side.add_weighted(piece.knot, piece.coefficient, partners, out)
            else:
                raise ValueError("weights are for curvatures, whose pieces are steps.")
        return out
