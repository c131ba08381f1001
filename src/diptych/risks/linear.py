"""What risks of linear scores share, whether they sum over records or over pairs: set, radius, value and gradient."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss
from diptych.risks.certificate import Certificate
from diptych.risks.table import RowTable
from diptych.sets import ConvexSet, Free, L2Ball
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=RowTable)

UNIT = 2.0**-53
SMALLEST_RADIUS, LARGEST_RADIUS = 1e-9, 1e9


@dataclass(frozen=True)
class LinearRisk(ABC, Generic[T]):
    """R(w) = weighted sum of losses of scores + (lambda/2) ||w||^2 over a set."""

    loss: Loss
    regularization: float = 0.0
    constraint: ConvexSet = field(default_factory=Free)
    adjacency: Adjacency = Adjacency.REPLACE

    def __post_init__(self) -> None:
        if not 0 <= self.regularization < math.inf:
            raise ValueError(f"regularization must be a finite number, 0 or above; got {self.regularization!r}.")

    @abstractmethod
    def at(self, w: Array, table: T, tilt: Array | None = None) -> LocalLinear:
        """Return the risk at w: value, gradient and Hessian products that share one set of scores.

        With a ``tilt`` b, of the risk plus b.w.
        """

    @abstractmethod
    def mass(self, size: TableSize) -> float:
        """Return the most that the weights of all terms sum to."""

    @abstractmethod
    def pull(self) -> float:
        """Return the most, over all terms, of -l'(t) times the score: the work by which one holds w away from 0."""

    @abstractmethod
    def push(self) -> float:
        """Return a bound of one term's gradient at 0."""

    def value(self, w: Array, table: T) -> float:
        """R(w)."""
        return self.at(w, table).value()

    def gradient(self, w: Array, table: T) -> Array:
        """The gradient at w (for a loss with a kink, a subgradient)."""
        return self.at(w, table).gradient()

    def minimiser_radius(self, size: TableSize, tilt: float = 0.0) -> float:
        """Return a bound on the norm of every minimiser, of the risk plus b.w with ||b|| <= ``tilt`` (Lemma 4)."""
        if self.regularization == 0 or math.isinf(tilt):
            return self.constraint.radius
        half = 0.5 * tilt / self.regularization
        pull = half + math.sqrt(half * half + self.mass(size) * self.pull() / self.regularization)
        push = (self.mass(size) * self.push() + tilt) / self.regularization
        return min(self.constraint.radius, pull, push)

    def dimension(self, features: int) -> int:
        """One number a feature."""
        return features

    def start(self, features: int) -> Array:
        """Return the origin."""
        return np.zeros(features)

    def confined(self, size: TableSize, travel: float) -> Self:
        """Return the risk on a ball that holds every minimiser, or what paths of that length from 0 lead to."""
        radius = max(SMALLEST_RADIUS, min(self.minimiser_radius(size), travel))
        return (
            self if radius >= min(self.constraint.radius, LARGEST_RADIUS) else replace(self, constraint=L2Ball(radius))
        )

    @property
    @abstractmethod
    def span(self) -> float:
        """A length at which typical scores reach where the loss bends."""

    @property
    def most_records(self) -> float:
        """Any number: a gradient costs two passes over the rows."""
        return math.inf

    def _bent(self, certificate: Certificate) -> Certificate:
        """Return the certificate with errors in a ball counted for more, because there minimisers bend."""
        if not math.isfinite(self.constraint.radius):
            return certificate
        return replace(certificate, gradient_error=certificate.gradient_error * (1.0 + certificate.bending))


class LocalLinear(ABC):
    """A risk of linear scores near one w: its scores are computed once, and all derivatives share them."""

    def __init__(self, risk: LinearRisk[Any], w: Array, table: Any, tilt: Array | None = None) -> None:
        self.risk, self.w, self.table = risk, np.asarray(w, dtype=np.float64), table
        self.tilt = np.zeros_like(self.w) if tilt is None else tilt

    @abstractmethod
    def _loss(self) -> float:
        """Return the weighted sum of the losses."""

    @abstractmethod
    def _data_gradient(self) -> Array:
        """Return its gradient."""

    @abstractmethod
    def hessian_product(self, v: Array) -> Array:
        """The Hessian of R at w, times v."""

    @abstractmethod
    def curvature_model(self) -> Array:
        """Return a positive semidefinite model of the unregularised Hessian."""

    @cached_property
    def _terms(self) -> tuple[float, float, float]:
        ridge = 0.5 * self.risk.regularization * float(self.w @ self.w)
        return self._loss(), ridge, float(self.tilt @ self.w)

    def value(self) -> float:
        """R(w)."""
        return sum(self._terms)

    def magnitude(self) -> float:
        """Return the size of the terms of R(w), which its rounding is relative to."""
        return sum(map(abs, self._terms))

    def gradient(self) -> Array:
        """The gradient of R at w."""
        return self._gradient

    @cached_property
    def _gradient(self) -> Array:
        ridge = self.risk.regularization * self.w + self.tilt
        return np.asarray(self._data_gradient() + ridge)
