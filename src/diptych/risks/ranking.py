"""The risk of ranking: the mean pair loss of (positive, negative) pairs, regularised."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import PairSums, affine, pair_sums
from diptych.losses import Loss
from diptych.risks.certificate import Certificate
from diptych.risks.table import PairTable
from diptych.sets import ConvexSet, Free, L2Ball
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]

KERNEL_ERROR = 1e-11  # of L times the diameter: docs/theory/pair-kernels.md
UNIT = 2.0**-53
SMALLEST_RADIUS, LARGEST_RADIUS = 1e-9, 1e9


@dataclass(frozen=True)
class RankingRisk:
    """R(w) = (1/N) sum over pairs of l(w.(x_i - x_j)) + (lambda/2) ||w||^2, positives i, negatives j.

    N = n+ n- where labels are public (``replace-within-class``), else N = n^2, so that nothing depends
    on the private class counts (``replace``; the sum over no pairs is 0).

    Parameters
    ----------
    loss
        The pair loss.
    regularization
        lambda >= 0.
    constraint
        The set that holds w.
    adjacency
        Which tables are neighbours.
    diameter
        Of the ball that holds the rows; 2 for the unit ball.
    """

    loss: Loss
    regularization: float = 0.0
    constraint: ConvexSet = field(default_factory=Free)
    adjacency: Adjacency = Adjacency.REPLACE
    diameter: float = 2.0

    released = "the parameters of a linear ranking model"

    def __post_init__(self) -> None:
        if not 0 <= self.regularization < math.inf:
            raise ValueError(f"regularization must be a finite number, 0 or above; got {self.regularization!r}.")

    def pair_scale(self, table: PairTable) -> float:
        """1/N."""
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            return 1.0 / (float(table.positives) * float(table.negatives))
        return 1.0 / (float(table.n) * table.n)

    def at(self, w: Array, table: PairTable, tilt: Array | None = None) -> LocalRisk:
        """Return the risk at w: value, gradient and Hessian products that share one set of scores.

        With a ``tilt`` b, of the risk plus b.w.
        """
        return LocalRisk(self, w, table, tilt)

    def value(self, w: Array, table: PairTable) -> float:
        """R(w)."""
        return self.at(w, table).value()

    def gradient(self, w: Array, table: PairTable) -> Array:
        """The gradient at w (for the hinge, a subgradient)."""
        return self.at(w, table).gradient()

    def mass(self, size: TableSize) -> float:
        """Return the most that the weights 1/N of all pairs sum to: 1, or (n/2)^2/n^2 with private labels."""
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            return 1.0
        return (size.n // 2) * (size.n - size.n // 2) / size.n**2

    def minimiser_radius(self, size: TableSize, tilt: float = 0.0) -> float:
        """Return a bound on the norm of every minimiser, of the risk plus b.w with ||b|| <= ``tilt`` (Lemma 4)."""
        if self.regularization == 0 or math.isinf(tilt):
            return self.constraint.radius
        half = 0.5 * tilt / self.regularization
        pull = half + math.sqrt(half * half + self.mass(size) * self.loss.pull() / self.regularization)
        push = (self.mass(size) * self.loss.slope_at_zero() * self.diameter + tilt) / self.regularization
        return min(self.constraint.radius, pull, push)

    def dimension(self, features: int) -> int:
        """One number a feature."""
        return features

    def start(self, features: int) -> Array:
        """Return the origin."""
        return np.zeros(features)

    def certificate(self, size: TableSize, features: int = 1, tilt: float = 0.0) -> Certificate:
        """Derive the constants for every table of this public size and number of features (Lemmas 1 to 4).

        ``tilt`` bounds the norm of a linear term that is added to the risk; infinity makes the constants hold on all
        of the set.
        """
        radius = self.minimiser_radius(size, tilt)
        reach = radius * self.diameter
        slope = self.loss.slope_bound(reach) * self.diameter * self.mass(size)
        curvature = self.loss.curvature_bound(math.inf) * self.diameter**2 * self.mass(size)
        pair = self.loss.pair_bound(reach) * self.diameter
        certificate = Certificate(
            adjacency=self.adjacency,
            size=size,
            radius=radius,
            lipschitz=slope,
            pair_lipschitz=self.loss.slope_bound(reach) * self.diameter,
            smoothness=curvature + self.regularization,
            strong_convexity=self.regularization,
            gradient_sensitivity=pair * self.pair_share(size),
            gradient_error=(KERNEL_ERROR + UNIT * size.n) * slope,
            curvature_share=self.loss.curvature_bound(reach) * self.diameter**2 * self.pair_share(size),
            partners=size.n - 1 if size.positives is None else max(size.positives, size.n - size.positives),
            one_signed=self.loss.one_signed(reach),
            differentiable=self.loss.differentiable,
            twice_differentiable=self.loss.twice_differentiable,
        )
        if not math.isfinite(reach * curvature) or self.regularization == 0:
            return certificate
        error = certificate.gradient_error + 4.0 * UNIT * features * curvature * (reach + self.loss.margin)
        error += 4.0 * UNIT * self.regularization * radius
        if math.isfinite(self.constraint.radius):
            error *= 1.0 + certificate.bending
        return replace(certificate, gradient_error=error)

    def confined(self, size: TableSize, travel: float) -> RankingRisk:
        """Return the risk on a ball that holds every minimiser, or what paths of that length from 0 lead to."""
        radius = max(SMALLEST_RADIUS, min(self.minimiser_radius(size), travel))
        return (
            self if radius >= min(self.constraint.radius, LARGEST_RADIUS) else replace(self, constraint=L2Ball(radius))
        )

    @property
    def span(self) -> float:
        """A length at which typical pairs, half a unit apart, reach the margins where the loss bends."""
        return min(self.constraint.radius, 2.0 * (self.loss.margin + self.loss.temperature))

    def stride(self, size: TableSize) -> float:
        """2/(beta m): typical pairs bend by half of beta. Kinks count as rounded off over the margin."""
        bend = min(self.loss.curvature_bound(math.inf), 1.0 / max(self.loss.margin, 1e-3))
        return 2.0 / (bend * self.mass(size))

    @property
    def most_records(self) -> float:
        """Any number: a gradient costs two passes over the rows."""
        return math.inf

    def newest(self, w: Array, table: PairTable, t: int) -> Array:
        """Return the unregularised gradient of record t against all earlier ones, each pair with weight 1/t."""
        sign = 1.0 if table.positive[t] else -1.0
        others = table.positive[:t] != table.positive[t]
        scores = table.X[: t + 1] @ w
        pulls = np.where(others, sign * self.loss.slope(sign * (scores[t] - scores[:t])) / t, 0.0)
        return np.asarray(float(pulls.sum()) * table.X[t] - pulls @ table.X[:t])

    def pair_share(self, size: TableSize) -> float:
        """Return the most that the weights 1/N of the pairs that one record touches sum to (Lemma 3)."""
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            assert size.positives is not None
            assert size.negatives is not None
            return 1.0 / min(size.positives, size.negatives)
        return (size.n - 1) / (float(size.n) * size.n)


class LocalRisk:
    """A ranking risk near one w: its scores are computed once, and all derivatives share them."""

    def __init__(self, risk: RankingRisk, w: Array, table: PairTable, tilt: Array | None = None) -> None:
        self.risk, self.w, self.table = risk, np.asarray(w, dtype=np.float64), table
        self.tilt = np.zeros_like(self.w) if tilt is None else tilt
        self._scale = 0.0 if table.one_class else risk.pair_scale(table)

    @cached_property
    def _pairs(self) -> PairSums:
        return pair_sums(self.risk.loss, self.table.scores(self.w), self.table.positive)

    @cached_property
    def _curvatures(self) -> Array:
        return self._scale * self._pairs.sums(2)

    @cached_property
    def _terms(self) -> tuple[float, float, float]:
        loss = 0.0 if self.table.one_class else self._scale * self._pairs.total()
        return loss, 0.5 * self.risk.regularization * float(self.w @ self.w), float(self.tilt @ self.w)

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
        if self.table.one_class:
            return ridge
        slopes, scale = self._pairs.sums(1), self._scale
        affine(slopes, self.table.positive, (0.0, scale), (0.0, -scale), out=slopes)
        return self.table.combine(slopes) + ridge

    def hessian_product(self, v: Array) -> Array:
        """The Hessian of R at w, times v."""
        ridge = self.risk.regularization * v
        if self.table.one_class:
            return ridge
        q = self.table.scores(v)
        partners = self._pairs.sums(2, q)
        q *= self._curvatures
        q -= self._scale * partners
        return self.table.combine(q) + ridge

    def curvature_model(self) -> Array:
        """A positive semidefinite model of the unregularised Hessian: exact where all pairs have one curvature.

        The curvature of the pairs of one record, summed over its partners, is known for every record; the
        model takes c_ij = a_i b_j / sum(a), the matrix of rank one with these sums.
        """
        a = self._curvatures
        total = 0.5 * float(a.sum())
        if total <= 0.0:
            return np.zeros((self.table.d, self.table.d))
        up = self.table.combine(affine(a, self.table.positive, (0.0, 1.0), (0.0, 0.0)))
        down = self.table.combine(a) - up
        cross = np.outer(up, down) / total
        return self.table.gram(a) - cross - cross.T
