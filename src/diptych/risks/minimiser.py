"""The exact minimiser of a regularised ranking risk, free or in a ball, to a tolerance fixed in advance.

For the squared loss it is the closed form of Wang et al., Appendix B (class means and second moments,
no pairs). Otherwise Newton's method by conjugate gradients; it starts from the solution for a thinned table,
whose Hessian also conditions the steps. How the number of steps is bounded: ``newton.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from diptych.losses import Squared
from diptych.risks.newton import Model, newton, step_bound
from diptych.risks.ranking import RankingRisk
from diptych.risks.table import PairTable
from diptych.sets import Free
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]

COARSE_CLASS = 8192  # records of a class in the thinned table


@dataclass(frozen=True)
class Minimum:
    """Where the minimiser stopped.

    ``residual`` is the norm of the regularised gradient at ``w`` (plus the best normal vector of the
    ball there); it is at most ``tolerance``, and ||w - exact|| <= residual/lambda.
    """

    w: Array
    residual: float
    tolerance: float
    steps: int


def iteration_bound(risk: RankingRisk, size: TableSize, tolerance: float) -> int:
    """Return how many steps a free minimisation takes at most, on every table of this public size."""
    certificate = risk.certificate(size)
    return step_bound(
        start=certificate.smoothness * 2.0 * certificate.radius,
        tolerance=tolerance,
        rate=certificate.strong_convexity / certificate.smoothness,
    )


def minimise(risk: RankingRisk, table: PairTable, tolerance: float) -> Minimum:
    """Return the minimiser of ``risk`` over its set, to a residual of at most ``tolerance``."""
    if risk.regularization <= 0:
        raise ValueError("regularization must be above 0: without it the minimiser may not exist.")
    if not risk.loss.differentiable:
        raise ValueError(f"the {risk.loss.name} loss has a kink; minimise a smoothed-hinge instead.")
    if not tolerance > 0:
        raise ValueError(f"tolerance must be above 0; got {tolerance!r}.")
    if table.one_class:
        return Minimum(np.zeros(table.d), 0.0, tolerance, 0)
    # The mean over pairs has the same minimiser when lambda is rescaled, and one scale on every table.
    share = risk.pair_scale(table) * table.positives * table.negatives
    mean = replace(
        risk,
        regularization=risk.regularization / share,
        adjacency=Adjacency.REPLACE_WITHIN_CLASS,
        constraint=Free(),
    )
    found = _Solver(mean, table, tolerance / share).inside(risk.constraint.radius)
    return replace(found, residual=found.residual * share, tolerance=tolerance)


class _Solver:
    """Solves one table for a growing regulariser, each time from the last solution."""

    def __init__(self, risk: RankingRisk, table: PairTable, tolerance: float) -> None:
        self.risk, self.table, self.tolerance = risk, table, tolerance
        self.w = np.zeros(table.d)
        self.steps = 0
        if isinstance(risk.loss, Squared):
            self.model = Model(risk.at(self.w, table).curvature_model(), exact=True)
        elif table.n > 8 * COARSE_CLASS:
            coarse = _Solver(risk, table.thin(COARSE_CLASS), max(tolerance, 1e-4))
            self.w = coarse.free(risk.regularization)
            self.model = Model(risk.at(self.w, coarse.table).curvature_model(), settled=True)
        else:
            self.model = Model()

    def free(self, regularization: float, tolerance: float | None = None) -> Array:
        """Return the minimiser over all of space."""
        risk = replace(self.risk, regularization=regularization)
        self.w, steps = newton(risk, self.table, self.w, self.model, tolerance or self.tolerance)
        self.steps += steps
        return self.w

    def inside(self, radius: float) -> Minimum:
        """Return the minimiser in the ball: free, or on the sphere with the multiplier that holds it there."""
        lam = self.risk.regularization
        w = self.free(lam)
        if not np.linalg.norm(w) > radius:
            return self._minimum(w, math.inf)
        size = self.table.size(Adjacency.REPLACE_WITHIN_CLASS)
        smoothness = self.risk.certificate(size).smoothness
        highest = max(1.01 * self.risk.loss.slope_at_zero() * self.risk.diameter / radius, 1.01 * lam)

        def excess(regularization: float) -> float:
            return float(np.linalg.norm(self.free(regularization, self.tolerance / 4))) - radius

        precision = lam * self.tolerance / (8.0 * smoothness * radius)  # |w| moves by at most |w|/lambda a unit
        held = brentq(excess, lam, highest, xtol=precision, rtol=1e-15, maxiter=500)
        w = self.free(held, self.tolerance / 4)
        return self._minimum(w * (radius / float(np.linalg.norm(w))), radius)

    def _minimum(self, w: Array, radius: float) -> Minimum:
        gradient = self.risk.gradient(w, self.table)
        if math.isfinite(radius):
            gradient = gradient + max(0.0, -float(gradient @ w) / radius**2) * w
        residual = float(np.linalg.norm(gradient))
        if residual > self.tolerance:
            raise RuntimeError(
                "the minimiser missed its tolerance although it is proved to reach it: a defect of "
                "diptych; please report the loss, the regularization and the size of the table."
            )
        return Minimum(w, residual, self.tolerance, self.steps)
