"""Sets of vectors: where they end, and the nearest point in them. They know nothing of losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.spec.budget import is_number

Array = NDArray[np.float64]


class ConvexSet(Protocol):
    """A closed convex set that contains the origin."""

    @property
    def radius(self) -> float:
        """The largest norm in the set (infinite if there is none)."""
        ...

    @property
    def diameter(self) -> float:
        """The largest distance between two of its points."""
        ...

    def project(self, w: Array) -> Array:
        """Return the nearest point of the set."""
        ...


@dataclass(frozen=True)
class Free:
    """All of space."""

    @property
    def radius(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def diameter(self) -> float:
        """Infinite."""
        return math.inf

    def project(self, w: Array) -> Array:
        """Return w itself."""
        return w


@dataclass(frozen=True)
class L2Ball:
    """The vectors of Euclidean norm at most ``radius``."""

    radius: float

    def __post_init__(self) -> None:
        check_radius(self.radius, ", or None for no constraint")

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2.0 * self.radius

    def project(self, w: Array) -> Array:
        """Shrink w to the sphere if it lies outside."""
        norm = float(np.linalg.norm(w))
        return w if norm <= self.radius else w * (self.radius / norm)


def check_radius(radius: float, more: str = "") -> None:
    """Refuse what is no radius."""
    if not (is_number(radius) and 1e-9 <= radius <= 1e9):
        raise ValueError(f"radius must be a number above 0, from 1e-9 to 1e9{more}; got {radius!r}.")
