"""How far apart one changed record can carry two runs along one sequence of records: two recursions, the worst record.

Step s takes record i_s (from 0) against the s earlier ones. A pair of records that do not pair (one record with
itself; two of one class, where classes are known) carries nothing. Of the earlier ones, a share q_s pairs with i_s;
record r makes up a share y_s of them, which is all of q_s where i_s = r itself. The recursions, and
why they bound distances: ``docs/theory/sgd-output.md``. Differences of sums get their rounding added; the results are
widened by a part in 10^6, which is more than all other rounding.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import together

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

WIDER = 1.0 + 1e-6
UNSURE = 2.0**-50  # of a sum: its rounding
GRAIN = 2.0**-10  # of the steps so far: how many go in one block
CONTRACTED = 0.02  # of a distance: what contraction may take off in a block
WORK = 1e8  # blocks, beyond which they get longer


class Law(NamedTuple):
    """One step takes a distance D to sqrt((keep D)^2 + (kink (q - y))^2 + blur) + kick y + slack."""

    keep: float
    kink: float
    blur: float
    kick: float
    slack: float


class Sequence:
    """A sequence of records with what the recursions need of it: a function of indices and of public classes alone.

    ``classes`` are 0 or 1 for each of the n records where only pairs of one of each carry anything, else None.
    """

    def __init__(self, draws: Rows, n: int, classes: Rows | None = None) -> None:
        self.draws, self.n = draws, n
        self.kinds = np.zeros(n, dtype=np.intp) if classes is None else classes.astype(np.intp)
        self.across = classes is not None
        self.shares = _shares(draws, n, self.kinds, self.across)
        self.order = np.argsort(draws, kind="stable")  # where each record is drawn, record by record
        self.starts = np.searchsorted(draws[self.order], np.arange(n + 1))

    def worst_mean(self, law: Law) -> float:
        """Return the largest mean of D_1 = 0, D_2, ..., D_T over records; D stays 0 until the record is drawn."""
        if law.kink == 0.0 and law.blur == 0.0:
            return self._linear(law) * WIDER / self.draws.size
        sums = _prefix_sums(self.draws, self.shares, self.kinds, 7 if self.across else 4)
        grain = max(GRAIN, self.n * np.log1p(self.draws.size) / WORK)
        contracted = max(CONTRACTED, self.n * self.draws.size / (20.0 * WORK))
        longest = contracted / (1.0 - law.keep) if law.keep < 1.0 else np.inf
        edges = np.linspace(0, self.n, 9).astype(int)
        jobs = [partial(self._kinked, law, sums, grain, longest, a, b) for a, b in pairwise(edges.tolist())]
        return max(together(jobs, 8 * self.draws.size)) * WIDER / self.draws.size

    def _linear(self, law: Law) -> float:
        """The recursion without a kink is linear: each kick leaves its own trace in the sum, exactly."""
        left = np.arange(self.draws.size - 1, 0, -1.0)  # distances after step s = 1, 2, ...
        carried = left if law.keep == 1.0 else -np.expm1(left * np.log(law.keep)) / (1.0 - law.keep)
        carried = np.append(0.0, carried)
        worst = _linear(self.draws, self.shares, self.kinds, self.across, self.order, self.starts, carried)
        return float(law.kick * worst + law.slack * carried.sum())

    def _kinked(self, law: Law, sums: Array, grain: float, longest: float, first: int, last: int) -> float:
        walk = (self.order, self.starts, self.shares, self.kinds, self.across, sums)
        return float(_kinked(*walk, law, grain, longest, self.draws.size, first, last))


@nb.njit(nogil=True, cache=True)
def _shares(draws: Rows, n: int, kinds: Rows, across: bool) -> Array:
    """q_s."""
    counts, by_kind, out = np.zeros(n), np.zeros(2), np.zeros(draws.size)
    for s in range(1, draws.size):
        counts[draws[s - 1]] += 1.0
        by_kind[kinds[draws[s - 1]]] += 1.0
        new = draws[s]
        out[s] = (by_kind[1 - kinds[new]] if across else s - counts[new]) / s
    return out


@nb.njit(nogil=True, cache=True)
def _prefix_sums(draws: Rows, shares: Array, kinds: Rows, width: int) -> Array:
    """Row s: sums over steps up to s of q^2; and for new records of class 0 and 1: of 1/s, q/s and 1/s^2 (Neumaier)."""
    out, total, lost, term = np.zeros((draws.size, width)), np.zeros(width), np.zeros(width), np.zeros(width)
    for s in range(1, draws.size):
        q, one = shares[s], 1.0 / s
        term[:] = 0.0
        term[0] = q * q
        base = 1 + 3 * kinds[draws[s]]
        term[base], term[base + 1], term[base + 2] = one, q * one, one * one
        for k in range(width):
            new = total[k] + term[k]
            if total[k] >= term[k]:
                lost[k] += (total[k] - new) + term[k]
            else:
                lost[k] += (term[k] - new) + total[k]
            total[k] = new
            out[s, k] = new + lost[k]
    return out


@nb.njit(nogil=True, cache=True)
def _linear(
    draws: Rows, shares: Array, kinds: Rows, across: bool, order: Rows, starts: Rows, carried: Array
) -> float:  # fmt: skip
    """The largest sum over steps of carried_s y_s."""
    T = draws.size
    sums = np.zeros((T, 2))
    for s in range(1, T):
        sums[s] = sums[s - 1]
        sums[s, kinds[draws[s]]] += carried[s] / s
    worst = 0.0
    for r in range(starts.size - 1):
        partner = 1 - kinds[r] if across else 0
        total, count, last = 0.0, 0, 0
        for k in range(starts[r], starts[r + 1]):
            at = order[k]
            if count > 0:
                total += count * (sums[at - 1, partner] - sums[last, partner])
            total += carried[at] * shares[at]
            count, last = count + 1, at
        total += count * (sums[T - 1, partner] - sums[last, partner])
        worst = max(worst, total)
    return worst


@nb.njit(nogil=True, cache=True)
def _kinked(
    order: Rows, starts: Rows, shares: Array, kinds: Rows, across: bool, sums: Array, law: Law, grain: float,
    longest: float, T: int, first: int, last: int,
) -> float:  # fmt: skip
    """The largest sum of D over records first ... last-1, block by block."""
    worst = 0.0
    for r in range(first, last):
        partner = 1 - kinds[r] if across else 0
        D, total, count, done = 0.0, 0.0, 0, 0
        for k in range(starts[r], starts[r + 1] + 1):
            at = order[k] if k < starts[r + 1] else T
            while count > 0 and done + 1 < at:
                block = max(1, int(min(grain * (done + 1), longest)))
                end = min(at - 1, done + block)
                D, most = _block(D, count, done, end, partner, sums, law)
                total += (end - done) * most
                done = end
            if at < T:
                if at > 0:
                    D = law.keep * D + law.kick * shares[at] + law.slack
                    total += D
                count, done = count + 1, at
        worst = max(worst, total)
    return worst


@nb.njit(nogil=True, cache=True)
def _block(D: float, count: int, done: int, end: int, partner: int, sums: Array, law: Law) -> tuple[float, float]:
    """Bound D after steps done+1 ... end, none of them the record's own, and every D on the way.

    Composed, the steps keep less than sqrt(keep^2m D^2 + sum of squared kinks) + sum of kicks: adding a kick after a
    kink instead of before it can only raise the result.
    """
    steps, base = end - done, 1 + 3 * partner
    shares = sums[end, base] - sums[done, base]  # of 1/s, where the new record pairs with it
    shares += UNSURE * sums[end, base]
    squares = sums[end, 0] - sums[done, 0]
    squares -= 2.0 * count * (sums[end, base + 1] - sums[done, base + 1])
    squares += count * count * (sums[end, base + 2] - sums[done, base + 2])
    size = sums[end, 0] + 2.0 * count * sums[end, base + 1] + count * count * sums[end, base + 2]
    spread = law.kink**2 * (max(0.0, squares) + UNSURE * size) + steps * law.blur
    pushed = law.kick * count * shares + steps * law.slack
    at_end = np.sqrt((law.keep**steps * D) ** 2 + spread) + pushed
    return at_end, at_end if steps == 1 else np.sqrt(D**2 + spread) + pushed
