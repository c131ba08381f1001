"""What is known of a risk before any table is seen: the constants that noise scales are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diptych.spec import Adjacency, TableSize

LARGEST_SHARE = 500.0  # of a budget: a determinant that may move by e^500 asks for a ridge below all rounding


@dataclass(frozen=True)
class Certificate:
    """Constants of R(w) = (1/N) sum of losses of records or pairs + (lambda/2)||w||^2, for tables of a public size.

    All but ``strong_convexity`` and ``smoothness`` leave the regulariser out. Proofs:
    ``docs/theory/pair-sensitivity.md``, ``metric-sensitivity.md`` and ``point-sensitivity.md``.

    Attributes
    ----------
    adjacency, size
        Neighbouring tables, and the public sizes.
    radius
        No minimiser of the regularised risk is longer.
    lipschitz
        Bound of the gradient's norm for ||w|| <= radius.
    pair_lipschitz
        The same of one pair's loss (for points, one record's), without its weight.
    smoothness
        Lipschitz constant of the regularised gradient on all of space (infinite for a hinge).
    strong_convexity
        lambda.
    gradient_sensitivity
        The most by which the gradient at one w, ||w|| <= radius, differs between neighbours.
    gradient_error
        The most by which the computed gradient there may miss the exact one; in a ball, times 1 + ``bending``,
        because there an error counts for more.
    curvature_share
        t: the most that the trace of the Hessian of the terms that one record touches may be.
    partners
        The most records that one record may be paired with; for points, 0.
    one_signed
        Whether the loss's slope keeps its sign wherever ||w|| <= radius.
    differentiable, twice_differentiable
        Of the loss.
    holder, holder_exponent
        L and alpha: the gradients of one term at v and w, both of norm at most ``radius``, differ by at most
        L ||v - w||^alpha.
    """

    adjacency: Adjacency
    size: TableSize
    radius: float
    lipschitz: float
    pair_lipschitz: float
    smoothness: float
    strong_convexity: float
    gradient_sensitivity: float
    gradient_error: float
    curvature_share: float
    partners: int
    one_signed: bool
    differentiable: bool
    twice_differentiable: bool
    holder: float = math.inf
    holder_exponent: float = 1.0

    @property
    def bending(self) -> float:
        """K = (k + 1)/(2 sqrt k) with k the condition number: how far minimisers on a path may bend (Lemma 6)."""
        condition = self.smoothness / self.strong_convexity
        return (condition + 1.0) / (2.0 * math.sqrt(condition))

    def determinant_shift(self, ridge: float, dimension: int) -> float:
        """Return the most by which log det(Hessian + ridge I) at one w differs between neighbours (Lemma 7).

        The largest over a in [0, 1] of log(1 + q (1 + a)^2) + k log(1 + q (1 - a^2)/k), with q = t/(4 ridge), bounded
        cell by cell: the first term grows with a, the second falls.
        """
        q = self.curvature_share / (4.0 * ridge)
        k = min(dimension - 1, self.partners)
        edges = np.linspace(0.0, 1.0, 4097)
        shift = np.log1p(q * (1.0 + edges[1:]) ** 2)
        if k > 0:
            shift += k * np.log1p(q * (1.0 - edges[:-1] ** 2) / k)
        return float(shift.max()) * (1.0 + 1e-12)

    def ridge_for(self, share: float, dimension: int) -> float:
        """Return a ridge from which ``determinant_shift`` is at most ``share``, within a part in 10^12 of the least.

        Where the least would be below all rounding, a larger one.
        """
        if self.curvature_share == 0.0:
            return 0.0
        share = min(share, LARGEST_SHARE)
        high = self.curvature_share / math.expm1(share)
        while self.determinant_shift(high, dimension) > share:
            high *= 2.0
        low = 0.5 * high
        while self.determinant_shift(low, dimension) <= share:
            low, high = 0.5 * low, low
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if self.determinant_shift(middle, dimension) <= share else (middle, high)
        return high

    def minimiser_sensitivity(self, tolerance: float = 0.0) -> float:
        """Return the most by which a minimiser moves between neighbours (Lemma 5).

        ``tolerance`` bounds the norm of the regularised gradient (plus a normal vector of the set)
        where the solver stops on either table; each then adds tolerance/lambda.
        """
        if self.strong_convexity == 0:
            return math.inf
        return (self.gradient_sensitivity + 2.0 * tolerance) / self.strong_convexity
