"""Published step sizes and noise of Wang, Lei, Ying and Zhou (2024), for one pair (or one point) a step.

All in the paper's units, in which a step follows the gradient of one pair's loss, of Lipschitz constant G. How long a
step is in the units of a risk: ``dp_sgd.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diptych.algorithms.base import UnsuitableError
from diptych.spec import Budget

NEAR = np.geomspace(1e-9, 0.5, 50_000)
BETAS = np.concatenate((NEAR, 1.0 - NEAR))  # where beta is looked for: close to both ends
REFERENCE = "Wang et al. 2024, Algorithm {algorithm}"
SCHEDULES = ("general", "low-noise")


@dataclass(frozen=True)
class Curve:
    """A loss as the theorems see it: alpha-Hölder gradients with constant ``bend``; alpha = 1 is smooth."""

    exponent: float
    bend: float

    @property
    def longest(self) -> float:
        """Min{2/L, 1}: no step is longer."""
        return min(2.0 / self.bend, 1.0)


def schedule(name: str, curve: Curve, n: int, dimension: int, budget: Budget) -> tuple[int, float]:
    """Return T and eta of Theorems 3 and 6 (smooth) or 4 and 7 (Hölder), parts (a) "general" or (b) "low-noise".

    The free constants c are 1, T is what it is asymptotically equal to. Without privacy the terms in epsilon drop out,
    where any are left.
    """
    a, noisy = curve.exponent, math.inf
    if budget.private:
        noisy = budget.epsilon / math.sqrt(dimension * math.log(1.0 / budget.delta))
    steps, length = float(n), n**-0.5
    if name == "low-noise" and a < 1.0:
        steps = n ** (2.0 / (1.0 + a))
        length, noisy = n ** ((a * a + 2.0 * a - 3.0) / (2.0 * (1.0 + a))), noisy * n / steps
    elif name == "low-noise":
        length = math.inf
    elif a < 0.5:
        steps = n ** ((2.0 - a) / (1.0 + a))
        length = n ** (3.0 * (a - 1.0) / (2.0 * (1.0 + a)))
    return math.ceil(steps), min(length, noisy, curve.longest)


def published_scale(records: int, steps: int, n: int, budget: Budget) -> float:
    """Return the least sigma/G over all beta that qualify, or refuse where none does.

    sigma^2 = 14 r^2 G^2 T/(beta n^2 epsilon) lambda with lambda = log(1/delta)/((1 - beta) epsilon) + 1, where
    sigma^2 >= 2.68 G^2 and lambda - 1 <= sigma^2/(6 G^2) log(n/(r lambda (1 + sigma^2/(4 G^2)))). ``records`` is r:
    1 for points (Theorem 2), 2 for pairs (Theorem 5).
    """
    order = math.log(1.0 / budget.delta) / ((1.0 - BETAS) * budget.epsilon) + 1.0
    square = 14.0 * records**2 * steps * order / (BETAS * float(n) ** 2 * budget.epsilon)
    room = np.log(n / (records * order * (1.0 + square / 4.0)))
    good = (square >= 2.68) & (order - 1.0 <= square / 6.0 * room)
    if not good.any():
        what = "points" if records == 1 else "pairs"
        raise UnsuitableError(
            f"constants='paper' has no beta in (0, 1) that meets the side conditions for {what} at n={n}, {steps} "
            f"steps and {budget}; change steps or epsilon, or use constants='defended'."
        )
    return math.sqrt(float(square[good].min()))
