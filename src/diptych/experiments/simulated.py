"""Populations of finitely many records, from which simulations draw tables: their risks are known, not estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.losses import SmoothedHinge
from diptych.risks import MetricRisk, MetricTable, PairRisk, PairTable, RankingRisk, minimise_projected

Array = NDArray[np.float64]

NEARLY = 1e-3  # the width of the parabola that stands for a hinge's kink where an optimum is sought
CLOSE = 1e-6  # the solver's tolerance


@dataclass(frozen=True)
class Population:
    """Records in the unit ball; a table of n is n independent draws, and the risk of w its risk on all of them.

    Two classes of one size, normal with means ``apart`` from each other along the first of ``features`` axes and
    deviation ``spread`` over all axes together, clipped to the unit ball.
    """

    size: int
    features: int
    apart: float
    spread: float
    seed: int = 0

    def table(self, risk: PairRisk[Any], rows: NDArray[np.intp] | None = None) -> Any:
        """Return the table of these records, by default of all."""
        X, codes = _records(self)
        X, codes = (X, codes) if rows is None else (X[rows], codes[rows])
        return PairTable(X, codes == 1) if isinstance(risk, RankingRisk) else MetricTable(X, codes)

    def draw(self, risk: PairRisk[Any], n: int, rng: np.random.Generator) -> Any:
        """Return a table of n independent draws."""
        return self.table(risk, rng.integers(self.size, size=n))

    def excess(self, risk: RankingRisk | MetricRisk, w: Array) -> float:
        """Return how far the population's risk at w is above its least on the set, but for some 1e-4 at a kink."""
        return max(0.0, risk.value(w, self.table(risk)) - _least(self, risk))


@lru_cache(maxsize=8)
def _records(population: Population) -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(population.seed)
    codes = np.arange(population.size) % 2
    X = rng.normal(size=(population.size, population.features)) * population.spread / population.features**0.5
    X[:, 0] += population.apart * (codes - 0.5)
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True)), codes


@lru_cache(maxsize=32)
def _least(population: Population, risk: RankingRisk | MetricRisk) -> float:
    """The risk at the minimiser, for a hinge at that of its smooth twin."""
    smooth = risk if risk.loss.differentiable else replace(risk, loss=SmoothedHinge(risk.loss.margin, NEARLY))
    table = population.table(risk)
    return float(risk.value(minimise_projected(smooth, table, CLOSE).w, table))
