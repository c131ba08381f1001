"""Small tables, and minimisers from explicit pairs by SciPy's root finders: independent of the library's solver."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from diptych.risks import PairTable, RankingRisk


def table_of(rng, n=120, d=4, share=0.3) -> PairTable:
    positive = np.arange(n) < share * n
    X = rng.normal(size=(n, d)) + positive[:, None]
    return PairTable(X / np.linalg.norm(X, axis=1).max(), positive)


def optimum(risk: RankingRisk, table: PairTable, b) -> np.ndarray:
    """The minimiser of the risk plus b.w over its set."""
    apart = (table.X[table.positive][:, None] - table.X[~table.positive][None]).reshape(-1, table.d)
    scale = risk.pair_scale(table)

    def stationary(ridge: float) -> np.ndarray:
        found = optimize.root(
            lambda w: scale * apart.T @ risk.loss.slope(apart @ w) + ridge * w + b,
            -b / ridge,
            jac=lambda w: scale * (apart.T * risk.loss.curvature(apart @ w)) @ apart + ridge * np.eye(table.d),
            tol=1e-14,
        )
        return found.x

    w, radius = stationary(risk.regularization), risk.constraint.radius
    if np.linalg.norm(w) <= radius:
        return w
    c = optimize.brentq(
        lambda c: 1.0 / np.linalg.norm(stationary(risk.regularization + c)) - 1.0 / radius, 0.0, 1e9, xtol=1e-14
    )
    return stationary(risk.regularization + c)
