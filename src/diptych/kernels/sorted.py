"""Pair sums of piecewise losses: exact for any scores, ties included. Only the smaller class is sorted.

Every derivative of such a loss is a sum of truncated powers (knot - (s_i - t_j))_+^p. Let t be the smaller class in
ascending order and r(s) the rank of the first t with s - t < knot, by the very comparison in floating point that
explicit pairs would make. The partners of an s are the t from r(s) on: suffix sums. The partners of t_j are the s with
r(s) <= j: a histogram by rank, and its prefix sums. All sums are compensated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.ladder import Ladder, Records
from diptych.kernels.threads import together
from diptych.losses import PiecewiseLoss, TruncatedPower

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pieces = list[TruncatedPower]

WEIGHTS = -1  # what is summed: weights, or the power 0, 1 or 2 of differences
COLUMNS = {WEIGHTS: 2, 0: 1, 1: 3}  # of a histogram: the sum, what its rounding lost, the count


@nb.njit(nogil=True, cache=True)
def _members(positive: Mask, value: bool, out: Records) -> None:
    """List the records of one class; the slot past the end takes the writes that do not count."""
    j = 0
    for i in range(positive.size):
        out[j] = i
        j += positive[i] == value


def _records(positive: Mask, value: bool) -> Records:
    positives = int(np.count_nonzero(positive))
    dtype: type[np.integer[Any]] = np.uint32 if positive.size < 2**32 else np.int64  # half the memory where it does
    out = np.empty((positives if value else positive.size - positives) + 1, dtype=dtype)
    _members(positive, value, out)
    return out[:-1]


@nb.njit(nogil=True, cache=True)
def _add(total: float, x: float) -> tuple[float, float]:
    """Return the rounded sum, and what the rounding lost (Knuth's two-sum)."""
    new = total + x
    back = new - total
    return new, (total - (new - back)) + (x - back)


@nb.njit(nogil=True, cache=True)
def _suffix_sums(t: Array, centre: float, power: int, q: Array, records: Records, out: Array) -> None:
    """out[r] = sum over j >= r of (t_j - centre)^power; of power 0, of the weight q of its record."""
    total, lost = 0.0, 0.0
    out[t.size] = 0.0
    for j in range(t.size - 1, -1, -1):
        z = t[j] - centre
        total, error = _add(total, q[records[j]] if power == 0 else z if power == 1 else z * z)
        lost += error
        out[j] = total + lost


@nb.njit(nogil=True, cache=True)
def _read(
    s: Array, sign: float, records: Records, ranks: Records, shift: float, kind: int, scale: float, n: int,
    sums: Array, more: bool, out: Array,
) -> None:  # fmt: skip
    """Write, or add, scale * sum over j >= rank of (t_j - centre + shift - sign * s)^kind, or of the weights."""
    for i in range(records.size):
        k, r = records[i], np.int64(ranks[i])
        y, count = shift - sign * s[k], float(n - r)
        if kind == WEIGHTS:
            x = sums[0, r]
        elif kind == 0:
            x = count
        elif kind == 1:
            x = sums[0, r] + y * count
        else:
            x = sums[1, r] + 2.0 * y * sums[0, r] + y * y * count
        out[k] = scale * x + (out[k] if more else 0.0)


@nb.njit(nogil=True, cache=True)
def _count(ranks: Records, step: float, bins: Array) -> None:
    for i in range(ranks.size):
        bins[ranks[i], 0] += step


@nb.njit(nogil=True, cache=True)
def _deposit(x: Array, sign: float, records: Records, ranks: Records, shift: float, step: float, bins: Array) -> None:
    """Add step * (shift + sign * x) of each record to the bin of its rank."""
    counted = bins.shape[1] > 2
    for i in range(records.size):
        r = ranks[i]
        bins[r, 0], error = _add(bins[r, 0], step * (shift + sign * x[records[i]]))
        bins[r, 1] += error
        if counted:
            bins[r, 2] += step


@nb.njit(nogil=True, cache=True)
def _prefix_sums(
    t: Array, centre: float, kind: int, scale: float, records: Records, bins: Array, more: bool, out: Array
) -> None:
    """Write, or add, scale * the sums over the bins up to j, at the record of each t_j."""
    total, lost, count = 0.0, 0.0, 0.0
    for j in range(t.size):
        total, error = _add(total, bins[j, 0])
        if kind != 0:
            lost += error + bins[j, 1]
        if kind == 1:
            count += bins[j, 2]
        x = total + lost + count * (t[j] - centre) if kind == 1 else total + lost
        k = records[j]
        out[k] = scale * x + (out[k] if more else 0.0)


class SortedSums:
    """All pair sums of a piecewise loss at fixed scores."""

    def __init__(self, loss: PiecewiseLoss, scores: Array, positive: Mask) -> None:
        self.loss, self.scores, n = loss, scores, scores.size
        few = 2 * int(np.count_nonzero(positive)) <= n
        small, self.large = together([partial(_records, positive, value) for value in (few, not few)], n)
        # Where the positives are fewer, all signs change, so that they are the t: s_i - s_j = (-s_j) - (-s_i).
        self.sign = -1.0 if few else 1.0
        self.ladder = Ladder(scores, self.sign, small)
        self.centre = 0.5 * float(self.ladder.scores[0]) + 0.5 * float(self.ladder.scores[-1])
        self.known: dict[float, Records] = {}

    def total(self) -> float:
        """Sum of the loss over all pairs."""
        out, half = np.zeros(self.scores.size), self.large.size // 2
        for pieces in self._groups(0):
            kind = pieces[0].power
            what = pieces, kind, self._suffix_sums(kind, None), True, out
            together([partial(self._read, part, *what) for part in (slice(half), slice(half, None))], out.size)
        return float(out.sum())

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums over the partners of each record, the two classes side by side."""
        out, more = np.empty(self.scores.size), False
        for pieces in self._groups(order):
            kind = pieces[0].power if weights is None else WEIGHTS
            if order == 0 or (kind == WEIGHTS and pieces[0].power != 0):
                raise ValueError("order must be 1 or 2, and weights are for curvatures, whose pieces are steps.")
            jobs = [partial(job, pieces, kind, weights, more, out) for job in (self._to_small, self._to_large)]
            together(jobs, out.size)
            more = True
        return out if more else np.zeros_like(out)

    def _groups(self, order: int) -> Iterator[Pieces]:
        """Pieces of one power each, after their ranks are known."""
        pieces = sorted(self.loss.pieces(order), key=lambda piece: piece.power)
        for piece in pieces:
            if piece.knot not in self.known:  # kept, because Hessian products ask again and again
                self.known[piece.knot] = self.ladder.ranks(self.scores, self.sign, self.large, piece.knot)
        return (list(group) for _, group in groupby(pieces, key=lambda piece: piece.power))

    def _to_small(self, pieces: Pieces, kind: int, weights: Array | None, more: bool, out: Array) -> None:
        """Write, or add, the sums at the smaller class, from one histogram for all pieces of one power."""
        t, scale = self.ladder.scores, pieces[0].coefficient
        bins = np.zeros((t.size + 1, COLUMNS[kind]))
        for coefficient, knot, _ in pieces:
            step, ranks = coefficient / scale, self.known[knot]
            if weights is not None:
                _deposit(weights, 1.0, self.large, ranks, 0.0, step, bins)
            elif kind == 0:
                _count(ranks, step, bins)
            else:
                _deposit(self.scores, -self.sign, self.large, ranks, knot + self.centre, step, bins)
        _prefix_sums(t, self.centre, kind, scale, self.ladder.records, bins, more, out)

    def _to_large(self, pieces: Pieces, kind: int, weights: Array | None, more: bool, out: Array) -> None:
        """Write, or add, the sums at the larger class."""
        self._read(slice(None), pieces, kind, self._suffix_sums(kind, weights), more, out)

    def _suffix_sums(self, kind: int, weights: Array | None) -> Array:
        """Suffix sums of the smaller class: of weights, or of the powers from 1 to ``kind``."""
        t, records, q = self.ladder.scores, self.ladder.records, np.empty(0) if weights is None else weights
        powers = (0,) if kind == WEIGHTS else range(1, kind + 1)
        sums = np.empty((len(powers), t.size + 1))
        for power, row in zip(powers, sums, strict=True):
            _suffix_sums(t, self.centre, power, q, records, row)
        return sums

    def _read(self, part: slice, pieces: Pieces, kind: int, sums: Array, more: bool, out: Array) -> None:
        """Write, or add, the sums at part of the larger class."""
        for number, (coefficient, knot, _) in enumerate(pieces):
            where = self.large[part], self.known[knot][part], knot + self.centre, kind, coefficient
            _read(self.scores, self.sign, *where, self.ladder.size, sums, more or number > 0, out)
