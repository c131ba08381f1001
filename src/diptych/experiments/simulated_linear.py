"""Labels that a linear model gives to rows on the unit sphere, but for noise: populations whose risks are known.

Those of Section 5.1 of Wang, Lei, Ying and Zhou (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.experiments.workbench import auc
from diptych.risks import PairTable, PointRisk, PointTable, RankingRisk, minimise_projected

Array = NDArray[np.float64]

FEATURES, POPULATION = 10, 10_000
CLOSE = 1e-7  # the solver's tolerance
NUMBERS = np.array([0.5, 0.3, 0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1])
CLASSES = np.array([5.0, 3.0, 0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1])
LARGEST_LABEL = 0.5


@dataclass(frozen=True)
class Problem:
    """A risk, and the population it is about.

    ``kappa`` is the deviation of the labels' noise. Rows less than ``gap`` from the border between classes are left
    out.
    """

    risk: PointRisk | RankingRisk
    kappa: float
    gap: float = 0.0

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """Return a table of n independent draws from the population."""
        return self.table(rng.integers(POPULATION, size=n))

    def table(self, rows: NDArray[np.intp] | slice = slice(None)) -> Any:
        """Return the table of these records, by default of all."""
        X, y = _records(self.risk.loss.residual, self.kappa, self.gap)
        return PairTable(X[rows], y[rows] > 0) if isinstance(self.risk, RankingRisk) else PointTable(X[rows], y[rows])

    def error(self, w: Array) -> float:
        """Return the mean square error, the share of wrong classes, or that of pairs in the wrong order."""
        table = self.table()
        scores = table.X @ w
        if isinstance(self.risk, RankingRisk):
            return 1.0 - auc(scores, table.positive)
        if self.risk.loss.residual:
            return float(np.mean((scores - table.y) ** 2))
        return float(np.mean((scores > 0) != (table.y > 0)))

    def floor(self) -> float:
        """Return the error of the best linear model: for classes, of the one that made them."""
        return self.error(_minimiser(self) if self.risk.loss.residual else CLASSES)

    def excess(self, w: Array) -> float:
        """Return how far the population's risk at w is above its least on the set."""
        return max(0.0, self.risk.value(w, self.table()) - self.risk.value(_minimiser(self), self.table()))


@lru_cache(maxsize=16)
def _records(numbers: bool, kappa: float, gap: float) -> tuple[Array, Array]:
    """Rows uniform on the sphere with y = x.w* + noise, |y| <= 0.5; or the sign of x.w* - noise, gap apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8 * POPULATION, FEATURES))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1.0 + 1e-15)
    noise = kappa * rng.normal(size=len(X))
    if numbers:
        y = X @ NUMBERS + noise
        kept = np.abs(y) <= LARGEST_LABEL
    else:
        y = np.where(X @ CLASSES - noise > 0, 1.0, -1.0)
        kept = np.abs(X @ CLASSES) >= gap * np.linalg.norm(CLASSES)
    return X[kept][:POPULATION], y[kept][:POPULATION]


@lru_cache(maxsize=16)
def _minimiser(problem: Problem) -> Array:
    return np.asarray(minimise_projected(problem.risk, problem.table(), CLOSE).w)
