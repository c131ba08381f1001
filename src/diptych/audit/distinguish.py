"""Distinguishing runs: how well one can tell a table from its neighbour by the releases.

The statistic and its threshold are chosen on one half of the runs and tested on the other, so that the confidence
of the bounds needs no correction for the choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Distinguished:
    """Lower bounds, each right with the stated confidence, on what the mechanism spends.

    ``epsilon`` at the delta that was asked about; ``mu`` under Gaussian differential privacy.
    """

    epsilon: float
    mu: float
    confidence: float


def clopper_pearson(hits: int, runs: int, error: float) -> tuple[float, float]:
    """Lower and upper bound of a probability, each wrong with probability at most ``error``."""
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, error))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1.0 - error))
    return low, high


def distinguish(
    run: Callable[[int], Array], other: Callable[[int], Array], runs: int, delta: float, error: float
) -> Distinguished:
    """Bound what tells ``run`` from ``other``, each called once a run with its number.

    ``error`` is the probability that any of the returned bounds is too high.
    """
    here, there = (np.array([np.atleast_1d(draw(k)) for k in range(2 * runs)]) for draw in (run, other))
    direction = here[:runs].mean(axis=0) - there[:runs].mean(axis=0)
    if not np.any(direction):
        direction = np.ones(here.shape[1])
    a, b = here @ direction, there @ direction
    best = Distinguished(0.0, 0.0, 1.0 - error)
    share = error / 8.0  # two directions, two bounds each, two purposes
    for left, right in ((a, b), (-b, -a)):
        for purpose in ("epsilon", "mu"):
            cut = _threshold(left[:runs], right[:runs], delta, purpose)
            low, _ = clopper_pearson(int((left[runs:] > cut).sum()), runs, share)
            _, high = clopper_pearson(int((right[runs:] > cut).sum()), runs, share)
            best = Distinguished(
                max(best.epsilon, _epsilon(low, high, delta)) if purpose == "epsilon" else best.epsilon,
                max(best.mu, _mu(low, high)) if purpose == "mu" else best.mu,
                best.confidence,
            )
    return best


def _threshold(left: Array, right: Array, delta: float, purpose: str) -> float:
    """Return the cut that looked most telling on the first half, by bounds of the same width."""
    cuts = np.quantile(np.concatenate((left, right)), np.linspace(0.02, 0.98, 97))
    n = len(left)

    def telling(cut: float) -> float:
        p, q = int((left > cut).sum()), int((right > cut).sum())
        low, high = clopper_pearson(p, n, 1e-3)[0], clopper_pearson(q, n, 1e-3)[1]
        return _epsilon(low, high, delta) if purpose == "epsilon" else _mu(low, high)

    return float(max(cuts, key=telling))


def _epsilon(low: float, high: float, delta: float) -> float:
    return math.log((low - delta) / high) if low - delta > high else 0.0


def _mu(low: float, high: float) -> float:
    from scipy.special import ndtri

    if low <= 0.0 or high >= 1.0:
        return 0.0
    return max(0.0, float(ndtri(low)) - float(ndtri(high)))
