"""The exact trade between epsilon, delta and mu = sensitivity / sigma of Gaussian noise.

Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022) for composition. Calibration ends on the safe
side: the answer is checked with an allowance for rounding, not assumed from a tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

ROUNDING = 2.0**-46  # relative error granted to either term of the profile
SMALLEST_DELTA = 1e-200


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the least delta for which Gaussian noise with sensitivity/sigma = mu is (epsilon, delta)-private.

    delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu). The second term is exp(-a^2/2) times
    a scaled error function, with a = epsilon/mu - mu/2: nothing overflows.
    """
    first, second = gaussian_terms(mu, epsilon)
    return max(0.0, first - second)


def gaussian_terms(mu: float, epsilon: float) -> tuple[float, float]:
    """Return both terms of the profile: Phi(mu/2 - epsilon/mu) and e^epsilon Phi(-mu/2 - epsilon/mu)."""
    from scipy.special import erfcx, ndtr

    a = epsilon / mu - mu / 2.0
    b = epsilon / mu + mu / 2.0
    gauss = math.exp(-0.5 * a * a) if abs(a) < 38.0 else 0.0
    first = float(ndtr(-a)) if a < 0 else 0.5 * float(erfcx(a / math.sqrt(2.0))) * gauss
    return first, 0.5 * float(erfcx(b / math.sqrt(2.0))) * gauss


def _surely_within(mu: float, epsilon: float, delta: float) -> bool:
    first, second = gaussian_terms(mu, epsilon)
    return first - second + ROUNDING * (first + second) <= delta


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return a mu that is certainly (epsilon, delta)-private, within a part in 10^12 of the largest if delta allows.

    The allowance for rounding makes it smaller, never larger, when delta is near the precision of doubles.
    """
    return largest_mu(epsilon, delta, lambda mu: _surely_within(mu, epsilon, delta))


def largest_mu(epsilon: float, delta: float, within: Callable[[float], bool]) -> float:
    """Return the largest mu, to a part in 10^13, for which ``within`` holds as it does for every smaller one."""
    if 0 < delta < SMALLEST_DELTA:
        raise ValueError(f"delta must be 0 or at least {SMALLEST_DELTA:g}; got {delta!r}.")
    if not (0 < epsilon < math.inf and 0 < delta < 1):
        raise ValueError(
            f"epsilon must be positive and finite and delta in (0, 1) for Gaussian noise; got {epsilon!r}, {delta!r}."
        )
    low = high = 1.0
    while within(high):
        low, high = high, 2.0 * high
    while not within(low):
        low, high = 0.5 * low, low
    while high - low > 1e-13 * low:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def compose(mus: Iterable[float]) -> float:
    """Return the mu of several Gaussian releases together: the root of the sum of squares."""
    return math.sqrt(math.fsum(mu * mu for mu in mus))
