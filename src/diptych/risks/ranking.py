"""The risk of ranking: the mean pair loss of (positive, negative) pairs, regularised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import PairSums, affine, pair_sums
from diptych.losses import Squared
from diptych.risks.base import check_pairs
from diptych.risks.certificate import Certificate
from diptych.risks.linear import UNIT, LinearRisk, LocalLinear
from diptych.risks.table import PairTable
from diptych.sets import Free
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]

KERNEL_ERROR = 1e-11  # of L times the diameter: docs/theory/pair-kernels.md


@dataclass(frozen=True)
class RankingRisk(LinearRisk[PairTable]):
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

    diameter: float = 2.0

    released = "the parameters of a linear ranking model"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pairs(self.loss, self.adjacency)

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

    def mass(self, size: TableSize) -> float:
        """Return the most that the weights 1/N of all pairs sum to: 1, or (n/2)^2/n^2 with private labels."""
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            return 1.0
        return (size.n // 2) * (size.n - size.n // 2) / size.n**2

    def pull(self) -> float:
        """That of the loss."""
        return self.loss.pull()

    def push(self) -> float:
        """|l'(0)| D."""
        return self.loss.slope_at_zero() * self.diameter

    @property
    def quadratic(self) -> bool:
        """Whether the loss is squared: then all pairs have one curvature."""
        return isinstance(self.loss, Squared)

    def mean_form(self, table: PairTable) -> tuple[RankingRisk, float] | None:
        """Return the mean over pairs, whose minimiser is the same when lambda is rescaled, and the weights' sum."""
        if table.one_class:
            return None
        share = self.pair_scale(table) * table.positives * table.negatives
        lam, within = self.regularization / share, Adjacency.REPLACE_WITHIN_CLASS
        return replace(self, regularization=lam, adjacency=within, constraint=Free()), share

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
            holder=self.loss.holder(reach) * self.diameter ** (1.0 + self.loss.holder_exponent),
            holder_exponent=self.loss.holder_exponent,
        )
        if not math.isfinite(reach * curvature) or self.regularization == 0:
            return certificate
        error = certificate.gradient_error + 4.0 * UNIT * features * curvature * (reach + self.loss.margin)
        error += 4.0 * UNIT * self.regularization * radius
        return self._bent(replace(certificate, gradient_error=error))

    @property
    def span(self) -> float:
        """A length at which typical pairs, half a unit apart, reach the margins where the loss bends."""
        return min(self.constraint.radius, 2.0 * (self.loss.margin + self.loss.temperature))

    def stride(self, size: TableSize) -> float:
        """2/(beta m): typical pairs bend by half of beta. Kinks count as rounded off over the margin."""
        bend = min(self.loss.curvature_bound(math.inf), 1.0 / max(self.loss.margin, 1e-3))
        return 2.0 / (bend * self.mass(size))

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


class LocalRisk(LocalLinear):
    """A ranking risk near one w."""

    def __init__(self, risk: RankingRisk, w: Array, table: PairTable, tilt: Array | None = None) -> None:
        super().__init__(risk, w, table, tilt)
        self._scale = 0.0 if table.one_class else risk.pair_scale(table)

    @cached_property
    def _pairs(self) -> PairSums:
        return pair_sums(self.risk.loss, self.table.scores(self.w), self.table.positive)

    @cached_property
    def _curvatures(self) -> Array:
        return self._scale * self._pairs.sums(2)

    def _loss(self) -> float:
        return 0.0 if self.table.one_class else self._scale * self._pairs.total()

    def _data_gradient(self) -> Array:
        if self.table.one_class:
            return np.zeros_like(self.w)
        slopes, scale = self._pairs.sums(1), self._scale
        affine(slopes, self.table.positive, (0.0, scale), (0.0, -scale), out=slopes)
        return np.asarray(self.table.combine(slopes))

    def hessian_product(self, v: Array) -> Array:
        """The Hessian of R at w, times v."""
        ridge = self.risk.regularization * v
        if self.table.one_class:
            return ridge
        q = self.table.scores(v)
        partners = self._pairs.sums(2, q)
        q *= self._curvatures
        q -= self._scale * partners
        return np.asarray(self.table.combine(q) + ridge)

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
        return np.asarray(self.table.gram(a) - cross - cross.T)
