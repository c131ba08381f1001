"""Descent on noisy gradients in a few random directions, for tables of many features (``jl``).

Arora, Bassily, Guzman, Menart and Ullah (2022), Algorithm 2. Why no embedding has to succeed for the guarantee, and how
many dimensions to keep: ``docs/theory/jl.md``. The maps: ``diptych.noise.projections``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from diptych.accounting import gaussian_mu
from diptych.algorithms.base import Release, UnsuitableError, check_paper, check_settings
from diptych.algorithms.descent import Descent, check_bounded_slope, check_settings_of
from diptych.algorithms.noisy_descent import NoisyGD
from diptych.kernels.projections import shorten
from diptych.noise import MAPS, BitSource, RandomMap
from diptych.risks import PointRisk, PointTable, SparseTable
from diptych.sets import Free, L2Ball
from diptych.spec import Adjacency, Budget, TableSize

FEWEST = 8  # dimensions by default, if there are as many features
NUMBERS = 2**24  # that the mapped rows hold at most by default
WIDEST = 1e9  # radius of a set


@dataclass(frozen=True)
class JL:
    """Map the rows to few dimensions at random, descend on noisy gradients there, and map the result back.

    Claim
        (epsilon, delta)-DP with delta > 0, under all adjacencies of points, whatever the map does to the rows: they are
        shortened to the declared norm after it.
    Assumptions
        A convex loss, with or without kinks, whose slope is bounded on the ball of twice the radius.
    Released
        The mean of the last half of the projected iterates, mapped back; the map itself may be known.
    Reference
        Arora, Bassily, Guzman, Menart and Ullah (2022), Algorithm 2 and Theorems 2 and 10, with the noise of
        ``docs/theory/gradient-descent.md``, Theorem 2.

    Parameters
    ----------
    dimension
        How many dimensions to keep; ``"auto"``: as many as the theorems balance, a rule of public facts.
    map
        ``"rademacher"``, ``"gaussian"`` or ``"sparse"``.
    steps, step_size
        As of ``noisy-gd``.
    """

    dimension: int | str = "auto"
    map: str = "rademacher"
    steps: int | str = "auto"
    step_size: float | str = "auto"

    name = "jl"

    def __post_init__(self) -> None:
        check_settings_of(self.name, self.steps, self.step_size)
        whole = isinstance(self.dimension, int) and not isinstance(self.dimension, bool)
        if self.dimension != "auto" and not (whole and 1 <= int(self.dimension) <= 10**6):
            raise ValueError(
                f"dimension of {self.name} must be a whole number from 1 to 10^6, or 'auto'; got {self.dimension!r}."
            )
        if self.map not in MAPS:
            raise ValueError(f"map of {self.name} must be one of {', '.join(map(repr, MAPS))}; got {self.map!r}.")

    def check(self, risk: PointRisk, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if not isinstance(risk, PointRisk):
            raise UnsuitableError(f"{self.name} is for losses of single records; use algorithm='noisy-gd'.")
        check_settings("auto", risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if budget.private and budget.pure:
            raise UnsuitableError(f"delta=0 does not suit {self.name}, whose noise is Gaussian; set delta above 0.")
        if constants == "paper":
            check_paper("auto", "gaussian", Adjacency.REPLACE, risk, free=False)

    def kept(self, risk: PointRisk, size: TableSize, features: int, budget: Budget) -> int:
        """Return how many dimensions to keep, never more than there are features (``docs/theory/jl.md``, Lemma 3).

        That at which the error of scalar products, L X B/sqrt(k) or for smooth losses beta X^2 B^2/k, is the noise's,
        s B sqrt(k)/mu; B is the span.
        """
        if self.dimension != "auto":
            return min(int(self.dimension), features)
        most = max(FEWEST, NUMBERS // size.n)
        if budget.private:
            ball = replace(risk, constraint=L2Ball(min(WIDEST, risk.span)))
            certificate = ball.certificate(size, tilt=math.inf)
            one = gaussian_mu(budget.epsilon, budget.delta) / certificate.gradient_sensitivity
            if risk.loss.smooth:
                wanted = (risk.loss.curvature_bound(math.inf) * risk.norm**2 * ball.constraint.radius * one) ** (2 / 3)
            else:
                wanted = certificate.pair_lipschitz * one
            most = min(most, max(FEWEST, math.ceil(wanted)))
        return min(most, features)

    def mapped(self, risk: PointRisk) -> PointRisk:
        """Return the risk of the mapped rows: on a ball of twice the radius, and however the map turned the rows."""
        radius = risk.constraint.radius
        held = L2Ball(min(WIDEST, 2.0 * radius)) if math.isfinite(radius) else Free()
        return replace(risk, constraint=held, diameter=2.0 * risk.norm)

    def plan(self, risk: PointRisk, size: TableSize, features: int, budget: Budget) -> Descent:
        """Return set, schedule and noise of the descent among the mapped rows (Theorem 1)."""
        self.check(risk, budget)
        return self._descent.plan(self.mapped(risk), size, self.kept(risk, size, features, budget), budget)

    def run(
        self,
        risk: PointRisk,
        table: PointTable | SparseTable,
        budget: Budget,
        source: BitSource,
        constants: str = "defended",
    ) -> Release:
        """Draw the map, descend among the mapped rows, map back, and say what was promised."""
        self.check(risk, budget, constants)
        kept = self.kept(risk, table.size(risk.adjacency), table.d, budget)
        phi = RandomMap.draw(self.map, kept, table.d, source)
        rows = table.mapped(phi)
        shorten(rows, risk.norm)
        few = PointTable(rows, table.y, table.n_public)
        found = self._descent.run(self.mapped(risk), few, budget, source, constants)
        mechanism = f"random projection to {kept} dimensions: {found.guarantee.mechanism}"
        guarantee = replace(found.guarantee, mechanism=mechanism)
        return Release(phi.back(found.coef), guarantee, {**found.trace, "dimension": kept, "map": self.map})

    @property
    def _descent(self) -> NoisyGD:
        return NoisyGD(self.steps, self.step_size)
