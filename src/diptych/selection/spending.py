"""What Gaussian candidates spend together when coins decide which of them are tried and only the best is told.

``docs/theory/selection.md``, Theorem 3: Rényi moments of one candidate, and a bound, certified on a grid, of what the
others add. Calibration ends on the safe side.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import gaussian_mu

Array = NDArray[np.float64]

FARTHEST, SPACING = 9.0, 2e-3  # of the grid, in standard deviations
ORDERS = 1.0 + np.geomspace(0.5, 1e6, 240)
ROUNDING = 1e-13  # absolute error granted to a computed logarithm, times the order
WIDTH = 1e-6  # relative width to which mu is calibrated


@lru_cache(maxsize=1)
def _grid() -> tuple[Array, Array]:
    from scipy.special import ndtr

    u = np.linspace(-FARTHEST, FARTHEST, 1 + round(2.0 * FARTHEST / SPACING))
    return u, ndtr(u)


def log_others(mu: float, rate: float, orders: Array) -> Array:
    """Return H at each order: an upper bound over R of a log(1 - p R) - (a - 1) log(1 - p G(R)).

    G(R) = Phi(Phi^-1(R) + mu) is the most that the probability R of being outdone may become on a neighbour. On the
    grid of u = Phi^-1(R), between whose points the second derivative bounds what is missed; beyond it at its ends.
    """
    from scipy.special import ndtr

    u, here = _grid()
    kept, moved = np.log1p(-rate * here), np.log1p(-rate * ndtr(u + mu))
    inside = np.array([float((order * kept - (order - 1.0) * moved).max()) for order in orders])
    odds = rate / (1.0 - rate)
    bend = (2.0 * orders - 1.0) * (0.25 * odds + 0.16 * odds**2) * SPACING**2 / 8.0
    below = -(orders - 1.0) * moved[0]
    above = orders * kept[-1] - (orders - 1.0) * math.log1p(-rate)
    return np.asarray(np.maximum(np.maximum(inside + bend, below), above) + ROUNDING * orders)


def coin_log_delta(mu: float, rate: float, count: int, epsilon: float) -> float:
    """Return the log of a delta for which the best of ``count`` candidates, each tried at ``rate``, is private.

    Every candidate is mu-Gaussian differentially private. Rényi moments, turned into delta by Canonne, Kamath and
    Steinke (2020), Proposition 12.
    """
    chance = -math.expm1(count * math.log1p(-rate))  # that any is tried
    shared = (count - 1) * log_others(mu, rate, ORDERS) + math.log(count * rate / chance)
    moments = 0.5 * ORDERS * (ORDERS - 1.0) * mu * mu + shared
    logs = moments - (ORDERS - 1.0) * epsilon + ORDERS * np.log1p(-1.0 / ORDERS) - np.log(ORDERS - 1.0)
    return float(logs.min()) + 1e-9


@lru_cache(maxsize=256)
def coin_mu(epsilon: float, delta: float, rate: float, count: int) -> float:
    """Return a mu for which ``coin_log_delta`` is surely at most log delta, within a part in 10^6 of the largest."""
    if not 0 < rate < 1:
        raise ValueError(f"rate must be between 0 and 1; got {rate!r}.")
    wanted, high = math.log(delta), gaussian_mu(epsilon, delta)
    low = high
    while coin_log_delta(low, rate, count, epsilon) > wanted:
        low *= 0.5
        if low < 1e-3 * high / count:
            raise ValueError("epsilon is too small for so many trials; raise it, or try fewer candidates.")
    high = min(high, 2.0 * low)
    while high - low > WIDTH * low:
        middle = 0.5 * (low + high)
        inside = coin_log_delta(middle, rate, count, epsilon) <= wanted
        low, high = (middle, high) if inside else (low, middle)
    return low
