"""The risk of a generalised linear model: the mean loss of single records, regularised.

Constants: ``docs/theory/point-sensitivity.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import summation_error
from diptych.losses import Squared, SquaredError
from diptych.losses.residuals import ResidualLoss
from diptych.risks.certificate import Certificate
from diptych.risks.linear import UNIT, LinearRisk, LocalLinear
from diptych.risks.table import EXCESS, PointTable
from diptych.risks.width import body_diameter
from diptych.sets import Free
from diptych.spec import Adjacency, TableSize
from diptych.spec.budget import is_number

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PointRisk(LinearRisk[PointTable]):
    """R(w) = (1/N) sum over records of l(y w.x), or of l(y - w.x) for a loss of residuals, + (lambda/2) ||w||^2.

    N is the public number of records: how many there are, or (``add-remove``) the declared number.

    Parameters
    ----------
    loss
        Of margins y w.x for classes y = 1 or -1, or of residuals y - w.x for labels y.
    regularization
        lambda >= 0.
    constraint
        The set that holds w.
    adjacency
        Which tables are neighbours; ``replace-within-class`` needs classes.
    norm
        The most that a row can measure, its constant for the intercept included; 1 for the unit ball.
    diameter
        Of the set that holds the rows; with an intercept less than twice the norm.
    labels
        For a loss of residuals: labels lie between minus this number and this number.
    """

    norm: float = 1.0
    diameter: float = 2.0
    labels: float = 1.0

    released = "the parameters of a generalised linear model"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("norm", "diameter", "labels"):
            value = getattr(self, name)
            if not (is_number(value) and 1e-9 <= value <= 1e9):
                raise ValueError(f"{name} must be a number from 1e-9 to 1e9; got {value!r}.")
        if self.loss.residual and self.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            raise ValueError(
                f"adjacency='replace-within-class' does not suit loss={self.loss.name!r}, whose labels are no classes; "
                "use 'replace'."
            )

    def at(self, w: Array, table: PointTable, tilt: Array | None = None) -> LocalPoints:
        """Return the risk at w: value, gradient and Hessian products that share one set of scores.

        With a ``tilt`` b, of the risk plus b.w.
        """
        return LocalPoints(self, w, table, tilt)

    def mass(self, size: TableSize) -> float:  # noqa: ARG002
        """Return the most that the weights of all records sum to: 1, or 2 where a table may hold more than declared."""
        return float(EXCESS) if self.adjacency is Adjacency.ADD_REMOVE else 1.0

    def reach(self, radius: float) -> float:
        """Return the largest margin or residual, in size, that ||w|| <= ``radius`` can give a record."""
        return radius * self.norm + (self.labels if self.loss.residual else 0.0)

    def pull(self) -> float:
        """That of the loss; of residuals, that of the loss of margins beside it (Lemma 4)."""
        return self.loss.as_margin(self.labels).pull() if isinstance(self.loss, ResidualLoss) else self.loss.pull()

    def push(self) -> float:
        """|l'| at score 0, times the norm of a row."""
        at_zero = self.loss.slope_bound(self.labels) if self.loss.residual else self.loss.slope_at_zero()
        return at_zero * self.norm

    @property
    def quadratic(self) -> bool:
        """Whether the loss is squared."""
        return isinstance(self.loss, Squared | SquaredError)

    def mean_form(self, table: PointTable) -> tuple[PointRisk, float] | None:
        """Return the plain mean over the records, and what it is multiplied by in this risk."""
        if table.n == 0:
            return None
        share = table.n * table.weight(self.adjacency)
        lam = self.regularization / share
        return replace(self, regularization=lam, adjacency=Adjacency.REPLACE, constraint=Free()), share

    def record_bound(self, radius: float) -> float:
        """Return the most by which a neighbour's sum of gradients differs, at one w with ||w|| <= ``radius`` (Lemma 3).

        One gradient where records come and go, else the diameter of the body that they fill. Where labels are kept and
        the slope has one sign: at most the slope times the larger of ``norm`` and ``diameter``.
        """
        steepest = self.loss.slope_bound(self.reach(radius))
        if self.adjacency is Adjacency.ADD_REMOVE:
            return steepest * self.norm
        apart = self.norm * body_diameter(self.loss, radius * self.norm, self.labels if self.loss.residual else 0.0)
        if self.adjacency is Adjacency.REPLACE_WITHIN_CLASS and self.loss.one_signed(self.reach(radius)):
            return min(apart, steepest * max(self.norm, self.diameter))
        return apart

    def certificate(self, size: TableSize, features: int = 1, tilt: float = 0.0) -> Certificate:
        """Derive the constants for every table of this public size and number of features (Lemmas 1 to 5).

        ``tilt`` bounds the norm of a linear term that is added to the risk; infinity makes the constants hold on all
        of the set.
        """
        radius, mass, loss = self.minimiser_radius(size, tilt), self.mass(size), self.loss
        reach = self.reach(radius)
        record = loss.slope_bound(reach) * self.norm
        curvature = loss.curvature_bound(math.inf) * self.norm**2 * mass
        rounding = summation_error(math.ceil(EXCESS * size.n)) + (8.0 * features + 64.0) * UNIT
        certificate = Certificate(
            adjacency=self.adjacency,
            size=size,
            radius=radius,
            lipschitz=record * mass,
            pair_lipschitz=record,
            smoothness=curvature + self.regularization,
            strong_convexity=self.regularization,
            gradient_sensitivity=self.record_bound(radius) / size.n,
            gradient_error=rounding * record * mass,
            curvature_share=loss.curvature_bound(reach) * self.norm**2 / size.n,
            partners=0,
            one_signed=not loss.residual and loss.one_signed(reach),
            differentiable=loss.differentiable,
            twice_differentiable=loss.twice_differentiable,
            holder=loss.holder(reach) * self.norm ** (1.0 + loss.holder_exponent),
            holder_exponent=loss.holder_exponent,
        )
        if not math.isfinite(reach * curvature):
            return certificate
        error = certificate.gradient_error + (4.0 * features + 16.0) * UNIT * curvature * (reach + loss.margin)
        error += 4.0 * UNIT * self.regularization * radius
        certificate = replace(certificate, gradient_error=error)
        return certificate if self.regularization == 0 else self._bent(certificate)

    @property
    def span(self) -> float:
        """A length at which typical records, half a unit from the centre, reach the margins where the loss bends."""
        bend = self.labels if self.loss.residual else self.loss.margin + self.loss.temperature
        return min(self.constraint.radius, 2.0 * bend)

    def stride(self, size: TableSize) -> float:
        """Return 1/(beta X^2 m): a kink counts as rounded off over the margin or the labels."""
        bend = 1.0 / max(self.labels if self.loss.residual else self.loss.margin, 1e-3)
        bend = min(self.loss.curvature_bound(math.inf), bend)
        return 1.0 / (bend * self.norm**2 * self.mass(size))


class LocalPoints(LocalLinear):
    """A point risk near one w."""

    risk: PointRisk
    table: PointTable

    @cached_property
    def _scale(self) -> float:
        return self.table.weight(self.risk.adjacency)

    @cached_property
    def _arguments(self) -> Array:
        """Margins or residuals."""
        scores, y = self.table.scores(self.w), self.table.y
        return y - scores if self.risk.loss.residual else y * scores

    @cached_property
    def _curvatures(self) -> Array:
        return self._scale * self.risk.loss.curvature(self._arguments)

    def _loss(self) -> float:
        return self._scale * float(self.risk.loss.value(self._arguments).sum())

    def _data_gradient(self) -> Array:
        slopes = self.risk.loss.slope(self._arguments)
        signed = -slopes if self.risk.loss.residual else self.table.y * slopes
        return self.table.combine(self._scale * signed)

    def hessian_product(self, v: Array) -> Array:
        """The Hessian of R at w, times v."""
        q = self._curvatures * self.table.scores(v)
        return self.table.combine(q) + self.risk.regularization * v

    def curvature_model(self) -> Array:
        """Return the unregularised Hessian itself."""
        return self.table.gram(self._curvatures)
