"""Steps on random batches composed by their privacy losses on a grid: tighter than moments, and as safe.

Dots of the profile are connected (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022), which never understates it;
the law of the summed losses comes from a Fourier transform of its tilted version, so that a small delta keeps its
digits. Proofs: ``docs/theory/sampled-gaussian.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.accounting.sampled import SampledQuery, Spending, log_profile, moment_sigma, root

Array = NDArray[np.float64]

SHARE = 1e-5  # of delta: granted to each of the tails that are cut off
INFLATED = 1e-10  # of a profile: more than it may be in error
FINE = 0.01  # standard deviations of one loss: the spacing of the grid, where it stays within LONGEST
LONGEST, MOST_LOSSES = 2**19, 2**15
DEVIATIONS = 9.0
UNIT = 2.0**-53
NEGLIGIBLE = 60.0  # nats: what is so much rarer than the rest is not summed but granted
CLOSE = 2e-4  # relative width to which noise is calibrated
ROUGH = 0.05  # that to which noise is found where a search starts
SHARPEST = 40.0  # sensitivities over sigma: beyond, noise hides nothing that budgets are about


def grid_delta(spending: Spending, epsilon: float, delta: float) -> float:
    """Return a delta that all steps together surely spend no more than; ``delta`` says which digits matter.

    Infinity where no affordable grid would tell.
    """
    steps, tail = spending.steps, SHARE * delta / spending.steps
    order = spending.order_for(epsilon)
    spread = math.sqrt(2.0 * spending.moment(order) / (order * (order - 1.0)))  # of one loss, about
    farthest = _farthest(spending, tail)
    step = max(FINE * spread, 2.0 * DEVIATIONS * spread * math.sqrt(steps) / LONGEST, farthest / MOST_LOSSES)
    if not 0.0 < step < epsilon:
        return math.inf
    masses, lost = _one_step(spending, step, math.ceil(farthest / step))
    if (masses < 0.0).any():  # spoilt by rounding
        return math.inf
    return _composed(masses, step, steps, epsilon) + steps * lost


def _farthest(spending: Spending, tail: float) -> float:
    """Return a loss beyond which a step spends no more than ``tail``; infinity where that is too large for doubles."""
    mu = spending.query.sensitivity / spending.sigma
    y = mu * (np.arange(1.0, 400.0) * 0.25 + 0.5 * mu)
    log_t, log_h = log_profile(spending.query, spending.sigma, y)
    within = log_h <= math.log(tail)
    return float(log_t[np.argmax(within)]) if within.any() and log_t[np.argmax(within)] < 600.0 else math.inf


def _one_step(spending: Spending, step: float, reach: int) -> tuple[Array, float]:
    """Return masses of losses -reach step ... reach step whose profile is at least the query's, and that of infinity.

    The profile f has f(t) = t f(1/t) + 1 - t, so a mass at -x is e^-x times that at x.
    """
    x = step * np.arange(reach + 1)
    h = np.exp(log_profile(spending.query, spending.sigma, np.log1p(np.expm1(x) / spending.query.rate))[1])
    h *= 1.0 + INFLATED
    slopes = np.append(np.diff(h) / (np.exp(x[:-1]) * math.expm1(step)), 0.0)
    above = np.exp(x[1:]) * np.diff(slopes)
    below = above * np.exp(-x[1:])
    return np.concatenate((below[::-1], [1.0 - h[0] + 2.0 * slopes[0]], above)), float(h[-1])


def _composed(masses: Array, step: float, steps: int, epsilon: float) -> float:
    """Return E(1 - e^(epsilon - X))_+ of the sum X of so many losses, plus all that was cut off or rounded."""
    reach = (len(masses) - 1) // 2
    x = step * np.arange(-reach, reach + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(masses)
    tilt = _best_tilt(logs, x, steps, epsilon)
    tilted, log_m = _tilted(logs, x, tilt)
    mean = float(tilted @ x)
    centre, spread = steps * mean, math.sqrt(steps * float(tilted @ (x - mean) ** 2))
    size = 2 ** math.ceil(math.log2(2.0 * max(DEVIATIONS * spread, 1.2 * x[-1]) / step + 2.0))
    law = _power(tilted, reach, steps, size)
    first = math.floor(epsilon / step) + 1
    if round(centre / step) - size // 2 > first:  # a tilt so large that sums just above epsilon would be left out
        return math.inf
    count = min(round(centre / step) + size // 2 - first, math.ceil(NEGLIGIBLE / (tilt * step)))
    places = np.arange(first, first + max(0, count))
    sums, probable = step * places, np.maximum(law[places % size], 0.0)
    scale = math.exp(steps * log_m - tilt * epsilon)
    inside = scale * float((-np.expm1(epsilon - sums) * np.exp(-tilt * (sums - epsilon))) @ probable)
    rounded = scale * 8.0 * steps * math.log2(size) * UNIT * (1.0 + 1.0 / -math.expm1(-tilt * step))
    top = centre + 0.5 * step * size - step
    beyond = min(steps * _tilted(logs, x, more)[1] - more * top for more in tilt * np.geomspace(0.7, 8.0, 7))
    return inside + scale * math.exp(-NEGLIGIBLE) + rounded + math.exp(min(0.0, beyond))


def _best_tilt(logs: Array, x: Array, steps: int, epsilon: float) -> float:
    """Return about the tilt under which sums of epsilon are typical; any other is sound, too."""
    from scipy.optimize import minimize_scalar

    def bound(log: float) -> float:
        tilt = math.exp(log)
        return steps * _tilted(logs, x, tilt)[1] - tilt * epsilon

    found = minimize_scalar(bound, bounds=(math.log(1e-3), math.log(1e7)), method="bounded", options={"xatol": 0.2})
    return math.exp(float(found.x))


def _tilted(logs: Array, x: Array, tilt: float) -> tuple[Array, float]:
    """Return masses times e^(tilt x), made to sum to 1, and the log of what they summed to."""
    weights = logs + tilt * x
    peak = float(weights.max())
    np.exp(weights - peak, out=weights)
    total = float(weights.sum())
    return weights / total, peak + math.log(total)


def _power(masses: Array, reach: int, steps: int, size: int) -> Array:
    """Return the law of a sum of independent draws, places modulo ``size``; place 0 is sum 0."""
    folded = np.bincount(np.arange(-reach, reach + 1) % size, weights=masses, minlength=size)
    square, power, left = np.fft.rfft(folded), np.ones(1, dtype=np.complex128), steps
    while left:
        power = power * square if left % 2 else power
        square, left = square * square, left // 2
    return np.asarray(np.fft.irfft(power, size))


@lru_cache(maxsize=4096)
def sampled_sigma(query: SampledQuery, steps: int, epsilon: float, delta: float) -> float:
    """Return noise that is surely (epsilon, delta)-private for so many steps: the less of what grid and moments need.

    The last thing that is done is to check it.
    """
    if query.rate == 1:
        return moment_sigma(query, steps, epsilon, delta)
    alike = _alike(query)

    def excess(log: float) -> float:
        spent = grid_delta(Spending(alike, math.exp(log), steps), epsilon, delta)
        return min(10.0, math.log(max(spent, 1e-300) / delta))

    right = math.log(moment_sigma(query, steps, epsilon, delta, ROUGH))
    left, stride = right, 0.1
    while excess(left) < 0.0:
        left, right, stride = left - stride, left, 2.0 * stride
    if left < right:
        sigma = math.exp(root(excess, left, right, CLOSE))
        if Spending(query, sigma, steps).moment_log_delta(epsilon) > math.log(delta):
            return sigma
    return moment_sigma(query, steps, epsilon, delta)


@lru_cache(maxsize=4096)
def suffices(query: SampledQuery, sigma: float, steps: int, epsilon: float, delta: float) -> bool:
    """Whether grid or moments promise (epsilon, delta) for that noise, without searching for the least."""
    if query.rate == 1:
        return Spending(query, sigma, steps).moment_delta(epsilon) <= delta
    one_step = log_profile(_alike(query), sigma, np.log1p(np.expm1(np.array([epsilon])) / query.rate))[1]
    if query.sensitivity > SHARPEST * sigma or one_step[0] > math.log(delta):
        return False
    if grid_delta(Spending(_alike(query), sigma, steps), epsilon, delta) <= delta:
        return True
    return Spending(query, sigma, steps).moment_delta(epsilon) <= delta


def _alike(query: SampledQuery) -> SampledQuery:
    """Return the query that moves as far when the record makes room for another as when it changes."""
    return SampledQuery(query.rate, query.sensitivity, query.sensitivity)
