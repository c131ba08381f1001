"""Newton's method by conjugate gradients for a strongly convex risk, guarded by the gradient step.

A step must lower the risk by a fair share of what it predicts, and by a fixed part of what a gradient step
of length 1/M is sure to bring; else the gradient step is taken. Where differences of the risk
drown in rounding, the norm of the gradient takes over as the measure. So the number of steps has a
bound that is known before the table is seen (``docs/theory/minimiser.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from diptych.risks.base import Local
from diptych.risks.certificate import Certificate
from diptych.spec import TableSize

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

HALVINGS = 12
ARMIJO = 0.1  # share of the predicted decrease that a step must bring
GUARD = 1.0 / 16.0  # part of a gradient step's sure decrease that it must bring
FLAT = 1e-11  # predicted decreases below this part of the risk are lost in its rounding
PRODUCTS = 200  # Hessian products a step
STALE = 8  # products after which the model is renewed
DEFECT = (
    "the minimiser missed its tolerance although it is proved to reach it: a defect of diptych; please report "
    "the loss, the regularization and the size of the table."
)
ANY_SIZE = TableSize(2, 1)  # how a mean bends does not depend on how many terms it has
MODEL_FEATURES = 2000  # above, a model of the Hessian costs more than it saves


@dataclass
class Model:
    """A model of the unregularised Hessian, by which steps are conditioned.

    ``exact`` models need no conjugate gradients; ``settled`` ones are not renewed.
    """

    matrix: Array | None = None
    exact: bool = False
    settled: bool = False

    def solver(self, ridge: float) -> Solve:
        """Return the map r -> (model + ridge I)^-1 r."""
        if self.matrix is None:
            return lambda r: r
        factor = cho_factor(self.matrix + ridge * np.eye(len(self.matrix)))
        return lambda r: np.asarray(cho_solve(factor, r))


@dataclass(frozen=True)
class Problem:
    """A risk that is a mean, on one table, plus a linear term b.w, b the ``tilt``."""

    risk: Any  # a CurvedRisk, as a dataclass
    table: Any
    tilt: Array

    def at(self, w: Array) -> Local:
        """Return the tilted risk at w."""
        local: Local = self.risk.at(w, self.table, self.tilt)
        return local

    @property
    def certificate(self) -> Certificate:
        """The constants of the mean."""
        certificate: Certificate = self.risk.certificate(ANY_SIZE)
        return certificate


def step_bound(start: float, tolerance: float, rate: float) -> int:
    """Steps that bring the norm of the gradient from ``start`` to ``tolerance``; ``rate`` is lambda/M."""
    if start <= tolerance:
        return 1
    spread = 2.0 * math.log(start / tolerance) - math.log(rate)  # log of (F_0 - F*)/(F - F*) while above it
    return 2 + math.ceil(spread / (GUARD * rate)) + math.ceil(0.5 * spread / min(1.0 / 64.0, rate))


def newton(problem: Problem, w: Array, model: Model, tolerance: float) -> tuple[Array, int]:
    """Return a point where the gradient's norm is at most ``tolerance``, and the number of steps to it."""
    lam, smoothness = problem.risk.regularization, problem.certificate.smoothness
    here = problem.at(w)
    g = here.gradient()
    limit = step_bound(float(np.linalg.norm(g)), tolerance, lam / smoothness)
    solve, flat = None, False
    for step in range(limit):
        norm = float(np.linalg.norm(g))
        if norm <= tolerance:
            return here.w, step
        if solve is None:
            if model.matrix is None and problem.table.d <= MODEL_FEATURES:
                model.matrix = here.curvature_model()
            solve = model.solver(lam)
        if model.exact:
            p, products = solve(-g), 0
        else:
            p, products = _conjugate_gradients(here.hessian_product, -g, solve, _forcing(norm, tolerance))
        if products > STALE and not model.settled:
            model.matrix, solve = None, None
        flat = flat or -float(g @ p) <= FLAT * here.magnitude()
        if model.exact:
            there: Local | None = problem.at(here.w + p)
        else:
            there = _settle(problem, here, g, p) if flat else _descend(problem, here, g, p, smoothness)
        here = there or problem.at(here.w - g / smoothness)
        g = here.gradient()
    raise RuntimeError(DEFECT)


def _forcing(norm: float, tolerance: float) -> float:
    """How well to solve for a step: better near the end, but not beyond the tolerance."""
    return max(min(0.1, norm), 0.3 * tolerance / norm)


def _descend(problem: Problem, here: Local, g: Array, p: Array, smoothness: float) -> Local | None:
    """Return the point of the longest step that lowers the risk enough, if any does.

    Where a kink is near, only short steps may; halving goes on as long as the risk can tell.
    """
    value, promised, lost = here.value(), -float(g @ p), FLAT * here.magnitude()
    guard = GUARD * float(g @ g) / (2.0 * smoothness)
    length = 1.0
    while length >= 0.5**HALVINGS or length * promised > lost:
        there = problem.at(here.w + length * p)
        if there.value() <= value - max(ARMIJO * length * promised, guard):
            return there
        length *= 0.5
    return None


def _settle(problem: Problem, here: Local, g: Array, p: Array) -> Local | None:
    """Return the point of the longest step that contracts the gradient, if any does: for the last digits."""
    norm = float(np.linalg.norm(g))
    for halving in range(5):
        length = 0.5**halving
        there = problem.at(here.w + length * p)
        if float(np.linalg.norm(there.gradient())) <= (1.0 - 0.25 * length) * norm:
            return there
    return None


def _conjugate_gradients(product: Solve, b: Array, solve: Solve, relative: float) -> tuple[Array, int]:
    """Solve H x = b until the residual is ``relative`` of b; return x and the products it took."""
    x = np.zeros_like(b)
    r = b.copy()
    z = solve(r)
    p = z.copy()
    rz = float(r @ z)
    target = relative * float(np.linalg.norm(b))
    for k in range(1, PRODUCTS + 1):
        hp = product(p)
        step = rz / float(p @ hp)
        x += step * p
        r -= step * hp
        if float(np.linalg.norm(r)) <= target:
            return x, k
        z = solve(r)
        new = float(r @ z)
        p = z + (new / rz) * p
        rz = new
    return x, PRODUCTS
