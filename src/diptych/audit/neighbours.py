"""Batches of pairs of neighbouring tables, and random moves in their space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.risks import PairTable
from diptych.spec import Adjacency

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass
class Neighbours:
    """Tables of n rows in the unit ball, the last of which differs in the neighbour, and a point w for each.

    ``X`` (batch, n + 1, d): rows 0 ... n-1 are the table, rows 0 ... n-2 and n its neighbour, or rows 0 ... n-2 if
    records come and go.
    ``codes`` (batch, n + 1): the classes, in the same order; 1 is the positive one.
    """

    X: Array
    codes: Codes
    w: Array
    classes: int = 2
    gone: bool = False

    @classmethod
    def random(
        cls,
        rng: np.random.Generator,
        batch: int,
        n: int,
        d: int,
        radius: float,
        adjacency: Adjacency,
        positives: int,
        classes: int = 2,
        dimension: int | None = None,
    ) -> Neighbours:
        """Draw tables at random, ``positives`` of their labels positive where that is public; with 0, any labels.

        ``w`` has ``dimension`` numbers, by default one a feature.
        """
        X = into_ball(rng.normal(size=(batch, n + 1, d)) * 2.0, 1.0)
        w = into_ball(rng.normal(size=(batch, d if dimension is None else dimension)) * radius, radius)
        within = adjacency is Adjacency.REPLACE_WITHIN_CLASS
        if within and positives:
            codes = np.zeros((batch, n + 1), dtype=np.int64)
            codes[:, :positives] = 1
            flip = rng.random(batch) < 0.5  # the changed record is positive in half of them
            codes[flip] = codes[flip][:, ::-1]
            codes[flip, :-1] = np.arange(n)[None, :] >= n - positives
        else:
            shares = rng.random((batch, 1, classes - 1))
            codes = (rng.random((batch, n + 1, 1)) < shares).sum(axis=2)
        if within:
            codes[:, -1] = codes[:, -2]
        return cls(X, codes, w, classes, adjacency is Adjacency.ADD_REMOVE)

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
        codes = self.codes.copy()
        if adjacency is not Adjacency.REPLACE_WITHIN_CLASS:
            flip = rng.random(batch) < 0.3
            codes[flip, target[flip]] = (codes[flip, target[flip]] + 1) % self.classes
        return Neighbours(X, codes, w, self.classes, self.gone)

    def sides(self) -> tuple[tuple[Array, Codes], tuple[Array, Codes]]:
        """Rows and labels of the tables, and of their neighbours."""
        rows = self.X.shape[1]
        kept = np.arange(rows - 2) if self.gone else np.r_[0 : rows - 2, rows - 1]
        return (self.X[:, :-1], self.codes[:, :-1]), (self.X[:, kept], self.codes[:, kept])

    def tables(self, k: int, kind: Callable[[Array, Any], Any] = PairTable) -> tuple[Any, Any]:
        """Return the k-th pair as tables of that kind."""
        (X, codes), (other, labels) = self.sides()
        return kind(X[k], codes[k]), kind(other[k], labels[k])

    def taken(self, which: NDArray[np.intp]) -> Neighbours:
        """Return some of the pairs, some perhaps more than once."""
        return Neighbours(self.X[which], self.codes[which], self.w[which], self.classes, self.gone)

    def keep(self, better: Mask, other: Neighbours) -> None:
        """Replace the pairs where ``better`` holds by those of ``other``."""
        self.X[better], self.codes[better], self.w[better] = other.X[better], other.codes[better], other.w[better]


def into_ball(rows: Array, radius: float) -> Array:
    """Project vectors onto the ball."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))
