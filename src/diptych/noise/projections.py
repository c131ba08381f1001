"""Random linear maps to fewer dimensions that keep scalar products nearly: Johnson and Lindenstrauss (1984).

They are drawn without looking at any table and hide nothing: a guarantee must not depend on them
(``docs/theory/jl.md``). A map is drawn block by block from its key, anew whenever it is used, never held as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.projections import Block
from diptych.noise.bits import BitSource

Array = NDArray[np.float64]

MAPS = ("gaussian", "rademacher", "sparse")
FEATURES = 1024  # of a block


@dataclass(frozen=True)
class RandomMap:
    """Phi, of ``dimension`` rows and ``features`` columns, each with a mean square norm of 1.

    Entries are Gaussian, or signs (Achlioptas 2003), over sqrt(dimension); or a column has about sqrt(dimension)
    signs, one in each of as many stretches of its places (Kane and Nelson 2014).
    """

    kind: str
    dimension: int
    features: int
    key: tuple[int, int]

    @classmethod
    def draw(cls, kind: str, dimension: int, features: int, source: BitSource) -> RandomMap:
        """Draw a map of that kind."""
        first, second = source.words(2)
        return cls(kind, dimension, features, (int(first), int(second)))

    def blocks(self) -> Iterator[Block]:
        """Yield the columns, some consecutive ones at a time: the same ones whenever it is asked."""
        for number, start in enumerate(range(0, self.features, FEATURES)):
            yield self._block(number, start, min(FEATURES, self.features - start))

    def back(self, w: Array) -> Array:
        """Phi'w: parameters in all features that give a row the score that w gives its image."""
        out = np.empty(self.features)
        for start, places, values in self.blocks():
            there = values @ w if places.size == 0 else (values * w[places]).sum(axis=1)
            out[start : start + len(values)] = there
        return out

    def column(self, feature: int) -> Array:
        """Return one column."""
        number = feature // FEATURES
        start = number * FEATURES
        _, places, values = self._block(number, start, min(FEATURES, self.features - start))
        out = np.zeros(self.dimension)
        out[places[feature - start] if places.size else slice(None)] = values[feature - start]
        return out

    def _block(self, number: int, start: int, count: int) -> Block:
        words = np.array([0, 0, number, 0], dtype=np.uint64)  # far apart in the stream of the key
        generator = np.random.Generator(np.random.Philox(counter=words, key=np.array(self.key, dtype=np.uint64)))
        k, nowhere = self.dimension, np.empty((count, 0), dtype=np.int32)
        if self.kind == "gaussian":
            values = generator.standard_normal((count, k))
            values /= math.sqrt(k)
            return Block(start, nowhere, values)
        if self.kind == "rademacher":
            return Block(start, nowhere, _signs(generator, (count, k)) / math.sqrt(k))
        stretches = math.ceil(math.sqrt(k))
        edges = np.arange(stretches + 1) * k // stretches
        places = generator.integers(edges[:-1], edges[1:], size=(count, stretches), dtype=np.int32)
        return Block(start, places, _signs(generator, (count, stretches)) / math.sqrt(stretches))


def _signs(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.asarray(2.0 * generator.integers(0, 2, size=shape, dtype=np.int8) - 1.0)
