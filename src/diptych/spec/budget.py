"""A privacy budget: the (epsilon, delta) that a release may spend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True)
class Budget:
    """A promise of (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon
        Positive; ``math.inf`` means that no privacy is asked for.
    delta
        In [0, 1); 0 asks for pure differential privacy.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not is_number(self.epsilon) or not self.epsilon > 0:
            raise ValueError(
                f"epsilon must be a number above 0, or infinity for a release without privacy; got {self.epsilon!r}."
            )
        if not is_number(self.delta) or not 0 <= self.delta < 1:
            raise ValueError(
                f"delta must be a number in [0, 1), with 0 for pure differential privacy; got {self.delta!r}."
            )

        object.__setattr__(self, "epsilon", to_float(self.epsilon))
        object.__setattr__(self, "delta", to_float(self.delta))

    @property
    def private(self) -> bool:
        """Whether anything is promised at all."""
        return math.isfinite(self.epsilon)

    @property
    def pure(self) -> bool:
        """Whether delta is 0."""
        return self.delta == 0

    def __str__(self) -> str:
        if self.pure:
            return f"epsilon = {self.epsilon:g}"
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:.3g}"


def is_number(value: object) -> bool:
    """Whether a value is a real number, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def to_float(value: Real | float) -> float:
    """Return a number as a double, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
