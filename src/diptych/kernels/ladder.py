"""Scores in ascending order, and the ranks of other scores among them, by one table of buckets.

An affine map sends each score to a bucket with one or two others: a counting sort by bucket leaves little to put right,
and a search for a rank begins at its bucket. Where buckets are badly filled (clusters, outliers), a comparison sort and
binary searches take over, so that no scores cost more than n log n.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import in_chunks, together

Array = NDArray[np.float64]
Records = NDArray[np.integer[Any]]

PER_SCORE = 2  # buckets
SHIFTS = 8  # moves a score that a stretch may take to put right before it is sorted afresh
ENDS = 2  # infinities behind the last score, so that a search may look ahead


@nb.njit(nogil=True, cache=True)
def _bucket(x: float, low: float, scale: float, last: float) -> np.int64:
    """Return a bucket that never falls as x grows, whatever overflows."""
    v = (x - low) * scale
    if not v > 0.0:  # or not a number
        v = 0.0
    return np.int64(v if v < last else last)


@nb.njit(nogil=True, cache=True)
def _count(s: Array, sign: float, records: Records, low: float, scale: float, table: Records) -> None:
    """Count the scores of bucket b in table[b + 1]."""
    last = table.size - 2.0
    for i in range(records.size):
        table[_bucket(sign * s[records[i]], low, scale, last) + 1] += 1


@nb.njit(nogil=True, cache=True)
def _begin(first: Records, second: Records) -> None:
    """Turn the counts of two halves of the scores into where each half begins to write."""
    total = np.int64(0)
    for b in range(first.size):
        mine, other = np.int64(first[b]), np.int64(second[b])
        first[b], second[b] = total, total + mine
        total += mine + other


@nb.njit(nogil=True, cache=True)
def _scatter(
    s: Array, sign: float, records: Records, low: float, scale: float, table: Records, out: Array, order: Records
) -> None:
    """Write scores and their records bucket by bucket; table[b + 1] moves to the end of bucket b."""
    last = table.size - 2.0
    for i in range(records.size):
        k = records[i]
        x = sign * s[k]
        b = _bucket(x, low, scale, last) + 1
        j = table[b]
        table[b] = j + 1
        out[j], order[j] = x, k


@nb.njit(nogil=True, cache=True)
def _put_right(t: Array, order: Records) -> bool:
    """Sort by insertion; False if that takes too long."""
    budget = SHIFTS * t.size
    for j in range(1, t.size):
        x, i = t[j], order[j]
        k = j
        while k > 0 and t[k - 1] > x:
            t[k], order[k] = t[k - 1], order[k - 1]
            k -= 1
        t[k], order[k] = x, i
        budget -= j - k
        if budget < 0:
            return False
    return True


@nb.njit(nogil=True, cache=True)
def _search(t: Array, x: float, knot: float, low: np.int64, high: np.int64) -> np.int64:
    """Return the first rank from ``low`` on at which x - t < knot, most likely up to ``high``."""
    end = np.int64(t.size - ENDS)
    if not x - t[high] < knot:
        low, high = min(high + 1, end), end
    while low < high:
        middle = (low + high) // 2
        if x - t[middle] < knot:
            high = middle
        else:
            low = middle + 1
    return low


@nb.njit(nogil=True, cache=True)
def _ranks(
    s: Array, sign: float, records: Records, t: Array, knot: float, low: float, scale: float, table: Records,
    out: Records,
) -> None:  # fmt: skip
    """out[i] = rank of the first t with x - t < knot, for x = sign * s of each record.

    A t in an earlier bucket than x - knot (as computed) lies below it. Rounding is monotone, so x - t is knot or more
    as computed, too: no search has to look before the bucket. Two looks ahead cost no branch.
    """
    last = table.size - 2.0
    for i in range(records.size):
        x = sign * s[records[i]]
        b = _bucket(x - knot, low, scale, last)
        r = np.int64(table[b])
        r += np.int64(x - t[r] >= knot) + np.int64(x - t[r + 1] >= knot)
        if not x - t[r] < knot:
            r = _search(t, x, knot, r, np.int64(table[b + 1]))
        out[i] = r


class Ladder:
    """The scores sign * s of some records in ascending order, and the table that finds ranks among them."""

    def __init__(self, s: Array, sign: float, records: Records) -> None:
        self.size, buckets = records.size, PER_SCORE * records.size
        self.low, high = _range(sign * s[records[:: max(1, self.size // 1024)]])
        width = high - self.low
        self.scale = buckets / width if 0.0 < width < np.inf else 0.0
        self.ended = np.full(self.size + ENDS, np.inf)
        self.records = np.empty_like(records)
        halves = records[: self.size // 2], records[self.size // 2 :]
        tables = [np.zeros(buckets + 1, dtype=records.dtype) for _ in halves]
        jobs = list(zip(halves, tables, strict=True))
        where = self.low, self.scale
        together([partial(_count, s, sign, half, *where, table) for half, table in jobs], self.size)
        _begin(*tables)
        out = self.scores, self.records
        together([partial(_scatter, s, sign, half, *where, table, *out) for half, table in jobs], self.size)
        self.table = tables[1]  # now where each bucket begins
        in_chunks(self._sort, buckets)

    @property
    def scores(self) -> Array:
        """In ascending order."""
        return self.ended[: self.size]

    def _sort(self, buckets: slice) -> None:
        part = slice(int(self.table[buckets.start]), int(self.table[buckets.stop]))
        t, records = self.scores[part], self.records[part]
        if not _put_right(t, records):
            order = np.argsort(t, kind="stable")
            t[:], records[:] = t[order], records[order]

    def ranks(self, s: Array, sign: float, records: Records, knot: float) -> Records:
        """Return how many of the scores t fail sign * s - t < knot, for each of other records."""
        out = np.empty(records.size, dtype=self.table.dtype)
        where = self.ended, knot, self.low, self.scale, self.table
        in_chunks(lambda part: _ranks(s, sign, records[part], *where, out[part]), out.size)
        return out


def _range(sample: Array) -> tuple[float, float]:
    """Return the range that buckets should cover: all but far outliers."""
    sample.sort()
    tail = sample.size // 32
    low, high = float(sample[tail]), float(sample[-1 - tail])
    margin = 0.4 * (high - low)
    return low - margin, high + margin
