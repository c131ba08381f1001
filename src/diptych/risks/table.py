"""A private table as pairs see it: rows, and which of them are positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import combine, gram, scores
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class PairTable:
    """Rows in the unit ball with a label each. Risks ask it for scores and for weighted sums of rows only."""

    def __init__(self, X: Array, positive: Mask) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.positive = np.ascontiguousarray(positive, dtype=np.bool_)
        self.n: int = self.X.shape[0]
        self.d: int = self.X.shape[1]
        self.positives = int(np.count_nonzero(self.positive))
        self.negatives = self.n - self.positives

    @property
    def one_class(self) -> bool:
        """Whether there is no pair at all."""
        return self.positives == 0 or self.negatives == 0

    @property
    def codes(self) -> NDArray[np.int64]:
        """1 for a positive record, 0 for a negative one."""
        return self.positive.astype(np.int64)

    def take(self, rows: NDArray[np.intp]) -> PairTable:
        """Return the table of these records."""
        return PairTable(self.X[rows], self.positive[rows])

    def size(self, adjacency: Adjacency) -> TableSize:
        """Return what this adjacency makes public of the table's sizes."""
        return TableSize(self.n, self.positives if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)

    def scores(self, w: Array) -> Array:
        """Xw."""
        return scores(self.X, w)

    def combine(self, weights: Array) -> Array:
        """X'c."""
        return combine(self.X, weights)

    def gram(self, weights: Array) -> Array:
        """X' diag(c) X."""
        return gram(self.X, weights)

    def thin(self, per_class: int) -> PairTable:
        """Return a table of at most about ``per_class`` evenly spaced records of either class."""
        keep = [
            np.flatnonzero(mask)[:: -(-count // per_class)]
            for mask, count in ((self.positive, self.positives), (~self.positive, self.negatives))
        ]
        return self.take(np.sort(np.concatenate(keep)))
