"""Losses of a residual r, label less score: squared, Huber, absolute, q-norm. Even and least at 0.

They regress; they do not rank: their slope changes its sign at 0, and pair risks refuse them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from diptych.losses.base import Array, Loss
from diptych.losses.hinges import Hinge, SmoothedHinge
from diptych.losses.powers import QNormHinge, check_power
from diptych.losses.smooth import Squared


@dataclass(frozen=True)
class ResidualLoss(Loss):
    """l(r) = tau phi(r/tau) with an even, convex phi.

    Parameters
    ----------
    temperature
        tau > 0: the unit in which residuals are measured.
    """

    margin: float = field(default=0.0, init=False, repr=False)

    needs_margin: ClassVar[bool] = False
    residual: ClassVar[bool] = True

    def pull(self) -> float:
        """0: no residual loss falls away from 0."""
        return 0.0

    @abstractmethod
    def as_margin(self, label: float) -> Loss:
        """Return the loss of margins that is l(label - t) at least for t <= label: it has the same pull there."""


@dataclass(frozen=True)
class SquaredError(ResidualLoss):
    """l(r) = r^2 / tau."""

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

    def as_margin(self, label: float) -> Loss:
        """The squared loss."""
        return Squared(label, self.temperature)


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """l(r) = r^2/(2 tau) up to |r| = tau, |r| - tau/2 beyond: its slope is at most 1."""

    name: ClassVar[str] = "huber"

    def _phi(self, u: Array) -> Array:
        inside = np.clip(np.abs(u), 0.0, 1.0)
        return inside * (np.abs(u) - 0.5 * inside)

    def _dphi(self, u: Array) -> Array:
        return np.clip(u, -1.0, 1.0)

    def _d2phi(self, u: Array) -> Array:
        return ((u > -1) & (u <= 1)).astype(np.float64)

    def curvature_bound(self, reach: float) -> float:  # noqa: ARG002
        """1/tau: every range holds residuals near 0."""
        return 1.0 / self.temperature

    def as_margin(self, label: float) -> Loss:
        """The smoothed hinge."""
        return SmoothedHinge(label, self.temperature)


@dataclass(frozen=True)
class Absolute(ResidualLoss):
    """l(r) = |r|. Its temperature changes nothing, because the curve is homogeneous."""

    name: ClassVar[str] = "absolute"
    differentiable: ClassVar[bool] = False

    def _phi(self, u: Array) -> Array:
        return np.abs(u)

    def _dphi(self, u: Array) -> Array:
        return np.sign(u)

    def _d2phi(self, u: Array) -> Array:
        return np.zeros_like(u)

    @property
    def holder_exponent(self) -> float:
        """0: the slope jumps."""
        return 0.0

    def curvature_bound(self, reach: float) -> float:  # noqa: ARG002
        """Infinite: every range holds the kink."""
        return math.inf

    def rounded(self, width: float) -> Loss:
        """Return the Huber loss of that temperature."""
        return Huber(width)

    def as_margin(self, label: float) -> Loss:
        """The hinge."""
        return Hinge(label)


@dataclass(frozen=True)
class QNorm(ResidualLoss):
    """l(r) = tau |r/tau|^q with 1 < q <= 2: between the absolute and the squared loss.

    Its slope is (q - 1)-Hölder, with the constant 2^(2-q) q tau^(1-q) that r and -r attain.
    """

    q: float = 1.5

    name: ClassVar[str] = "q-norm"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "q", check_power(self.name, self.q))

    def _phi(self, u: Array) -> Array:
        return np.asarray(np.abs(u) ** self.q)

    def _dphi(self, u: Array) -> Array:
        return np.asarray(self.q * np.sign(u) * np.abs(u) ** (self.q - 1.0))

    def _d2phi(self, u: Array) -> Array:
        if self.q == 2.0:
            return np.full_like(u, 2.0)
        bend = np.zeros_like(u)
        np.power(np.abs(u), self.q - 2.0, out=bend, where=u != 0)
        return self.q * (self.q - 1.0) * bend

    @property
    def holder_exponent(self) -> float:
        """Q - 1."""
        return self.q - 1.0

    def self_bounding(self) -> tuple[float, float]:
        """As of the q-norm hinge."""
        return self.as_margin(1.0).self_bounding()

    def _holder(self, reach: float) -> float:  # noqa: ARG002
        return float(2.0 ** (2.0 - self.q) * self.q * self.temperature ** (1.0 - self.q))

    def curvature_bound(self, reach: float) -> float:  # noqa: ARG002
        """Infinite at 0, unless q = 2."""
        return 2.0 / self.temperature if self.q == 2.0 else math.inf

    def as_margin(self, label: float) -> Loss:
        """The q-norm hinge."""
        return QNormHinge(label, self.temperature, self.q)
