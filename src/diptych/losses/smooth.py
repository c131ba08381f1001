"""Losses without kinks: logistic (natural logarithm) and squared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diptych.losses.base import Array, Loss


class SmoothLoss(Loss):
    """A loss that is analytic near the real line and, beyond the margin, a series in decaying exponentials.

    With v = (t - a)/tau and x = exp(-|v|): tau^(k-1) l^(k)(t) = sum_m c_m x^m for v >= 0, and
    p0 + p1 v +- that sum for v < 0. ``decay(k)`` returns the coefficients; the pair kernels
    use them where scores spread so widely that no grid would hold them.
    """

    def decay(self, order: int) -> tuple[Array, float, tuple[float, float]]:
        """Coefficients (c_1 ... c_N), the sign of the sum for v < 0, and (p0, p1)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """l(t) = tau log(1 + exp((a - t)/tau)), with the natural logarithm: l(0) = log 2 for a = 0, tau = 1."""

    margin: float = 0.0
    temperature: float = 1.0

    name: ClassVar[str] = "logistic"
    twice_differentiable: ClassVar[bool] = True
    needs_margin: ClassVar[bool] = False

    def _phi(self, u: Array) -> Array:
        return np.logaddexp(0.0, u)

    def _dphi(self, u: Array) -> Array:
        with np.errstate(over="ignore"):  # 1/inf is the 0 that is meant
            return 1.0 / (1.0 + np.exp(-u))

    def _d2phi(self, u: Array) -> Array:
        x = np.exp(-np.abs(u))
        return x / (1.0 + x) ** 2

    def curvature_bound(self, reach: float) -> float:
        """1/(4 tau) where the range reaches the margin, else l'' at the near end."""
        return float(self.curvature(np.array([min(self.margin, reach)]))[0])

    def pull(self) -> float:
        """Tau W(exp(a/tau - 1)) with Lambert's W: the maximum of t / (1 + exp((t - a)/tau))."""
        from scipy.special import lambertw

        z = self.margin / self.temperature - 1.0
        if z > 500:  # W(e^z) < z for z > 1: a bound is all that is needed
            return self.temperature * z
        return float(self.temperature * lambertw(math.exp(z)).real) * (1 + 1e-14)

    def decay(self, order: int) -> tuple[Array, float, tuple[float, float]]:
        """1/(1+x) by the alternating-series polynomial; value and curvature by integrating, differentiating it."""
        c = alternating_coefficients()  # 1/(1+x) = sum_m c_m x^m
        m = np.arange(c.size)
        if order == 0:
            return self.temperature * c / (m + 1.0), 1.0, (0.0, -self.temperature)  # log(1+x)
        if order == 1:
            return -c, -1.0, (-1.0, 0.0)  # -x/(1+x)
        derivative = -m[1:] * c[1:]  # 1/(1+x)^2
        return derivative / self.temperature, 1.0, (0.0, 0.0)


@dataclass(frozen=True)
class Squared(Loss):
    """l(t) = (a - t)^2 / tau, by default (1 - t)^2."""

    name: ClassVar[str] = "squared"
    twice_differentiable: ClassVar[bool] = True

    def _phi(self, u: Array) -> Array:
        return u * u

    def _dphi(self, u: Array) -> Array:
        return 2.0 * u

    def _d2phi(self, u: Array) -> Array:
        return np.full_like(u, 2.0)

    def curvature_bound(self, reach: float) -> float:  # noqa: ARG002
        """2/tau everywhere."""
        return 2.0 / self.temperature

    def pull(self) -> float:
        """a^2/(2 tau): the maximum of (2/tau)(a - t) t."""
        return self.margin**2 / (2.0 * self.temperature)

    def pair_bound(self, reach: float) -> float:
        """2 (a + reach)/tau, although the slope changes sign.

        l'(w.u) u - l'(w.v) v = -(2a/tau)(u - v) + (2/tau)(u u' - v v') w, and the difference of two
        matrices of rank one has operator norm at most max(||u||^2, ||v||^2) <= D^2
        (``docs/theory/pair-sensitivity.md``, Lemma 2).
        """
        return 2.0 * (self.margin + reach) / self.temperature


def alternating_coefficients(terms: int = 24) -> Array:
    """Coefficients c_m of a polynomial that equals 1/(1+x) on [0, 1] to 2 (3 + sqrt 8)^-terms.

    Cohen, Rodriguez Villegas and Zagier (2000), Algorithm 1: the Chebyshev polynomial of the
    interval gives sum_m (-1)^m (1 - weight_m) x^m. Integers are exact until the final division.
    """
    b, partial, out = -1, -1, []
    d = _chebyshev_at_three(terms)
    c = -d
    for k in range(terms):
        c = b - c
        out.append(c / d)
        partial += b
        b = b * (k + terms) * (k - terms) * 2 // ((2 * k + 1) * (k + 1))
    return np.array(out)


def _chebyshev_at_three(terms: int) -> int:
    """((3 + sqrt 8)^terms + (3 - sqrt 8)^terms) / 2, an integer."""
    previous, current = 1, 3
    for _ in range(terms - 1):
        previous, current = current, 6 * current - previous
    return current
