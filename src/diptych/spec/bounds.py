"""Public bounds of the features: what the curator knows without looking at the table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from diptych.spec.budget import is_number, to_float

LARGEST, SMALLEST = 1e100, 1e-100  # between them, scaling neither overflows nor loses digits


@dataclass(frozen=True)
class Bounds:
    """Where records may lie: in a ball around the origin, or in a box.

    Exactly one form is given: ``norm`` (rows longer than it are clipped to it), or ``low`` and
    ``high``, each one number for all features or one number a feature (values outside are clipped).
    Bounds must not be read off the private table: they are published with the model.

    Examples
    --------
    >>> Bounds(norm=1.0)
    Bounds(norm=1.0)
    >>> Bounds(low=0, high=[10.0, 200.0])
    Bounds(low=0.0, high=(10.0, 200.0))
    """

    norm: float | None = None
    low: float | tuple[float, ...] | None = None
    high: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.norm is not None:
            if self.low is not None or self.high is not None:
                raise ValueError("bounds takes either norm, or low and high, not both; leave one out.")
            norm = _number("norm", self.norm)
            if norm < SMALLEST:
                raise ValueError(f"bounds: norm must be above 0, at least {SMALLEST:g}; got {norm!r}.")
            object.__setattr__(self, "norm", norm)
            return
        if self.low is None or self.high is None:
            raise ValueError("bounds needs either norm, or both low and high; give the missing one.")
        low, high = _numbers("low", self.low), _numbers("high", self.high)
        for a, b in _pairs(low, high):
            if not b - a >= SMALLEST:
                raise ValueError(
                    f"bounds: low must be below high for every feature; got low={a!r} and high={b!r}: "
                    "swap them if they are the wrong way round, and leave out a feature that is constant."
                )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def features(self) -> int | None:
        """How many features the bounds name, or None if they hold for any number."""
        for side in (self.low, self.high):
            if isinstance(side, tuple):
                return len(side)
        return None

    def __repr__(self) -> str:
        if self.norm is not None:
            return f"Bounds(norm={self.norm!r})"
        return f"Bounds(low={self.low!r}, high={self.high!r})"


def _number(name: str, value: object) -> float:
    number = to_float(value) if is_number(value) else math.nan  # type: ignore[arg-type]
    if not abs(number) <= LARGEST:
        raise ValueError(f"bounds: {name} must be finite numbers, at most {LARGEST:g} in size; got {value!r}.")
    return number


def _numbers(name: str, value: object) -> float | tuple[float, ...]:
    if isinstance(value, Iterable) and not isinstance(value, str):
        if not (numbers := tuple(_number(name, item) for item in value)):
            raise ValueError(f"bounds: {name} is empty; give one number, or one a feature.")
        return numbers
    return _number(name, value)


def _pairs(low: float | tuple[float, ...], high: float | tuple[float, ...]) -> Iterable[tuple[float, float]]:
    lows = low if isinstance(low, tuple) else (low,) * (len(high) if isinstance(high, tuple) else 1)
    highs = high if isinstance(high, tuple) else (high,) * len(lows)
    if len(lows) != len(highs):
        raise ValueError(f"bounds: low has {len(lows)} numbers and high has {len(highs)}; give one a feature in both.")
    return zip(lows, highs, strict=True)
