"""Labels in public bounds, mapped to [-1, 1], and models of them back to the caller's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.spec.bounds import LARGEST, SMALLEST
from diptych.spec.budget import is_number, to_float

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LabelScaler:
    """The map from labels in [low, high] to [-1, 1]: fixed by public facts, clipping whatever lies outside."""

    low: float
    high: float

    def __post_init__(self) -> None:
        ends = []
        for end in (self.low, self.high):
            if not (is_number(end) and abs(end) <= LARGEST):
                raise ValueError(f"label_bounds must hold two numbers of size at most {LARGEST:g}; got {end!r}.")
            ends.append(to_float(end))
        if not ends[1] - ends[0] >= SMALLEST:
            raise ValueError(f"label_bounds must be (low, high) with low below high; got ({ends[0]!r}, {ends[1]!r}).")
        for name, end in zip(("low", "high"), ends, strict=True):
            object.__setattr__(self, name, end)

    @property
    def centre(self) -> float:
        """What is mapped to 0."""
        return 0.5 * self.low + 0.5 * self.high

    @property
    def half(self) -> float:
        """What a unit stands for."""
        return 0.5 * self.high - 0.5 * self.low

    def transform(self, y: Array) -> Array:
        """Return the labels in [-1, 1]."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            return np.clip((y - self.centre) / self.half, -1.0, 1.0)

    def unfold(self, coef: Array, intercept: float) -> tuple[Array, float]:
        """Return coefficients and intercept of a model of such labels in the caller's units."""
        return self.half * coef, self.centre + self.half * intercept
