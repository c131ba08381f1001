"""Newton's method by conjugate gradients for a strongly convex risk, guarded by the gradient step.

The merit is the norm of the gradient. A gradient step of length 1/M contracts it by 1 - lambda/M on any
lambda-strongly convex risk with M-Lipschitz gradient, since the step multiplies it by I - H/M
with H an average Hessian. A Newton step is taken only where it contracts by a fixed factor, so
the number of steps has a bound that is known before the table is seen (``docs/theory/minimiser.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from diptych.risks.ranking import LocalRisk, RankingRisk
from diptych.risks.table import PairTable
from diptych.spec import Adjacency

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

HALVINGS = 4
GUARD = 0.25 * 2.0**-HALVINGS  # the least relative decrease that an accepted Newton step brings
PRODUCTS = 200  # Hessian products a step
STALE = 8  # products after which the model is renewed
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


def step_bound(start: float, tolerance: float, rate: float) -> int:
    """Steps that bring the norm of the gradient from ``start`` to ``tolerance``; ``rate`` is lambda/M."""
    if start <= tolerance:
        return 1
    return 1 + math.ceil(math.log(start / tolerance) / -math.log1p(-min(GUARD, rate, 0.5)))


def newton(risk: RankingRisk, table: PairTable, w: Array, model: Model, tolerance: float) -> tuple[Array, int]:
    """Return a point where the gradient's norm is at most ``tolerance``, and the number of steps to it."""
    lam = risk.regularization
    smoothness = risk.certificate(table.size(Adjacency.REPLACE_WITHIN_CLASS)).smoothness
    here = risk.at(w, table)
    g = here.gradient()
    limit = step_bound(float(np.linalg.norm(g)), tolerance, lam / smoothness)
    solve = None
    for step in range(limit):
        norm = float(np.linalg.norm(g))
        if norm <= tolerance:
            return here.w, step
        if solve is None:
            if model.matrix is None and table.d <= MODEL_FEATURES:
                model.matrix = here.curvature_model()
            solve = model.solver(lam)
        if model.exact:
            p, products = solve(-g), 0
        else:
            p, products = _conjugate_gradients(here.hessian_product, -g, solve, _forcing(norm, tolerance))
        if products > STALE and not model.settled:
            model.matrix, solve = None, None
        here, g = _advance(risk, table, here, g, p, smoothness)
    return here.w, limit


def _forcing(norm: float, tolerance: float) -> float:
    """How well to solve for a step: better near the end, but not beyond the tolerance."""
    return max(min(0.1, norm), 0.3 * tolerance / norm)


def _advance(
    risk: RankingRisk, table: PairTable, here: LocalRisk, g: Array, p: Array, smoothness: float
) -> tuple[LocalRisk, Array]:
    """Take the longest Newton step that contracts the gradient, or else the gradient step."""
    norm = float(np.linalg.norm(g))
    length = 1.0
    for _ in range(HALVINGS + 1):
        there = risk.at(here.w + length * p, table)
        new = there.gradient()
        if float(np.linalg.norm(new)) <= (1.0 - 0.25 * length) * norm:
            return there, new
        length *= 0.5
    there = risk.at(here.w - g / smoothness, table)
    return there, there.gradient()


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
