"""Random batches of records: subsets of a fixed size, subsets of every class, and one coin a record (Poisson).

The law is the one that ``diptych.accounting`` is asked about. Subsets are exact, given uniform bits; coins are tossed
by the gaps between heads, in floating point. Nothing here looks at a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.noise.bits import BitSource
from diptych.noise.floating import uniform

Places = NDArray[np.int32]
Starts = NDArray[np.int64]
Halves = NDArray[np.uint32]

MOST_RECORDS = 2**31 - 1


class Batches(NamedTuple):
    """Batch k holds ``rows[starts[k] : starts[k + 1]]``."""

    rows: Places
    starts: Starts


class Sampler(Protocol):
    """Draws batches, each independent of all others."""

    def draw(self, count: int, source: BitSource) -> Batches:
        """Return the next batches."""
        ...


@dataclass(frozen=True)
class Subsets:
    """From each group of records a subset of that size, uniform among all, independent of the other groups.

    Partial shuffles (Fisher and Yates) of an array that is never put back in order: whatever order it starts in, its
    first places hold a uniform subset afterwards.
    """

    groups: tuple[Places, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, n: int, size: int) -> Subsets:
        """Draw from the records 0 ... n-1."""
        return cls.within([np.arange(n)], [size])

    @classmethod
    def within(cls, groups: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> Subsets:
        """Draw from each of these groups of records."""
        if any(not 1 <= size <= len(group) <= MOST_RECORDS for group, size in zip(groups, sizes, strict=True)):
            raise ValueError("sizes of batches must be from 1 to the number of records of their group.")
        return cls(tuple(np.array(group, dtype=np.int32) for group in groups), tuple(sizes))

    def draw(self, count: int, source: BitSource) -> Batches:
        """Return the next batches, group after group within each."""
        total = sum(self.sizes)
        rows, offset = np.empty((count, total), dtype=np.int32), 0
        for group, size in zip(self.groups, self.sizes, strict=True):
            _fill(group, rows[:, offset : offset + size], source)
            offset += size
        return Batches(rows.ravel(), np.arange(count + 1, dtype=np.int64) * total)


@nb.njit(nogil=True, cache=True)
def _shuffle(group: Places, out: Places, halves: Halves, done: int) -> tuple[int, int]:
    """Go on shuffling at place ``done`` of all batches, until the bits run out. Return places and halves used.

    Numbers below b come from Lemire's (2019) multiplication, exactly uniform.
    """
    count, size = out.shape
    n, at = group.size, 0
    for place in range(done, count * size):
        k = place % size
        bound = np.uint64(n - k)
        start = at
        while True:
            if at == halves.size:
                return place, start
            product = np.uint64(halves[at]) * bound
            at += 1
            low = product & np.uint64(0xFFFFFFFF)
            if low >= bound or low >= (np.uint64(0x100000000) - bound) % bound:
                break
        j = k + np.int64(product >> np.uint64(32))
        chosen = group[j]
        group[j] = group[k]
        group[k] = chosen
        out[place // size, k] = chosen
    return count * size, at


def _fill(group: Places, out: Places, source: BitSource) -> None:
    """Shuffle on; a number whose bits ran out is drawn again from the same bits and more, as in ``lattice``."""
    need, done = out.size, 0
    halves = source.words(need // 2 + need // 128 + 8).view(np.uint32)
    while True:
        done, used = _shuffle(group, out, halves, done)
        if done == need:
            return
        halves = np.concatenate((halves[used:], source.words(need - done + 8).view(np.uint32)))


@dataclass(frozen=True)
class Coins:
    """Every record of n with probability ``rate``, independent of the others: batches of random size."""

    n: int
    rate: float

    def draw(self, count: int, source: BitSource) -> Batches:
        """Return the next batches: all coins in one row, in which the gaps between heads have a geometric law."""
        trials = count * self.n
        expected = trials * self.rate
        heads, last = [], -1
        while last < trials:
            more = int((trials - last) * self.rate + 6.0 * np.sqrt(expected) + 16.0)
            with np.errstate(divide="ignore"):
                gaps = np.log(uniform(more, source)) / np.log1p(-self.rate)
            heads.append(last + np.cumsum(1 + np.minimum(gaps, 2.0 * trials).astype(np.int64)))
            last = int(heads[-1][-1])
        places = np.concatenate(heads)
        places = places[: np.searchsorted(places, trials)]
        starts = np.searchsorted(places, np.arange(count + 1, dtype=np.int64) * self.n)
        return Batches((places % self.n).astype(np.int32), starts.astype(np.int64))
