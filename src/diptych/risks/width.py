"""How far apart two gradients of single records can be: the diameter of a body of revolution.

For ||w|| = rho and rows u in a ball of radius X, the gradients f(w.u) u fill a body with the axis w. Its diameter, X
times what is computed here, is how far replacing a record moves a sum of gradients
(``docs/theory/point-sensitivity.md``, Lemmas 1 and 2).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss

Array = NDArray[np.float64]

DIRECTIONS = 32  # between the axis and its normal
CELLS = 2048
ROUNDING = 1.0 + 1e-12


@lru_cache(maxsize=4096)
def body_diameter(loss: Loss, reach: float, label: float = 0.0) -> float:
    """Return an upper bound, within a few parts in a thousand, of sup ||f(w.u) u - f(w.v) v|| over unit vectors.

    f is the slope of l(t) for a loss of margins t = w.u, |t| <= reach; that of l(label - t) for one of residuals.
    Directions of the difference differ by at most ``half`` from one that is looked at, where the body is at least
    cos(half) times as wide; along each direction the profile is bounded cell by cell, from the values of f at both ends
    (f grows) and the largest cosine in between.
    """
    steepest = loss.slope_bound(reach + label if loss.residual else reach)
    if not math.isfinite(steepest) or math.isinf(reach) or reach == 0.0:
        return 2.0 * steepest
    edges = _edges(loss, reach, label)
    f = -loss.slope(label - edges) if loss.residual else loss.slope(edges)
    along = np.clip(edges / reach, -1.0, 1.0)
    angle = np.linspace(0.0, 0.5 * math.pi, DIRECTIONS + 1)
    half = 0.25 * math.pi / DIRECTIONS
    width = _support(f, along, angle) + _support(-f, along, angle)
    return min(2.0 * steepest, float(width.max()) / math.cos(half) * ROUNDING)


def _edges(loss: Loss, reach: float, label: float) -> Array:
    """Return ascending margins from -reach to reach: evenly in angle, and densely where the loss bends."""
    bend = label if loss.residual else loss.margin
    scale = min(loss.temperature, 1.0)
    far = math.asinh((reach + bend) / scale)
    dense = np.clip(bend + scale * np.sinh(np.linspace(-far, far, CELLS + 1)), -reach, reach)
    even = reach * np.cos(np.linspace(math.pi, 0.0, CELLS // 2 + 1))
    return np.unique(np.concatenate((dense, even, [-reach, reach])))


def _support(f: Array, along: Array, angle: Array) -> Array:
    """Return bounds of the body's extent in each direction (cos angle along the axis, sin angle away from it).

    A point of the profile is f times (x, +-y) with x = ``along`` and x^2 + y^2 = 1; whichever sign f has, y may be
    taken on the better side.
    """
    x, y = along[:, None], np.sqrt(np.maximum(0.0, 1.0 - along**2))[:, None]
    toward, away = x * np.cos(angle) + y * np.sin(angle), -x * np.cos(angle) + y * np.sin(angle)
    best = np.full((len(f) - 1, len(angle)), 0.0)
    for cosines, sign, peak in ((toward, 1.0, angle), (away, -1.0, math.pi - angle)):
        largest = np.maximum(cosines[:-1], cosines[1:])
        theta = np.arccos(along)
        inside = (theta[1:, None] <= peak) & (peak <= theta[:-1, None])
        largest = np.where(inside, 1.0, largest)
        for end in (f[:-1], f[1:]):
            best = np.maximum(best, np.maximum(sign * end, 0.0)[:, None] * largest)
    return np.asarray(best.max(axis=0))
