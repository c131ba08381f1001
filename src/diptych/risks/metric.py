"""The risk of a Mahalanobis metric: the mean loss of all pairs, which should be near within a class and far across.

The metric is M_W(x, x') = (x - x')' W (x - x') with W positive semidefinite, packed into a vector (``sets.pack``).
Constants: ``docs/theory/metric-sensitivity.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.quadratic import QuadraticSums
from diptych.losses import Loss
from diptych.risks.base import Rows, check_pairs
from diptych.risks.certificate import Certificate
from diptych.sets import PSDFrobeniusBall, PSDTraceBall, pack, packed_size, unpack
from diptych.spec import Adjacency, TableSize
from diptych.spec.budget import is_number

Array = NDArray[np.float64]

UNIT = 2.0**-53
MOST_RECORDS = 20_000
ROUNDED = 1e-6  # of the reach: the width over which the kink of a hinge is rounded off


class MetricTable:
    """Rows in the unit ball, of any number of classes."""

    def __init__(self, X: Array, codes: NDArray[np.int64]) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.codes = np.ascontiguousarray(codes, dtype=np.int64)
        self.n: int = self.X.shape[0]
        self.d: int = self.X.shape[1]

    @cached_property
    def by_class(self) -> tuple[Array, NDArray[np.int64]]:
        """Rows and classes, sorted by class."""
        order = np.argsort(self.codes, kind="stable")
        return np.ascontiguousarray(self.X[order]), self.codes[order]

    def size(self, adjacency: Adjacency) -> TableSize:  # noqa: ARG002
        """Return the number of records: no constant depends on how many are in which class."""
        return TableSize(self.n)

    def take(self, rows: Rows) -> MetricTable:
        """Return the table of these records."""
        return MetricTable(self.X[rows], self.codes[rows])


@dataclass(frozen=True)
class MetricRisk:
    """R(W) = mean over pairs of l(s (offset - M_W)) + (lambda/2) ||W||_F^2, s = 1 within a class and -1 across.

    With ``Logistic()`` and offset 1 it is Example 1 of Xue, Yang, Huai and Wang (2021), with ``Hinge()`` and offset 0
    problem (11) of Yang, Lei, Lyu and Ying (2021).

    Parameters
    ----------
    loss
        A pair loss whose slope keeps its sign. The kink of a hinge is rounded off over a millionth of the margins'
        range, so that rounding errors cannot tip many pairs at once.
    regularization
        lambda >= 0.
    constraint
        The set that holds W.
    adjacency
        Which tables are neighbours.
    diameter
        Of the ball that holds the rows; 2 for the unit ball.
    offset
        The squared distance that should separate near from far.
    """

    loss: Loss
    regularization: float = 0.0
    constraint: PSDFrobeniusBall | PSDTraceBall = field(default_factory=lambda: PSDFrobeniusBall(1.0))
    adjacency: Adjacency = Adjacency.REPLACE
    diameter: float = 2.0
    offset: float = 1.0

    released = "the matrix of a Mahalanobis metric"

    def __post_init__(self) -> None:
        if not 0 <= self.regularization < math.inf:
            raise ValueError(f"regularization must be a finite number, 0 or above; got {self.regularization!r}.")
        if not (is_number(self.offset) and 0 <= self.offset <= 1e9):
            raise ValueError(f"offset must be a number from 0 to 1e9; got {self.offset!r}.")
        check_pairs(self.loss, self.adjacency)
        if not self.loss.one_signed(self.reach):
            raise ValueError(
                f"loss={self.loss.name!r} does not suit a metric: it would push near pairs apart again; "
                "use 'logistic', 'hinge' or 'smoothed-hinge'."
            )

    @cached_property
    def reach(self) -> float:
        """The largest margin, in size, that any W of the set can give a pair."""
        return max(self.offset, self.constraint.radius * self.diameter**2 - self.offset)

    @cached_property
    def curve(self) -> Loss:
        """The loss that is computed: a hinge gets its kink rounded off."""
        return self.loss.rounded(ROUNDED * max(1.0, self.reach))

    def dimension(self, features: int) -> int:
        """d(d+1)/2."""
        return packed_size(features)

    def start(self, features: int) -> Array:
        """Return the multiple of the identity on the border of the set: the Euclidean metric."""
        return self.constraint.project(pack(self.constraint.radius * np.eye(features)))

    def value(self, w: Array, table: MetricTable) -> float:
        """R(W) of a packed W."""
        pairs = 0.5 * table.n * (table.n - 1.0)
        return self._sums(w, table).total() / pairs + 0.5 * self.regularization * float(w @ w)

    def gradient(self, w: Array, table: MetricTable) -> Array:
        """The packed gradient at a packed W."""
        pairs = 0.5 * table.n * (table.n - 1.0)
        return pack(self._sums(w, table).gradient()) / pairs + self.regularization * w

    def _sums(self, w: Array, table: MetricTable) -> QuadraticSums:
        return QuadraticSums(self.curve, self.offset, *table.by_class, unpack(w))

    def confined(self, size: TableSize, travel: float) -> MetricRisk:  # noqa: ARG002
        """Return the risk itself: its set is bounded."""
        return self

    @property
    def span(self) -> float:
        """The radius of the set."""
        return self.constraint.radius

    def stride(self, size: TableSize) -> float:  # noqa: ARG002
        """The radius over L: pairs that agree turn W round in about one step per unit of their squared distance."""
        return self.constraint.radius / self.curve.slope_bound(self.reach)

    @property
    def most_records(self) -> float:
        """20 000: 2 10^8 pairs a gradient."""
        return MOST_RECORDS

    def newest(self, w: Array, table: MetricTable, t: int) -> Array:
        """Return the packed, unregularised gradient of record t against all earlier ones, each pair with weight 1/t."""
        apart = table.X[:t] - table.X[t]
        sign = np.where(table.codes[:t] == table.codes[t], 1.0, -1.0)
        squares = np.einsum("ij,ij->i", apart @ unpack(w), apart)
        pulls = -sign * self.curve.slope(sign * (self.offset - squares)) / t
        return pack(apart.T @ (pulls[:, None] * apart))

    def mass(self, size: TableSize) -> float:  # noqa: ARG002
        """1: the weights of all pairs sum to it."""
        return 1.0

    def pair_share(self, size: TableSize) -> float:
        """2/n: one record is in n - 1 of the n(n-1)/2 pairs."""
        return 2.0 / size.n

    def pair_bound(self) -> float:
        """Return the most, in units of D^2, by which replacing one record moves a pair's gradient (Lemmas 1 and 2).

        L if the pair stays near or far; L_near + L_far if a label may change, too.
        """
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            return self.curve.slope_bound(self.reach)
        farthest = self.constraint.radius * self.diameter**2
        near, far = np.abs(self.curve.slope(np.array([self.offset - farthest, -self.offset])))
        return float(near + far)

    def certificate(self, size: TableSize, features: int = 1, tilt: float = 0.0) -> Certificate:  # noqa: ARG002
        """Derive the constants for every table of this public size and number of features; they hold on all of the set.

        The certificate's ``gradient_error`` is that of Lemma 4.
        """
        square = self.diameter**2
        slope = self.curve.slope_bound(self.reach)
        bend = self.curve.curvature_bound(self.reach)
        margin_error = (8.0 * features + 32.0) * UNIT * self.constraint.radius * square
        margin_error += 8.0 * UNIT * (self.offset + self.loss.margin)
        error = (
            self.curve.modulus(margin_error, self.reach) + (2.0 * size.n + 4.0 * features + 32.0) * UNIT * slope
        ) * square
        return Certificate(
            adjacency=self.adjacency,
            size=size,
            radius=self.constraint.radius,
            lipschitz=slope * square,
            pair_lipschitz=slope * square,
            smoothness=self.curve.curvature_bound(math.inf) * square**2 + self.regularization,
            strong_convexity=self.regularization,
            gradient_sensitivity=self.pair_bound() * square * self.pair_share(size),
            gradient_error=error + 4.0 * UNIT * self.regularization * self.constraint.radius,
            curvature_share=bend * square**2 * self.pair_share(size),
            partners=size.n - 1,
            one_signed=True,
            differentiable=self.loss.differentiable,
            twice_differentiable=self.loss.twice_differentiable,
            holder=self.curve.holder(self.reach) * square ** (1.0 + self.curve.holder_exponent),
            holder_exponent=self.curve.holder_exponent,
        )
