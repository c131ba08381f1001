"""The q-norm hinge, whose slope is only Hölder continuous, and what powers of q share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diptych.losses.base import Array, Loss
from diptych.spec.budget import is_number, to_float


def check_power(name: str, q: object) -> float:
    """Return the exponent of a loss, or say which there are."""
    if not (is_number(q) and 1 < q <= 2):  # type: ignore[operator]
        raise ValueError(f"q of the {name} loss must be a number above 1 and at most 2; got {q!r}.")
    return to_float(q)  # type: ignore[arg-type]


@dataclass(frozen=True)
class QNormHinge(Loss):
    """l(t) = tau ((a - t)_+/tau)^q with 1 < q <= 2: between the hinge (q = 1) and the squared hinge (q = 2).

    Its slope is (q - 1)-Hölder: |u^(q-1) - v^(q-1)| <= |u - v|^(q-1) for u, v >= 0. With tau = 1 it is the q-norm hinge
    loss of Wang, Lei, Ying and Zhang.
    """

    q: float = 1.5

    name: ClassVar[str] = "q-norm-hinge"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "q", check_power(self.name, self.q))

    def _phi(self, u: Array) -> Array:
        return np.asarray(np.maximum(u, 0.0) ** self.q)

    def _dphi(self, u: Array) -> Array:
        return np.asarray(self.q * np.maximum(u, 0.0) ** (self.q - 1.0))

    def _d2phi(self, u: Array) -> Array:
        bend = np.zeros_like(u)
        np.power(u, self.q - 2.0, out=bend, where=u > 0)
        return self.q * (self.q - 1.0) * bend

    @property
    def holder_exponent(self) -> float:
        """Q - 1."""
        return self.q - 1.0

    def self_bounding(self) -> tuple[float, float]:
        """Q tau^-p and p = (q - 1)/q, with equality: |l'| = q (l/tau)^p."""
        power = (self.q - 1.0) / self.q
        return float(self.q * self.temperature**-power), power

    def _holder(self, reach: float) -> float:
        """Q tau^(1-q) where the range reaches the kink; else that of its far ends, where the chord is steepest."""
        alpha, a, tau = self.q - 1.0, self.margin, self.temperature
        unit = float(self.q * tau**-alpha)
        if reach >= a:
            return unit
        if reach == 0.0:
            return 0.0
        return float(unit * ((a + reach) ** alpha - (a - reach) ** alpha) / (2.0 * reach) ** alpha)

    def curvature_bound(self, reach: float) -> float:
        """Infinite where the range reaches the kink, unless q = 2; else l'' at the near end."""
        if self.q == 2.0:
            return 2.0 / self.temperature
        return math.inf if reach >= self.margin else float(self.curvature(np.array([reach]))[0])

    def pull(self) -> float:
        """a^q tau^(1-q) ((q-1)/q)^(q-1): the maximum of t q ((a - t)/tau)^(q-1), at t = a/q."""
        q, a, tau = self.q, self.margin, self.temperature
        return float(a * (a * (q - 1.0) / (tau * q)) ** (q - 1.0))
