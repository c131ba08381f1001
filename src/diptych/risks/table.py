"""Private tables of rows: with a class each, as pairs see them, or with a number each, as losses of points do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import combine, gram, scores
from diptych.kernels.projections import Block, map_rows
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EXCESS = 2  # times the declared number of records: the most that a table may hold


class RowTable:
    """Rows in a known ball. Risks ask for scores and for weighted sums of rows only."""

    def __init__(self, X: Array) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.n: int = self.X.shape[0]
        self.d: int = self.X.shape[1]

    def scores(self, w: Array) -> Array:
        """Xw."""
        return scores(self.X, w)

    def combine(self, weights: Array) -> Array:
        """X'c."""
        return combine(self.X, weights)

    def gram(self, weights: Array) -> Array:
        """X' diag(c) X."""
        return gram(self.X, weights)


class PairTable(RowTable):
    """Rows in the unit ball with a class each."""

    def __init__(self, X: Array, positive: Mask) -> None:
        super().__init__(X)
        self.positive = np.ascontiguousarray(positive, dtype=np.bool_)
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

    def thin(self, per_class: int) -> PairTable:
        """Return a table of at most about ``per_class`` evenly spaced records of either class."""
        keep = [
            np.flatnonzero(mask)[:: -(-count // per_class)]
            for mask, count in ((self.positive, self.positives), (~self.positive, self.negatives))
        ]
        return self.take(np.sort(np.concatenate(keep)))


class LinearMap(Protocol):
    """A map of rows to fewer dimensions."""

    @property
    def dimension(self) -> int:
        """Of the images."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield what the features are mapped to, some at a time."""
        ...

    def column(self, feature: int) -> Array:
        """Return what one feature is mapped to."""
        ...


class Numbered:
    """What tables of points share: a number a record, and the number of records that is public.

    Parameters
    ----------
    n
        How many records there are.
    y
        One number a row.
    n_public
        For adjacency ``add-remove``: the declared number of records that stands in for the private one, which is at
        most twice as large.
    """

    def __init__(self, n: int, y: Array, n_public: int | None) -> None:
        self.n = n
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.n_public = n_public
        if n_public is not None and n > EXCESS * n_public:
            raise ValueError("n_public is less than half of the number of records; declare a larger one.")

    @property
    def codes(self) -> NDArray[np.int64]:
        """1 for a positive number, else 0."""
        return (self.y > 0).astype(np.int64)

    def size(self, adjacency: Adjacency) -> TableSize:
        """Return what this adjacency makes public of the table's sizes."""
        if adjacency is Adjacency.ADD_REMOVE:
            return TableSize(self._declared())
        within = adjacency is Adjacency.REPLACE_WITHIN_CLASS
        return TableSize(self.n, int(np.count_nonzero(self.y > 0)) if within else None)

    def weight(self, adjacency: Adjacency) -> float:
        """Return the weight of a record in a mean: one over the public number of records."""
        return 1.0 / (self._declared() if adjacency is Adjacency.ADD_REMOVE else self.n)

    def _declared(self) -> int:
        if self.n_public is None:
            raise ValueError(
                "n_public must be declared for adjacency='add-remove', where the number of records is private: a round "
                "number near what is publicly known."
            )
        return self.n_public


class PointTable(RowTable, Numbered):
    """Rows with a number each: 1 or -1 for a class, or a label within the bounds of the risk.

    Parameters
    ----------
    X
        Rows, the column of the intercept among them, no longer than the risk's ``norm``.
    y, n_public
        As of ``Numbered``.
    """

    def __init__(self, X: Array, y: Array, n_public: int | None = None) -> None:
        RowTable.__init__(self, X)
        Numbered.__init__(self, self.n, y, n_public)

    def take(self, rows: NDArray[np.intp]) -> PointTable:
        """Return the table of these records."""
        return PointTable(self.X[rows], self.y[rows], self.n_public)

    def thin(self, per_class: int) -> PointTable:
        """Return a table of at most about twice as many evenly spaced records."""
        return self.take(np.arange(self.n)[:: -(-self.n // (2 * per_class))])

    def mapped(self, phi: LinearMap) -> Array:
        """Return the images of the rows."""
        return map_rows(self.X, phi.blocks(), phi.dimension)


class SparseTable(Numbered):
    """Rows of a sparse matrix with a number each, which are only ever mapped to fewer dimensions.

    Parameters
    ----------
    X
        Rows in the caller's units: compressed sparse rows, which are never copied.
    factors
        What each row is multiplied by, so that it is within the bounds.
    constant
        A last feature that all rows share, for the intercept; 0 for none.
    y, n_public
        As of ``Numbered``.
    """

    def __init__(self, X: Any, factors: Array, constant: float, y: Array, n_public: int | None = None) -> None:
        super().__init__(X.shape[0], y, n_public)
        self.X, self.factors, self.constant = X, factors, constant
        self.d: int = X.shape[1] + (constant > 0.0)

    def mapped(self, phi: LinearMap) -> Array:
        """Return the images of the rows, scaled and with their last feature."""
        out = map_rows(self.X, phi.blocks(), phi.dimension)
        out *= self.factors[:, None]
        if self.constant > 0.0:
            out += self.constant * phi.column(self.d - 1)
        return out
