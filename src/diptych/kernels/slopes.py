"""Slopes of the unit curves of losses, as compiled loops see them that need one record or pair at a time.

``curve_of(loss)`` gives the numbers that a loop hands to ``slope_at``. Up to an argument's rounding, the piecewise
ones are monotone in the margin as computed, which the proofs for losses with kinks use.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np

from diptych.losses import (
    Absolute,
    Hinge,
    Huber,
    Logistic,
    Loss,
    QNorm,
    QNormHinge,
    SmoothedHinge,
    Squared,
    SquaredError,
    SquaredHinge,
)

LOGISTIC, SQUARED, HINGE, SQUARED_HINGE, SMOOTHED_HINGE, Q_HINGE, HUBER, ABSOLUTE, Q_NORM = range(9)
CURVES: dict[type[Loss], int] = {
    Logistic: LOGISTIC,
    Squared: SQUARED,
    Hinge: HINGE,
    SquaredHinge: SQUARED_HINGE,
    SmoothedHinge: SMOOTHED_HINGE,
    QNormHinge: Q_HINGE,
    SquaredError: SQUARED,
    Huber: HUBER,
    Absolute: ABSOLUTE,
    QNorm: Q_NORM,
}


class Curve(NamedTuple):
    """A loss as compiled loops see it."""

    code: int
    margin: float
    temperature: float
    power: float


def compiled(loss: Loss) -> bool:
    """Whether there is a compiled slope for this loss."""
    return type(loss) in CURVES


def curve_of(loss: Loss) -> Curve:
    """Return the numbers of a loss; refuse one without a compiled slope."""
    if not compiled(loss):
        known = ", ".join(repr(kind.name) for kind in CURVES)
        raise NotImplementedError(f"the {loss.name} loss has no compiled slope; there are those of {known}.")
    return Curve(CURVES[type(loss)], loss.margin, loss.temperature, float(getattr(loss, "q", 2.0)))


@nb.njit(nogil=True, cache=True, inline="always")
def unit_slope(code: int, u: float, power: float) -> Any:
    """-l'(t) for u = (a - t)/tau, or l'(r) for u = r/tau; at a kink the subgradient nearest to zero."""
    if code == LOGISTIC:
        slope = 1.0 / (1.0 + np.exp(-u)) if u > -700.0 else 0.0
    elif code == SQUARED:
        slope = 2.0 * u
    elif code == HINGE:
        slope = 1.0 if u > 0.0 else 0.0
    elif code == SQUARED_HINGE:
        slope = 2.0 * u if u > 0.0 else 0.0
    elif code == SMOOTHED_HINGE:
        slope = min(max(u, 0.0), 1.0)
    elif code == HUBER:
        slope = min(max(u, -1.0), 1.0)
    elif code == ABSOLUTE:
        slope = np.sign(u)
    elif code == Q_HINGE:
        slope = power * u ** (power - 1.0) if u > 0.0 else 0.0
    else:
        slope = power * np.sign(u) * abs(u) ** (power - 1.0)
    return slope


@nb.njit(nogil=True, cache=True, inline="always")
def slope_at(curve: Curve, t: float) -> Any:
    """l'(t), for a loss of margins."""
    return -unit_slope(curve.code, (curve.margin - t) / curve.temperature, curve.power)
