"""What is known of a risk before any table is seen: the constants that noise scales are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diptych.spec import Adjacency, TableSize


@dataclass(frozen=True)
class Certificate:
    """Constants of R(w) = (1/N) sum of pair losses + (lambda/2)||w||^2, for every table of a public size.

    All but ``strong_convexity`` and ``smoothness`` leave the regulariser out. Proofs:
    ``docs/theory/pair-sensitivity.md``.

    Attributes
    ----------
    adjacency, size
        Neighbouring tables, and the public sizes.
    radius
        No minimiser of the regularised risk is longer.
    lipschitz
        Bound of the gradient's norm for ||w|| <= radius.
    smoothness
        Lipschitz constant of the regularised gradient on all of space (infinite for a hinge).
    strong_convexity
        lambda.
    gradient_sensitivity
        The most by which the gradient at one w, ||w|| <= radius, differs between neighbours.
    gradient_error
        The most by which the computed gradient there may miss the exact one; in a ball, times 1 + ``bending``,
        because there an error counts for more.
    differentiable, twice_differentiable
        Of the loss.
    """

    adjacency: Adjacency
    size: TableSize
    radius: float
    lipschitz: float
    smoothness: float
    strong_convexity: float
    gradient_sensitivity: float
    gradient_error: float
    differentiable: bool
    twice_differentiable: bool

    @property
    def bending(self) -> float:
        """K = (k + 1)/(2 sqrt k) with k the condition number: how far minimisers on a path may bend (Lemma 6)."""
        condition = self.smoothness / self.strong_convexity
        return (condition + 1.0) / (2.0 * math.sqrt(condition))

    def minimiser_sensitivity(self, tolerance: float = 0.0) -> float:
        """Return the most by which a minimiser moves between neighbours (Lemma 5).

        ``tolerance`` bounds the norm of the regularised gradient (plus a normal vector of the set)
        where the solver stops on either table; each then adds tolerance/lambda.
        """
        if self.strong_convexity == 0:
            return math.inf
        return (self.gradient_sensitivity + 2.0 * tolerance) / self.strong_convexity
