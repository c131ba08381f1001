"""Slopes of the unit curves of losses, for compiled loops that need one pair's slope at a time.

``curve_of(loss)`` gives the numbers that a loop hands to ``slope_at``. Up to an argument's rounding, the piecewise
ones are monotone in the margin as computed, which the proofs for losses with kinks use.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba as nb

from diptych.losses import Hinge, Logistic, Loss, SmoothedHinge, Squared, SquaredHinge

LOGISTIC, SQUARED, HINGE, SQUARED_HINGE, SMOOTHED_HINGE = range(5)
CODES: dict[type[Loss], int] = {
    Logistic: LOGISTIC,
    Squared: SQUARED,
    Hinge: HINGE,
    SquaredHinge: SQUARED_HINGE,
    SmoothedHinge: SMOOTHED_HINGE,
}


class Curve(NamedTuple):
    """A loss as compiled loops see it."""

    code: int
    margin: float
    temperature: float


def curve_of(loss: Loss) -> Curve:
    """Return the numbers of a loss; refuse one without a compiled slope."""
    if type(loss) not in CODES:
        known = ", ".join(repr(kind.name) for kind in CODES)
        raise NotImplementedError(f"the {loss.name} loss has no compiled slope; there are those of {known}.")
    return Curve(CODES[type(loss)], loss.margin, loss.temperature)


@nb.njit(nogil=True, cache=True, inline="always")
def slope_at(code: int, margin: float, temperature: float, t: float) -> float:
    """l'(t); at a kink the subgradient nearest to zero."""
    u = (margin - t) / temperature
    if code == HINGE:
        return -1.0 if u > 0.0 else 0.0
    if code == SMOOTHED_HINGE:
        return -min(max(u, 0.0), 1.0)
    if code == LOGISTIC:
        return -1.0 / (1.0 + math.exp(-u))
    if code == SQUARED_HINGE:
        return -2.0 * max(u, 0.0)
    return -2.0 * u
