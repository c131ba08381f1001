"""The exact minimiser of a regularised risk of linear scores, free or in a ball, to a tolerance fixed in advance.

For the squared loss it is the closed form of Wang et al., Appendix B (class means and second moments, no pairs; for
points, the normal equations). Otherwise Newton's method by conjugate gradients; it starts from the solution for a
thinned table, whose Hessian also conditions the steps. How the number of steps is bounded: ``newton.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.risks.base import CurvedRisk, Table
from diptych.risks.newton import DEFECT, Model, Problem, newton, step_bound
from diptych.spec import TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

COARSE_CLASS = 8192  # records of a class in the thinned table
EASY = 1e-2  # regulariser from which a small table is solved at once


@dataclass(frozen=True)
class Minimum:
    """Where the minimiser stopped.

    ||w - exact|| <= residual/lambda, and ``residual`` is at most ``tolerance``. Without a constraint it bounds the norm
    of the regularised gradient at ``w``.
    """

    w: Array
    residual: float
    tolerance: float
    steps: int


def iteration_bound(risk: CurvedRisk[Any], size: TableSize, tolerance: float, tilt: float = 0.0) -> int:
    """Return how many steps a free minimisation takes at most, on every table of this public size.

    ``tilt`` bounds the norm of the linear term.
    """
    certificate = risk.certificate(size, tilt=tilt)
    return step_bound(
        start=certificate.smoothness * 2.0 * certificate.radius,
        tolerance=tolerance,
        rate=certificate.strong_convexity / certificate.smoothness,
    )


def minimise(risk: CurvedRisk[T], table: T, tolerance: float, tilt: Array | None = None) -> Minimum:
    """Return the minimiser of ``risk``, plus ``tilt``.w, over its set, to a residual of at most ``tolerance``."""
    if risk.regularization <= 0:
        raise ValueError("regularization must be above 0: without it the minimiser may not exist.")
    if not risk.loss.smooth:
        flaw = "a slope that is not Lipschitz" if risk.loss.differentiable else "a kink"
        raise ValueError(f"the {risk.loss.name} loss has {flaw}; minimise a smoothed-hinge instead.")
    if not tolerance > 0:
        raise ValueError(f"tolerance must be above 0; got {tolerance!r}.")
    b = np.zeros(table.d) if tilt is None else tilt
    form = risk.mean_form(table)
    if form is None:
        return Minimum(risk.constraint.project(-b / risk.regularization), 0.0, tolerance, 0)
    mean, share = form  # one scale on every table
    found = _Solver(Problem(mean, table, b / share), tolerance / share).inside(risk.constraint.radius)
    return replace(found, residual=found.residual * share, tolerance=tolerance)


class _Solver:
    """Solves one table for one regulariser after another, each time from the last solution."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self.problem, self.risk, self.tolerance = problem, problem.risk, tolerance
        risk, table = problem.risk, problem.table
        self.w = np.zeros(table.d)
        self.steps = 0
        self.model = Model()
        if risk.quadratic:
            self.model = Model(problem.at(self.w).curvature_model(), exact=True)
        elif table.n > 8 * COARSE_CLASS:
            thinned = replace(problem, table=table.thin(COARSE_CLASS))
            coarse = _Solver(thinned, max(tolerance, 1e-4))
            self.w = coarse.free(risk.regularization, coarse.tolerance)
            self.model = Model(thinned.at(self.w).curvature_model(), settled=True)
        else:
            for stronger in _descending(risk.regularization):
                self.free(stronger, max(tolerance, 0.1 * stronger))

    def free(self, regularization: float, tolerance: float) -> Array:
        """Return the minimiser over all of space."""
        problem = replace(self.problem, risk=replace(self.risk, regularization=regularization))
        self.w, steps = newton(problem, self.w, self.model, tolerance)
        self.steps += steps
        return self.w

    def inside(self, radius: float) -> Minimum:
        """Return the minimiser in the ball: free, or projected from near the sphere (minimiser.md, Lemma 6)."""
        lam = self.risk.regularization
        w = self.free(lam, self.tolerance)
        if float(np.linalg.norm(w)) + self.tolerance / lam <= radius:
            return self._minimum(w, self.tolerance)
        share = self.tolerance / (4.0 * (1.0 + self.problem.certificate.bending))
        near = 2.0 * share / lam
        w = self.free(lam, share)
        if float(np.linalg.norm(w)) > radius + near:
            w = self._near_sphere(radius, near, share)
        return self._minimum(w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300)), 0.75 * self.tolerance)

    def _near_sphere(self, radius: float, near: float, share: float) -> Array:
        """Return the free minimiser for a stronger regulariser, its norm within ``near`` of the radius.

        1/norm is nearly linear in the regulariser: secants, and bisections in between that bound their number.
        """
        low = self.risk.regularization
        push = self.risk.push() + float(np.linalg.norm(self.problem.tilt))
        high = max(1.01 * push / radius, 1.01 * low)
        below: float | None = 1.0 / float(np.linalg.norm(self.w)) - 1.0 / radius
        above: float | None = None  # of 1/norm - 1/radius, not yet known at the upper end
        for trial in range(2 * math.ceil(math.log2(2.0 + math.log(high / low) * 4.0 * radius / near))):
            middle = math.sqrt(low * high)
            if trial % 2 and below is not None and above is not None:
                middle = low + (high - low) * below / (below - above)
            w = self.free(middle, share)
            norm = float(np.linalg.norm(w))
            if abs(norm - radius) <= near:
                return w
            if norm > radius:
                low, below = middle, 1.0 / norm - 1.0 / radius
            else:
                high, above = middle, 1.0 / max(norm, 1e-300) - 1.0 / radius
        raise RuntimeError(DEFECT)

    def _minimum(self, w: Array, residual: float) -> Minimum:
        return Minimum(w, residual, self.tolerance, self.steps)


def _descending(regularization: float) -> list[float]:
    """Return stronger regularisers, a decade apart, on the way from an easy problem to this one."""
    return [regularization * 10.0**k for k in range(math.floor(math.log10(EASY / regularization)), 0, -1)]
