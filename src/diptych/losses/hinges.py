"""Losses made of polynomial pieces: hinge, squared hinge, smoothed (Huberised) hinge.

Each derivative is a sum of truncated powers c (k - t)_+^p, which is what lets sorted scores and
prefix sums evaluate all pairs exactly.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from diptych.losses.base import Array, Loss


class TruncatedPower(NamedTuple):
    """The piece coefficient * (knot - t)_+^power, with 0^0 = 0."""

    coefficient: float
    knot: float
    power: int


class PiecewiseLoss(Loss):
    """A loss whose value, slope and curvature are sums of truncated powers of the margin."""

    @abstractmethod
    def pieces(self, order: int) -> tuple[TruncatedPower, ...]:
        """Return the truncated powers whose sum is the derivative of that order."""


@dataclass(frozen=True)
class Hinge(PiecewiseLoss):
    """l(t) = (a - t)_+. Its temperature changes nothing, because the curve is positively homogeneous."""

    name: ClassVar[str] = "hinge"
    differentiable: ClassVar[bool] = False

    def _phi(self, u: Array) -> Array:
        return np.maximum(u, 0.0)

    def _dphi(self, u: Array) -> Array:
        return (u > 0).astype(np.float64)

    def _d2phi(self, u: Array) -> Array:
        return np.zeros_like(u)

    @property
    def holder_exponent(self) -> float:
        """0: the slope jumps."""
        return 0.0

    def curvature_bound(self, reach: float) -> float:
        """Infinite where the range reaches the kink, else 0."""
        return math.inf if reach >= self.margin else 0.0

    def rounded(self, width: float) -> Loss:
        """Return the smoothed hinge of that temperature."""
        return SmoothedHinge(self.margin, width)

    def pull(self) -> float:
        """The margin a: the supremum of t over t < a."""
        return self.margin

    def pieces(self, order: int) -> tuple[TruncatedPower, ...]:
        """(a - t)_+ and its slope; the curvature has no pieces."""
        a = self.margin
        return ((TruncatedPower(1.0, a, 1),), (TruncatedPower(-1.0, a, 0),), ())[order]


@dataclass(frozen=True)
class SquaredHinge(PiecewiseLoss):
    """l(t) = (a - t)_+^2 / tau."""

    name: ClassVar[str] = "squared-hinge"

    def _phi(self, u: Array) -> Array:
        return np.maximum(u, 0.0) ** 2

    def _dphi(self, u: Array) -> Array:
        return 2.0 * np.maximum(u, 0.0)

    def _d2phi(self, u: Array) -> Array:
        return np.where(u > 0, 2.0, 0.0)

    def curvature_bound(self, reach: float) -> float:  # noqa: ARG002
        """2/tau: every range that holds 0 holds margins below a."""
        return 2.0 / self.temperature

    def pull(self) -> float:
        """a^2/(2 tau), as for the squared loss."""
        return self.margin**2 / (2.0 * self.temperature)

    def pieces(self, order: int) -> tuple[TruncatedPower, ...]:
        """One truncated power an order."""
        a, scale = self.margin, 1.0 / self.temperature
        coefficient = (scale, -2.0 * scale, 2.0 * scale)[order]
        return (TruncatedPower(coefficient, a, 2 - order),)


@dataclass(frozen=True)
class SmoothedHinge(PiecewiseLoss):
    """A hinge whose kink is a parabola of width tau: phi(u) = 0, u^2/2, u - 1/2 for u below 0, in [0, 1], above 1."""

    name: ClassVar[str] = "smoothed-hinge"

    def _phi(self, u: Array) -> Array:
        inside = np.clip(u, 0.0, 1.0)
        return inside * (u - 0.5 * inside)

    def _dphi(self, u: Array) -> Array:
        return np.clip(u, 0.0, 1.0)

    def _d2phi(self, u: Array) -> Array:
        return ((u > 0) & (u <= 1)).astype(np.float64)

    def curvature_bound(self, reach: float) -> float:
        """1/tau where the range meets the parabola, else 0."""
        return 1.0 / self.temperature if reach >= self.margin - self.temperature else 0.0

    def pull(self) -> float:
        """Max of t clip((a - t)/tau, 0, 1): at a/2 on the parabola, or at the parabola's start a - tau."""
        a, tau = self.margin, self.temperature
        return a * a / (4.0 * tau) if a <= 2.0 * tau else a - tau

    def pieces(self, order: int) -> tuple[TruncatedPower, ...]:
        """The difference of two truncated powers, one for either end of the parabola."""
        a, tau = self.margin, self.temperature
        coefficient = (0.5 / tau, -1.0 / tau, 1.0 / tau)[order]
        return (
            TruncatedPower(coefficient, a, 2 - order),
            TruncatedPower(-coefficient, a - tau, 2 - order),
        )
