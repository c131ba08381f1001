"""Batches of pairs of neighbouring tables, and random moves in their space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.risks import PairTable
from diptych.spec import Adjacency

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass
class Neighbours:
    """Tables of n rows in the unit ball, the last of which differs in the neighbour, and a point w for each.

    ``X`` (batch, n + 1, d): rows 0 ... n-1 are the table, rows 0 ... n-2 and n its neighbour.
    ``positive`` (batch, n + 1): the labels, in the same order.
    """

    X: Array
    positive: Mask
    w: Array

    @classmethod
    def random(
        cls, rng: np.random.Generator, batch: int, n: int, d: int, radius: float, adjacency: Adjacency, positives: int
    ) -> Neighbours:
        """Draw tables at random: labels at random where they are private, else ``positives`` of them."""
        X = into_ball(rng.normal(size=(batch, n + 1, d)) * 2.0, 1.0)
        w = into_ball(rng.normal(size=(batch, d)) * radius, radius)
        if adjacency is Adjacency.REPLACE:
            share = rng.random((batch, 1))
            return cls(X, rng.random((batch, n + 1)) < share, w)
        positive = np.zeros((batch, n + 1), dtype=np.bool_)
        positive[:, :positives] = True
        flip = rng.random(batch) < 0.5  # the changed record is positive in half of them
        positive[flip] = positive[flip][:, ::-1]
        positive[flip, :-1] = np.arange(n)[None, :] >= n - positives
        positive[:, -1] = positive[:, -2]
        return cls(X, positive, w)

    def moved(self, rng: np.random.Generator, size: Array, radius: float, adjacency: Adjacency) -> Neighbours:
        """Return a random change of every pair: some rows, some labels where they are private, and w."""
        batch, rows, _ = self.X.shape
        which = rng.random((batch, rows, 1)) < rng.choice([0.2, 0.5, 1.0], size=(batch, 1, 1))
        X = into_ball(self.X + which * size[:, None, None] * rng.normal(size=self.X.shape), 1.0)
        copy = rng.random(batch) < 0.1  # rows tend to coincide at the worst case
        source, target = rng.integers(rows, size=(2, batch))
        X[copy, target[copy]] = X[copy, source[copy]]
        mirror = rng.random(batch) < 0.05
        X[mirror, target[mirror]] = -X[mirror, source[mirror]]
        w = into_ball(self.w + size[:, None] * radius * rng.normal(size=self.w.shape), radius)
        positive = self.positive.copy()
        if adjacency is Adjacency.REPLACE:
            flip = rng.random(batch) < 0.3
            positive[flip, target[flip]] ^= True
        return Neighbours(X, positive, w)

    def sides(self) -> tuple[tuple[Array, Mask], tuple[Array, Mask]]:
        """Rows and labels of the tables, and of their neighbours."""
        kept = np.r_[0 : self.X.shape[1] - 2, self.X.shape[1] - 1]
        return (self.X[:, :-1], self.positive[:, :-1]), (self.X[:, kept], self.positive[:, kept])

    def tables(self, k: int) -> tuple[PairTable, PairTable]:
        """Return the k-th pair as tables."""
        (X, positive), (other, labels) = self.sides()
        return PairTable(X[k], positive[k]), PairTable(other[k], labels[k])

    def keep(self, better: Mask, other: Neighbours) -> None:
        """Replace the pairs where ``better`` holds by those of ``other``."""
        self.X[better], self.positive[better], self.w[better] = other.X[better], other.positive[better], other.w[better]


def into_ball(rows: Array, radius: float) -> Array:
    """Project vectors onto the ball."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))
