"""The contract of a loss curve, and the constants that follow from it on a range of margins.

A curve is l(t) = tau phi((a - t)/tau) with margin a, temperature tau and a convex, non-decreasing
or quadratic unit curve phi. Everything that a guarantee needs of a loss is derived here or by the
loss itself, never passed in by a caller.
"""

from __future__ import annotations

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
