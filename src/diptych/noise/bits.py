"""Where random bits come from: the operating system, or a seed for experiments.

All samplers draw from a ``BitSource``, so a seeded run takes the very path of a private one.
"""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class BitSource(Protocol):
    """A supply of independent uniform 64-bit words."""

    @property
    def seeded(self) -> bool:
        """Whether the words can be reproduced: then nothing drawn from them is private."""
        ...

    def words(self, count: int) -> Words:
        """Return the next ``count`` words."""
        ...


class SecureBits:
    """Bits of the operating system's cryptographic generator."""

    seeded = False

    def words(self, count: int) -> Words:
        """Return fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededBits:
    """Reproducible bits, for experiments and tests only."""

    seeded = True

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def words(self, count: int) -> Words:
        """Return the next words of the stream."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)


def bit_source(random_state: Any) -> BitSource:
    """Return secure bits for None, seeded ones for anything that scikit-learn takes as a random state."""
    if random_state is None:
        return SecureBits()
    if isinstance(random_state, bool):
        pass
    elif isinstance(random_state, Integral) and int(random_state) >= 0:
        return SeededBits(int(random_state))
    elif isinstance(random_state, np.random.Generator):
        return SeededBits(int(random_state.integers(2**63)))
    elif isinstance(random_state, np.random.RandomState):
        return SeededBits(int(random_state.randint(2**31)))
    raise ValueError(
        "random_state must be None (private noise), an integer >= 0, or a NumPy generator "
        f"(reproducible, hence not private); got {random_state!r}."
    )


def permutation(n: int, source: BitSource) -> NDArray[np.intp]:
    """Return a random order of 0 ... n-1, uniform but for ties of words, of probability below n^2/2^65."""
    return np.argsort(source.words(n), kind="stable")


def draw_indices(n: int, count: int, source: BitSource) -> NDArray[np.intp]:
    """Return ``count`` independent draws from 0 ... n-1, uniform but for a bias below n/2^64."""
    return (source.words(count) % np.uint64(n)).astype(np.intp)
