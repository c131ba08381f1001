"""The minimiser of any risk with a smooth loss over a bounded set, without privacy: fast projected gradients.

FISTA (Beck and Teboulle 2009) with step sizes found by backtracking and the gradient restart of O'Donoghue and Candes
(2015). Only gradients are compared, never values, whose differences would drown in rounding long before. How many
steps it takes depends on the table, so private algorithms must not call it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Huber, SmoothedHinge
from diptych.risks.base import Risk, Table

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

MOST = 10_000
GROWTH = 1.1  # of the step size after a step; until one has been too long, it doubles
SHORTEST = 2.0**-40  # of 1/smoothness, which holds on the set: momentum may lead out of it
WIDTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # over which a kink is rounded off on the way to a sharper one
CHORD = 1e-6  # of the set's diameter
SETTLED = 1e-3  # of a width: the residual to which the risk so rounded off is minimised


@dataclass(frozen=True)
class ProjectedMinimum:
    """Where the descent stopped, and how good that point is.

    Attributes
    ----------
    w
        A point of the set.
    residual
        Norm of the gradient mapping of the last step, (where it began - w)/(its size): 0 at a minimiser, and the norm
        of the gradient where the set does not hold w back.
    gap
        The risk at w exceeds its minimum by no more, up to rounding.
    steps
        How many were taken.
    converged
        Whether ``residual`` reached the tolerance; if not, ``gap`` still holds.
    """

    w: Array
    residual: float
    gap: float
    steps: int
    converged: bool


def minimise_projected(risk: Risk[T], table: T, tolerance: float, most: int = MOST) -> ProjectedMinimum:
    """Descend until the gradient mapping's norm is at most ``tolerance``, or for about ``most`` steps.

    Along a sharp kink steps would be tiny; so it is first rounded off widely, then ever less. Few records and a hinge,
    whose optimum lies on many kinks, may need more steps than that: then it has not ``converged``.
    """
    _check(risk, table, tolerance)
    w, steps = risk.start(table.d), 0
    for width, gentler in _gentler(risk):
        found = _descend(gentler, table, w, max(tolerance, SETTLED * width), max(1, (most - steps) // 2))
        w, steps = found.w, steps + found.steps
    found = _descend(risk, table, w, tolerance, max(1, most - steps))
    return replace(found, steps=steps + found.steps)


def _check(risk: Risk[T], table: T, tolerance: float) -> None:
    """Refuse a risk that cannot be minimised so."""
    if not tolerance > 0:
        raise ValueError(f"tolerance must be above 0; got {tolerance!r}.")
    if not math.isfinite(risk.constraint.diameter):
        raise ValueError("constraint must be a bounded set to descend in; give the risk a ball.")
    if not math.isfinite(_smoothness(risk, table)):
        raise ValueError(f"the {risk.loss.name} loss has a kink; minimise a smoothed-hinge instead.")


def _smoothness(risk: Risk[T], table: T) -> float:
    """Return M; for a Hölder slope that of chords over a small part of the set, which backtracking starts from."""
    certificate = risk.certificate(table.size(risk.adjacency), table.d, tilt=math.inf)
    if math.isfinite(certificate.smoothness) or certificate.holder_exponent == 0.0:
        return certificate.smoothness
    chord = (CHORD * risk.constraint.diameter) ** (certificate.holder_exponent - 1.0)
    return float(certificate.holder * chord + certificate.strong_convexity)


def _gentler(risk: Any) -> Iterator[tuple[float, Any]]:
    """Yield widths and the risk with its kink rounded off over each, down to its own."""
    curve = getattr(risk, "curve", risk.loss)  # a risk may itself round off the kink of its loss
    if isinstance(curve, SmoothedHinge | Huber):
        for width in WIDTHS:
            if width > curve.temperature:
                yield width, replace(risk, loss=replace(curve, temperature=width))


def _descend(risk: Risk[T], table: T, w: Array, tolerance: float, most: int) -> ProjectedMinimum:
    """Descend on one risk.

    The gap: for any u of the set, R(v) - R(u) <= g.(v - u) + ||v - y||^2/(2 length) by ``_step`` and convexity, and
    length g.(v - u) <= (y - v).(v - u), because v is the point of the set nearest to y - length g.
    """
    y, g = w, risk.gradient(w, table)
    steepest = _smoothness(risk, table)
    length, growth, momentum = 1.0 / steepest, 2.0, 1.0
    residual = gap = math.inf
    for step in range(1, most + 1):
        v, h, kept = _step(risk, table, y, g, length, SHORTEST / steepest)
        if kept < length:
            growth = GROWTH
        length, last, w, back = kept, w, v, y - v
        residual = float(np.linalg.norm(back)) / length
        gap = residual * (risk.constraint.diameter + 0.5 * length * residual)
        if residual <= tolerance:
            return ProjectedMinimum(w, residual, gap, step, converged=True)
        if back @ (w - last) > 0.0:  # the momentum carried it uphill: begin anew
            y, g, momentum = w, h, 1.0
        else:
            faster = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
            y, momentum = w + (momentum - 1.0) / faster * (w - last), faster
            g = risk.gradient(y, table)
        length *= growth
    return ProjectedMinimum(w, residual, gap, most, converged=False)


def _step(risk: Risk[T], table: T, y: Array, g: Array, length: float, shortest: float) -> tuple[Array, Array, float]:
    """Return the projected step v from y, the gradient there and the length, halved until the step surely descends.

    With move = v - y, R(v) <= R(y) + g.move + ||move||^2/(2 length) holds if (g(v) - g).move <= ||move||^2/(2 length),
    by convexity; ``gap`` and the speed of FISTA rest on that.
    """
    while True:
        v = risk.constraint.project(y - length * g)
        h, move = risk.gradient(v, table), v - y
        if (h - g) @ move <= 0.5 / length * (move @ move) or length <= shortest:
            return v, h, length
        length *= 0.5
