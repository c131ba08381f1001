"""What algorithms ask of a risk and of a table, whichever pairs it sums over."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss
from diptych.risks.certificate import Certificate
from diptych.sets import ConvexSet
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Table(Protocol):
    """A private table: n records of d features, with a label each."""

    @property
    def n(self) -> int:
        """How many records."""
        ...

    @property
    def d(self) -> int:
        """How many features."""
        ...

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class of each record, as a number."""
        ...

    def size(self, adjacency: Adjacency) -> TableSize:
        """Return what this adjacency makes public of the table's sizes."""
        ...

    def take(self, rows: Rows) -> Self:
        """Return the table of these records."""
        ...


T_contra = TypeVar("T_contra", bound=Table, contravariant=True)


class PairRisk(Protocol[T_contra]):
    """A regularised mean of pair losses over a convex set, with the constants that follow."""

    @property
    def loss(self) -> Loss:
        """The pair loss."""
        ...

    @property
    def regularization(self) -> float:
        """Lambda of (lambda/2) ||w||^2."""
        ...

    @property
    def constraint(self) -> ConvexSet:
        """The set that holds w."""
        ...

    @property
    def adjacency(self) -> Adjacency:
        """Which tables are neighbours."""
        ...

    @property
    def released(self) -> str:
        """What w is, as a guarantee names it."""
        ...

    def dimension(self, features: int) -> int:
        """Return how many numbers w has."""
        ...

    def start(self, features: int) -> Array:
        """Return a public point of the set from which to descend."""
        ...

    def gradient(self, w: Array, table: T_contra) -> Array:
        """Return the gradient at w (for a loss with a kink, a subgradient)."""
        ...

    def value(self, w: Array, table: T_contra) -> float:
        """Return the risk at w."""
        ...

    def certificate(self, size: TableSize, features: int = 1, tilt: float = 0.0) -> Certificate:
        """Derive the constants for every table of this public size; an infinite tilt: on all of the set."""
        ...

    def confined(self, size: TableSize, travel: float) -> Self:
        """Return the risk on a bounded part of its set: one that holds the minimiser or what ``travel`` leads to."""
        ...

    @property
    def span(self) -> float:
        """A length that useful parameters have, for default schedules."""
        ...

    def stride(self, size: TableSize) -> float:
        """Return a step size that suits tables of this size, for default schedules."""
        ...

    @property
    def most_records(self) -> float:
        """How many records a gradient can have before random parts of the table take turns."""
        ...

    def newest(self, w: Array, table: T_contra, t: int) -> Array:
        """Return the unregularised gradient of record t against all earlier ones, each pair with weight 1/t."""
        ...

    def mass(self, size: TableSize) -> float:
        """Return the most that the weights of all pairs sum to."""
        ...

    def pair_share(self, size: TableSize) -> float:
        """Return the most that the weights of the pairs that one record is in sum to."""
        ...
