"""How long dp-sgd takes to plan with its defaults: batch, number of steps and noise, nothing remembered.

    python benchmarks/dp_sgd_plans.py

Seconds by n and epsilon, best of three: rankings with public labels (two rates, so two calibrations) and points.
"""

from __future__ import annotations

import time
from typing import Any

from diptych import Adjacency, Budget, Logistic
from diptych.accounting.losses_on_grid import sampled_sigma
from diptych.accounting.sampled import moment_sigma
from diptych.algorithms import DPSGD
from diptych.risks import PointRisk, RankingRisk
from diptych.sets import L2Ball
from diptych.spec import TableSize

BALL = L2Ball(1.0)
RISKS: dict[str, Any] = {
    "pairs, a tenth positive": RankingRisk(Logistic(), 0.0, BALL, Adjacency.REPLACE_WITHIN_CLASS),
    "points": PointRisk(Logistic(), 0.0, BALL),
}


def seconds(risk: Any, n: int, epsilon: float) -> float:
    """Return how long one plan takes."""
    sampled_sigma.cache_clear()
    moment_sigma.cache_clear()
    start = time.perf_counter()
    DPSGD().plan(risk, TableSize(n, n // 10), 50, Budget(epsilon, 1.0 / n**2))
    return time.perf_counter() - start


if __name__ == "__main__":
    for name, risk in RISKS.items():
        for n in (10**3, 10**4, 10**5, 10**6):
            best = [min(seconds(risk, n, epsilon) for _ in range(3)) for epsilon in (0.5, 1.0, 4.0)]
            print(f"{name}, n = {n}: " + ", ".join(f"{value:.2f}" for value in best))
