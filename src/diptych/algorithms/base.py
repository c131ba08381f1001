"""What an algorithm gives back, and how it says no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.spec import Guarantee

Array = NDArray[np.float64]

CONSTANTS = ("defended", "paper")


class UnsuitableError(ValueError):
    """The problem lacks a property that the algorithm needs; raised before any data is touched."""


@dataclass(frozen=True)
class Release:
    """What leaves the curator's hands: parameters in internal units, the guarantee, and a public trace."""

    coef: Array
    guarantee: Guarantee
    trace: Mapping[str, Any] = field(default_factory=dict)
