"""Coins, dice and shuffles of exact rational probabilities, in whole numbers.

Canonne, Kamath and Steinke (2020), Algorithm 1, without a bound on the size of the numbers; ``noise.lattice`` has the
compiled one for small numbers.
"""

from __future__ import annotations

from fractions import Fraction

from diptych.noise import BitSource


def below(m: int, source: BitSource) -> int:
    """Draw uniformly from 0 ... m-1."""
    bits = (m - 1).bit_length()
    count = max(1, -(-bits // 64))
    mask = (1 << bits) - 1
    while True:
        drawn = int.from_bytes(source.words(count).tobytes(), "little") & mask
        if drawn < m:
            return drawn


def coin(probability: Fraction, source: BitSource) -> bool:
    """Show True with exactly this probability."""
    return below(probability.denominator, source) < probability.numerator


def decay(x: Fraction, source: BitSource) -> bool:
    """Show True with probability exp(-x), for x >= 0."""
    while x > 1:  # exp(-x) = exp(-1) exp(-(x - 1))
        if not _decay_below_one(Fraction(1), source):
            return False
        x -= 1
    return _decay_below_one(x, source)


def _decay_below_one(x: Fraction, source: BitSource) -> bool:
    k = 1
    while coin(x / k, source):
        k += 1
    return k % 2 == 1


def shuffled(n: int, source: BitSource) -> list[int]:
    """Return a uniform random order of 0 ... n-1 (Fisher and Yates)."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = below(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order
