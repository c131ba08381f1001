"""The contract of a loss curve, and the constants that follow from it on a range of margins.

A curve is l(t) = tau phi((a - t)/tau) with margin a, temperature tau and a convex unit curve phi: of a margin t, or
(``residuals.py``) of a residual, for which a = 0. Everything that a guarantee needs of a loss is derived here or by
the loss itself, never passed in by a caller.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from diptych.spec.budget import is_number
from diptych.spec.budget import to_float as _float

Array = NDArray[np.float64]

LARGEST = 1e6  # margins and temperatures beyond it, or below its inverse, would drown in rounding


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss l(t) = tau phi((a - t)/tau) of a margin t.

    Parameters
    ----------
    margin
        a >= 0: where the curve bends. A pair that is ranked right by more than a costs (almost) nothing.
    temperature
        tau > 0: how sharply it bends. The slope does not change with it, the curvature is as 1/tau.
    """

    margin: float = 1.0
    temperature: float = 1.0

    name: ClassVar[str]
    differentiable: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True
    residual: ClassVar[bool] = False  # whether t is a residual, label less score, rather than a margin

    def __post_init__(self) -> None:
        for field in ("margin", "temperature"):
            if not is_number(getattr(self, field)):
                raise ValueError(f"{field} of the {self.name} loss must be a number; got {getattr(self, field)!r}.")
        margin, temperature = _float(self.margin), _float(self.temperature)
        if not 0 <= margin <= LARGEST or (self.needs_margin and margin == 0):
            least = "above 0 (at 0 the zero vector is already the best model)" if self.needs_margin else "at least 0"
            raise ValueError(f"margin of the {self.name} loss must be {least} and at most {LARGEST:g}; got {margin!r}.")
        if not 1.0 / LARGEST <= temperature <= LARGEST:
            raise ValueError(
                f"temperature of the {self.name} loss must be between {1.0 / LARGEST:g} and {LARGEST:g}; "
                f"got {temperature!r}."
            )
        object.__setattr__(self, "margin", margin)  # constants must not be computed in narrower types
        object.__setattr__(self, "temperature", temperature)

    def value(self, t: Array) -> Array:
        """l(t)."""
        return self.temperature * self._phi((self.margin - t) / self.temperature)

    def slope(self, t: Array) -> Array:
        """l'(t); at a kink the subgradient nearest to zero."""
        return -self._dphi((self.margin - t) / self.temperature)

    def curvature(self, t: Array) -> Array:
        """l''(t), from the right where the slope has a kink; 0 almost everywhere for the hinge."""
        return self._d2phi((self.margin - t) / self.temperature) / self.temperature

    @abstractmethod
    def _phi(self, u: Array) -> Array: ...

    @abstractmethod
    def _dphi(self, u: Array) -> Array: ...

    @abstractmethod
    def _d2phi(self, u: Array) -> Array: ...

    def at_zero(self) -> float:
        """l(0)."""
        return float(self.value(np.zeros(1))[0])

    def slope_at_zero(self) -> float:
        """|l'(0)|."""
        return float(abs(self.slope(np.zeros(1))[0]))

    def slope_bound(self, reach: float) -> float:
        """L = sup of |l'(t)| over |t| <= reach. By convexity an end of the range attains it."""
        with np.errstate(over="ignore"):
            ends = self.slope(np.array([-reach, reach]))
        return float(np.abs(ends).max())

    def pair_bound(self, reach: float) -> float:
        """Return the most, in units of the diameter D, by which replacing one record moves a pair's gradient.

        The supremum of ||l'(w.u) u - l'(w.v) v|| / D over u, v with ||u||, ||v||, ||u - v|| <= D and
        |w.u|, |w.v| <= reach. Where l' keeps one sign it is L (``docs/theory/pair-sensitivity.md``,
        Lemma 1); a loss whose slope changes sign overrides this with its own lemma.
        """
        if not self.one_signed(reach):
            raise NotImplementedError(f"the slope of the {self.name} loss changes its sign: it needs its own lemma.")
        return self.slope_bound(reach)

    def one_signed(self, reach: float) -> bool:
        """Whether l'(t) <= 0 for all |t| <= reach. By convexity the upper end of the range tells."""
        with np.errstate(over="ignore"):
            return bool(self.slope(np.array([reach]))[0] <= 0.0)

    @abstractmethod
    def curvature_bound(self, reach: float) -> float:
        """Beta = sup of l''(t) over |t| <= reach (infinite where the slope jumps)."""

    @abstractmethod
    def pull(self) -> float:
        """Sup over t of -l'(t) t, the work by which one pair can hold w away from 0."""

    @property
    def holder_exponent(self) -> float:
        """The largest alpha in [0, 1] for which the slope is alpha-Hölder: 1 if Lipschitz, 0 if it jumps."""
        return 1.0

    @property
    def smooth(self) -> bool:
        """Whether the slope is Lipschitz."""
        return self.holder_exponent == 1.0

    def holder(self, reach: float, exponent: float | None = None) -> float:
        """Return an L with |l'(s) - l'(t)| <= L |s - t|^exponent for |s|, |t| <= reach; by default the best exponent.

        With the spread S of the slope on the range and L* for the best exponent alpha*, differences over h are at most
        min(S, L* h^alpha*), so for a smaller alpha L* h^(alpha* - alpha) at the h where both meet, or at 2 reach.
        """
        best = self.holder_exponent
        alpha = best if exponent is None else exponent
        if not 0.0 <= alpha <= best:
            raise ValueError(f"exponent of the {self.name} loss must be from 0 to {best:g}; got {exponent!r}.")
        if alpha == best:
            return self._holder(reach)
        constant, spread = self._holder(reach), self._spread(reach)
        if constant == 0.0:
            return 0.0
        widest = min(2.0 * reach, (spread / constant) ** (1.0 / best))
        return float(constant * widest ** (best - alpha))

    def modulus(self, step: float, reach: float) -> float:
        """Return the most by which the slope differs between margins of the range that are ``step`` apart."""
        return float(self.holder(reach) * step**self.holder_exponent)

    def self_bounding(self) -> tuple[float, float]:
        """Return (M, p) with |l'(t)| <= M l(t)^p for all t, p = alpha/(1 + alpha).

        A non-negative function whose slope is alpha-Hölder with L has M = ((1 + alpha)/alpha)^p L^(1/(1 + alpha)), or
        sqrt(2 L) for alpha = 1 (``docs/theory/point-sensitivity.md``, Lemma 6). For alpha = 0 the slope is bounded.
        """
        alpha = self.holder_exponent
        if alpha == 0.0:
            return self.slope_bound(math.inf), 0.0
        power = alpha / (1.0 + alpha)
        return (1.0 / power) ** power * self._holder(math.inf) ** (1.0 / (1.0 + alpha)), power

    def rounded(self, width: float) -> Loss:  # noqa: ARG002
        """Return the loss with a jump of its slope smoothed over ``width``; without one, the loss itself."""
        return self

    def _holder(self, reach: float) -> float:
        """Return the constant that goes with ``holder_exponent``."""
        return self._spread(reach) if self.holder_exponent == 0.0 else self.curvature_bound(reach)

    def _spread(self, reach: float) -> float:
        with np.errstate(over="ignore"):
            low, high = self.slope(np.array([-reach, reach]))
        return float(high - low)
