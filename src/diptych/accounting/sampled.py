"""Gaussian noise on a query of a random batch, over many steps: what it spends, by its Rényi moments.

One bound for every sampler that either takes a record or takes none or another in its place, hence for batches without
replacement, for Poisson batches and for batches within classes. Proofs: ``docs/theory/sampled-gaussian.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.accounting.gaussian import ROUNDING, gaussian_delta, gaussian_mu

Array = NDArray[np.float64]

QUADRATURE = 1e-9  # relative error granted to a computed moment
WIDEST = 2_000.0  # orders times mu: beyond, moments are too large to be of use
BEYOND = 45.0  # standard deviations that integrals go past their peak
SEARCHED = 1e-4  # relative width to which noise is calibrated


@dataclass(frozen=True)
class SampledQuery:
    """A query of a random batch that holds a given record with probability ``rate``.

    ``out`` is the most by which the query differs between a batch with the record and the one with another record, or
    none, in its place; ``swap`` between two batches with either version of the record.
    """

    rate: float
    out: float
    swap: float

    def __post_init__(self) -> None:
        if not (0 < self.rate <= 1 and 0 < self.out < math.inf and 0 < self.swap < math.inf):
            raise ValueError(f"rate must be in (0, 1], out and swap finite and above 0; got {self!r}.")

    @property
    def sensitivity(self) -> float:
        """The larger of the two."""
        return max(self.out, self.swap) if self.rate < 1 else self.swap

    @property
    def unit(self) -> SampledQuery:
        """The same query in a unit in which its sensitivity is 1."""
        return SampledQuery(self.rate, self.out / self.sensitivity, self.swap / self.sensitivity)


def log_profile(query: SampledQuery, sigma: float, y: Array) -> tuple[Array, Array]:
    """Return log t and the log of a bound h(t) on what one step spends beyond the ratio t (Lemma 1).

    With s = e^y >= 1, t = 1 + q (s - 1) and b = t/s: h(t) = q ((1 - b) D_s(out/sigma) + b D_s(swap/sigma)), D_s the
    profile of the Gaussian mechanism. Rounding errors are added to D, never taken off.
    """
    q = query.rate
    log_t = np.log1p(q * np.expm1(np.minimum(y, 700.0)))
    log_t = np.where(y > 700.0, y + math.log(q), log_t)
    if query.out == query.swap:
        return log_t, math.log(q) + _log_gaussian(query.swap / sigma, y)
    weight = np.exp(log_t - y)
    parts = [_log_gaussian(query.swap / sigma, y) + np.log(weight)]
    if q < 1 and (weight < 1).any():
        with np.errstate(divide="ignore"):
            parts.append(_log_gaussian(query.out / sigma, y) + np.log1p(-weight))
    return log_t, math.log(q) + np.logaddexp.reduce(parts, axis=0)


def _log_gaussian(mu: float, y: Array) -> Array:
    """Log of D = Phi(mu/2 - y/mu) - e^y Phi(-mu/2 - y/mu), not below its exact value."""
    from scipy.special import erfcx, log_ndtr

    a, b = y / mu - 0.5 * mu, y / mu + 0.5 * mu
    near, far = erfcx(np.maximum(a, 0.0) / math.sqrt(2.0)), erfcx(b / math.sqrt(2.0))
    tail = math.log(0.5) - 0.5 * a * a + np.log(near - far * (1.0 - ROUNDING) + ROUNDING * near)
    return np.asarray(np.where(a > 0.0, tail, _central(a, y, b, log_ndtr)))


def _central(a: Array, y: Array, b: Array, log_ndtr: np.ufunc) -> Array:
    """The same where a <= 0: D is not small there."""
    first, second = np.exp(log_ndtr(-np.minimum(a, 0.0))), np.exp(np.minimum(y + log_ndtr(-b), 0.0))
    return np.asarray(np.log(np.maximum(first - second + ROUNDING * (first + second), 1e-300)))


def log_moment(query: SampledQuery, sigma: float, order: float) -> float:
    """Return log M, M an upper bound of the moment of that order of one step (Lemma 2).

    M - 1 = a (a - 1) * integral over t >= 1 of (t^(a-2) + t^(-a-1)) h(t), by Gauss and Legendre in y = log s.
    """
    mu = query.sensitivity / sigma
    y, weights = _panels(mu * ((order + 0.5) * mu + BEYOND), min(mu, 1.0))
    log_t, log_h = log_profile(query, sigma, y)
    dt = math.log(query.rate) + y  # of dy
    terms = np.logaddexp((order - 2.0) * log_t, (-order - 1.0) * log_t) + log_h + dt + np.log(weights)
    peak = float(terms.max())
    log_excess = peak + math.log(float(np.exp(terms - peak).sum())) + math.log(order * (order - 1.0))
    return float(np.logaddexp(0.0, log_excess + QUADRATURE))


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(10)
    return 0.5 * (nodes + 1.0), 0.5 * weights


def _panels(end: float, width: float) -> tuple[Array, Array]:
    """Nodes and weights on [0, end], in panels of about that width."""
    nodes, weights = _rule()
    edges = np.linspace(0.0, end, max(2, math.ceil(end / width) + 1))
    length = edges[1]
    return (edges[:-1, None] + length * nodes).ravel(), np.tile(length * weights, len(edges) - 1)


@dataclass(frozen=True)
class Spending:
    """What ``steps`` steps of noise ``sigma`` on a query spend, chosen one after the other in the light of the past."""

    query: SampledQuery
    sigma: float
    steps: int

    @cached_property
    def _largest(self) -> float:
        return max(1.5, WIDEST * self.sigma / self.query.sensitivity)

    def log_delta_at(self, order: float, epsilon: float) -> float:
        """Log delta by the moment of one order: Canonne, Kamath and Steinke (2020), Proposition 12."""
        moment = self.steps * self.moment(order)
        return moment - (order - 1.0) * epsilon + order * math.log1p(-1.0 / order) - math.log(order - 1.0)

    def moment(self, order: float) -> float:
        """Return the log of the moment of one step."""
        return log_moment(self.query, self.sigma, order)

    def order_for(self, epsilon: float) -> float:
        """Return about the order whose moment promises most; every order is sound."""
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda log: self.log_delta_at(1.0 + math.exp(log), epsilon),
            bounds=(math.log(1e-2), math.log(self._largest - 1.0)),
            method="bounded",
            options={"xatol": 1e-2},
        )
        return 1.0 + math.exp(float(found.x))

    def moment_delta(self, epsilon: float) -> float:
        """Return a delta for which all steps together are (epsilon, delta)-private, by moments alone."""
        if self.query.rate == 1:
            return gaussian_delta(math.sqrt(self.steps) * self.query.swap / self.sigma, epsilon)
        return math.exp(min(0.0, self.moment_log_delta(epsilon)))

    def moment_log_delta(self, epsilon: float) -> float:
        """Return the log of a delta by moments, which may be above 0."""
        return self.log_delta_at(self.order_for(epsilon), epsilon)


@lru_cache(maxsize=4096)
def moment_sigma(query: SampledQuery, steps: int, epsilon: float, delta: float, width: float = SEARCHED) -> float:
    """Return noise for which moments promise (epsilon, delta), to about that relative width the least such."""
    if query.rate == 1:
        return query.swap * math.sqrt(steps) / gaussian_mu(epsilon, delta)

    def excess(log: float) -> float:
        spent = Spending(query, math.exp(log), steps).moment_log_delta(epsilon)
        return math.inf if math.isnan(spent) else spent - math.log(delta)

    right = math.log(query.sensitivity * math.sqrt(steps) / gaussian_mu(epsilon, delta))  # as if all held the record
    while excess(right) > 0.0:  # moments lose a little
        right += 0.25
    left = right - 0.25
    while excess(left) <= 0.0:
        left, right = left - 0.5, left
    return math.exp(root(excess, left, right, width))


def root(excess: Callable[[float], float], left: float, right: float, width: float) -> float:
    """Return a place where a falling function is surely not above 0, at most about ``width`` right of where it is 0."""
    from scipy.optimize import brentq

    place = float(brentq(excess, left, right, xtol=width, rtol=1e-12))
    while place < right and excess(place) > 0.0:
        place += width
    return min(place, right)
