"""What algorithms ask of a risk and of a table, whichever records or pairs it sums over."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss
from diptych.risks.certificate import Certificate
from diptych.sets import ConvexSet
from diptych.spec import OF_PAIRS, Adjacency, TableSize

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


class Risk(Protocol[T_contra]):
    """A regularised mean of losses of records or pairs over a convex set, with the constants that follow."""

    @property
    def loss(self) -> Loss:
        """The loss of a term."""
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

    def mass(self, size: TableSize) -> float:
        """Return the most that the weights of all terms sum to."""
        ...


@runtime_checkable
class PairRisk(Risk[T_contra], Protocol[T_contra]):
    """A regularised mean of pair losses."""

    def newest(self, w: Array, table: T_contra, t: int) -> Array:
        """Return the unregularised gradient of record t against all earlier ones, each pair with weight 1/t."""
        ...

    def pair_share(self, size: TableSize) -> float:
        """Return the most that the weights of the pairs that one record is in sum to."""
        ...


class Local(Protocol):
    """A risk near one w: value, gradient and Hessian products that share one set of scores."""

    @property
    def w(self) -> Array:
        """Where."""
        ...

    def value(self) -> float:
        """Return the risk at w."""
        ...

    def magnitude(self) -> float:
        """Return the size of the terms of the value, which its rounding is relative to."""
        ...

    def gradient(self) -> Array:
        """Return the gradient at w."""
        ...

    def hessian_product(self, v: Array) -> Array:
        """Return the Hessian at w, times v."""
        ...

    def curvature_model(self) -> Array:
        """Return a positive semidefinite model of the unregularised Hessian."""
        ...


@runtime_checkable
class CurvedRisk(Risk[T_contra], Protocol[T_contra]):
    """A risk of scores that are linear in w, whose minimiser Newton's method finds."""

    @property
    def quadratic(self) -> bool:
        """Whether the curvature model is the Hessian, everywhere the same: one step then solves."""
        ...

    def at(self, w: Array, table: T_contra, tilt: Array | None = None) -> Local:
        """Return the risk at w; with a ``tilt`` b, of the risk plus b.w."""
        ...

    def mean_form(self, table: T_contra) -> tuple[Self, float] | None:
        """Return a free risk and a factor, whose product has this one's free minimiser; None if no term is left."""
        ...

    def push(self) -> float:
        """Return a bound of the unregularised gradient of ``mean_form`` at 0."""
        ...


def check_pairs(loss: Loss, adjacency: Adjacency) -> None:
    """Refuse what pairs cannot do: losses of residuals, and records that come and go."""
    if loss.residual:
        raise ValueError(
            f"loss={loss.name!r} is a loss of residuals, which pairs do not have; use a loss of margins, for example "
            "'logistic'."
        )
    if adjacency not in OF_PAIRS:
        raise ValueError(
            f"adjacency={str(adjacency)!r} does not suit pairs: a record is in as many of them as there are others; "
            f"use {' or '.join(repr(str(one)) for one in OF_PAIRS)}."
        )
