"""What a Gaussian b inside a minimisation spends: bounds of delta by how one record can change the gradient.

The two values of b that lead to one minimiser w on neighbouring tables differ by Gamma, the change of the gradient at
w. Its norm is at most s, its direction depends on w, hence on b. mu = s/sigma. The Jacobian's share of the budget is
not counted here. Proofs: ``docs/theory/objective-perturbation.md``, Lemmas 3 to 5 (pairs), 10 and 11 (points).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.accounting.gaussian import ROUNDING, gaussian_terms

Array = NDArray[np.float64]

STEEPEST = np.linspace(0.0, 6.0, 601)  # u of Lemma 3: every choice is sound, the best is taken
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


class Profile(Protocol):
    """A bound of delta, for every mu and epsilon; 1 where mu^2 >= 2 epsilon, which the proofs leave out."""

    def delta(self, mu: float, epsilon: float) -> float:
        """Return a delta for which a Gaussian tilt with sensitivity/sigma = mu is (epsilon, delta)-private."""
        ...


@dataclass(frozen=True)
class OfPairs:
    """A record changes all pairs that it is in: a plane a pair, and a triangle if the slope has one sign."""

    one_signed: bool

    def delta(self, mu: float, epsilon: float) -> float:
        """Return min over u of mu e^-u E(M - a)_+, a = (epsilon + 1 + u - e^u)/mu - mu/2 (Lemma 3).

        With a slope of one sign E(M - a)_+ is at most 2 g(1) + g(1/2) from a = 1 on and 3 g(1) below,
        g(s) = E(s Z - a)_+ for a standard Gaussian Z (Lemma 5); else sqrt(2 pi) Phi(-a) (Lemma 4).
        """
        from scipy.special import ndtr

        a = (epsilon - (np.expm1(STEEPEST) - STEEPEST)) / mu - 0.5 * mu  # so written, a tiny epsilon loses no digit
        slope = (mu * np.exp(-STEEPEST))[a > 0.0]
        a = a[a > 0.0]
        if a.size == 0:
            return 1.0
        if self.one_signed:
            excess = 2.0 * _excess(1.0, a) + np.where(a >= 1.0, _excess(0.5, a), _excess(1.0, a))
        else:
            excess = ROOT_TWO_PI * ndtr(-a)
        return min(1.0, float((slope * excess).min()))


@dataclass(frozen=True)
class OfRecord:
    """A record comes or goes: Gamma lies on one line, and on one half of it if the slope has one sign."""

    one_signed: bool

    def delta(self, mu: float, epsilon: float) -> float:
        """Return that of a plain Gaussian release of sensitivity s; twice that for both halves (Lemma 10)."""
        return min(1.0, (1.0 if self.one_signed else 2.0) * _half_line(mu, epsilon))


@dataclass(frozen=True)
class OfExchange:
    """A record is replaced: Gamma lies in one plane, within a parallelogram and a circle of radius s.

    ``share`` is the most that a single gradient can measure, of s: from 1/2 to 1.
    """

    one_signed: bool
    share: float = 1.0

    def delta(self, mu: float, epsilon: float) -> float:
        """Return P(mu), that of any Gamma in the plane (Lemma 10), or the sum over corners and arcs if it is less.

        Lemma 11, with D the delta of a plain Gaussian release and A the largest angle of an arc: D(mu) + A/(2 pi) P(mu)
        + 2 D(share mu) if the slope has one sign, else twice the first two terms, and the same for the other diagonal,
        which measures at most sqrt(2) share s.
        """
        plane = _plane(mu, epsilon)
        arc = self.angle / (2.0 * math.pi) * plane
        spent = _half_line(mu, epsilon) + arc
        if self.one_signed:
            spent += 2.0 * _half_line(self.share * mu, epsilon)
        else:
            other = math.sqrt(2.0) * self.share
            spent = 2.0 * (spent + _half_line(min(1.0, other) * mu, epsilon) + (arc if other > 1.0 else 0.0))
        return min(1.0, plane, spent)

    @property
    def angle(self) -> float:
        """A, the largest value of 2 arcsin(share sin t) - t; 0 at a share of 1/2, a right angle at 1."""
        square = min(1.0, max(0.0, (4.0 * self.share**2 - 1.0) / 3.0))
        return 2.0 * math.asin(math.sqrt(square)) - math.asin(min(1.0, math.sqrt(square) / self.share))


def _half_line(mu: float, epsilon: float) -> float:
    """E(1 - exp(epsilon - mu^2/2 - mu Z))_+ for a standard Gaussian Z."""
    if mu * mu >= 2.0 * epsilon:
        return 1.0
    first, second = gaussian_terms(mu, epsilon)
    return first - second + ROUNDING * (first + second)


def _plane(mu: float, epsilon: float) -> float:
    """E(1 - exp(epsilon - mu^2/2 - mu R))_+ for a Rayleigh R."""
    if mu * mu >= 2.0 * epsilon:
        return 1.0
    return mu * ROOT_TWO_PI * gaussian_terms(mu, epsilon)[1] * (1.0 + ROUNDING)


def _excess(scale: float, a: Array) -> Array:
    """E(scale Z - a)_+ for a standard Gaussian Z."""
    from scipy.special import ndtr

    z = a / scale
    return np.asarray(scale / ROOT_TWO_PI * np.exp(-0.5 * z * z) - a * ndtr(-z))
