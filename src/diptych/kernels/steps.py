"""Stochastic gradient steps, compiled: batches, noise and step sizes come ready; the loss is one of a few curves.

Their slopes: ``slopes.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.slopes import LOGISTIC, curve_of, unit_slope
from diptych.losses import Loss

Array = NDArray[np.float64]

SAFE = 300.0  # scores over temperature: beyond, a product of exponentials could overflow
MATHS = {"reassoc", "contract", "nsz"}


class Rule(NamedTuple):
    """How to step: w - length (weight gradient + shrink w + noise), then into the ball.

    ``weight`` is that of one point, or of one pair in a batch of ``size`` records or fewer; larger ones count as
    size/their size of it.
    """

    curve: int
    residual: bool
    margin: float
    temperature: float
    power: float
    weight: float
    size: int
    shrink: float
    length: float
    radius: float

    @classmethod
    def of(cls, loss: Loss, **rest: Any) -> Rule:
        """Return the rule for a loss that there is compiled code for."""
        curve = curve_of(loss)
        return cls(curve.code, loss.residual, curve.margin, curve.temperature, curve.power, **rest)


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _pulls(curve: int, q: float, up: Array, down: Array, pull_up: Array, pull_down: Array) -> None:
    """Sums over partners of -l' at u = down - up; ``up`` is (s - a)/tau of positives, ``down`` s/tau of negatives."""
    pull_down[:] = 0.0
    far = 0.0
    for i in range(up.size):
        far = max(far, abs(up[i]))
    for j in range(down.size):
        far = max(far, abs(down[j]))
    if curve == LOGISTIC and far < SAFE:  # 1/(1 + e^(up - down)): one division a pair
        for j in range(down.size):
            down[j] = np.exp(-down[j])
        for i in range(up.size):
            rise, total = np.exp(up[i]), 0.0
            for j in range(down.size):
                pull = 1.0 / (1.0 + rise * down[j])
                total += pull
                pull_down[j] += pull
            pull_up[i] = total
        return
    for i in range(up.size):
        total = 0.0
        for j in range(down.size):
            pull = unit_slope(curve, down[j] - up[i], q)
            total += pull
            pull_down[j] += pull
        pull_up[i] = total


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _add(scale: float, a: Array, out: Array) -> None:
    for k in range(a.size):
        out[k] += scale * a[k]


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _update(w: Array, gradient: Array, noise: Array, rule: Rule) -> None:
    square = 0.0
    for k in range(w.size):
        w[k] -= rule.length * (gradient[k] + rule.shrink * w[k] + noise[k])
        square += w[k] * w[k]
    norm = np.sqrt(square)
    if norm > rule.radius:
        for k in range(w.size):
            w[k] *= rule.radius / norm


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _ranking_gradient(
    X: Array, positive: NDArray[np.bool_], rows: NDArray[np.int32], w: Array, rule: Rule, out: Array
) -> None:
    """Weighted sum over the (positive, negative) pairs of a batch of the gradients of their losses."""
    batch = np.empty((rows.size, w.size))
    ups, up, down = 0, np.empty(rows.size), np.empty(rows.size)
    for i in range(rows.size):
        if positive[rows[i]]:
            batch[ups] = X[rows[i]]
            ups += 1
    downs = ups
    for i in range(rows.size):
        if not positive[rows[i]]:
            batch[downs] = X[rows[i]]
            downs += 1
    downs -= ups
    for i in range(ups):
        up[i] = (_dot(batch[i], w) - rule.margin) / rule.temperature
    for j in range(downs):
        down[j] = _dot(batch[ups + j], w) / rule.temperature
    pull = np.empty(rows.size)
    _pulls(rule.curve, rule.power, up[:ups], down[:downs], pull[:ups], pull[ups:])
    weight = rule.weight * min(1.0, rule.size / max(1, rows.size))
    out[:] = 0.0
    for i in range(rows.size):
        _add((-weight if i < ups else weight) * pull[i], batch[i], out)


@nb.njit(nogil=True, cache=True)
def ranking_steps(
    X: Array,
    positive: NDArray[np.bool_],
    rows: NDArray[np.int32],
    starts: NDArray[np.int64],
    noise: Array,
    rule: Rule,
    w: Array,
    total: Array,
    skip: int,
) -> None:
    """Take a step a batch from w, in place; add the iterates after the first ``skip`` to ``total``."""
    gradient = np.empty(w.size)
    for step in range(starts.size - 1):
        _ranking_gradient(X, positive, rows[starts[step] : starts[step + 1]], w, rule, gradient)
        _update(w, gradient, noise[step], rule)
        if step >= skip:
            _add(1.0, w, total)


@nb.njit(nogil=True, fastmath=MATHS, cache=True)
def _point_gradient(X: Array, y: Array, rows: NDArray[np.int32], w: Array, rule: Rule, out: Array) -> None:
    """Weighted sum over the records of a batch of the gradients of their losses."""
    pull = np.empty(rows.size)
    for i in range(rows.size):  # alone, so that many rows are on their way at once
        pull[i] = _dot(X[rows[i]], w)
    for i in range(rows.size):
        label, score = y[rows[i]], pull[i]
        if rule.residual:
            pull[i] = unit_slope(rule.curve, (label - score) / rule.temperature, rule.power)
        else:
            pull[i] = label * unit_slope(rule.curve, (rule.margin - label * score) / rule.temperature, rule.power)
    out[:] = 0.0
    for i in range(rows.size):
        _add(-rule.weight * pull[i], X[rows[i]], out)


@nb.njit(nogil=True, cache=True)
def point_steps(
    X: Array,
    y: Array,
    rows: NDArray[np.int32],
    starts: NDArray[np.int64],
    noise: Array,
    rule: Rule,
    w: Array,
    total: Array,
    skip: int,
) -> None:
    """Take a step a batch from w, in place; add the iterates after the first ``skip`` to ``total``."""
    gradient = np.empty(w.size)
    for step in range(starts.size - 1):
        _point_gradient(X, y, rows[starts[step] : starts[step + 1]], w, rule, gradient)
        _update(w, gradient, noise[step], rule)
        if step >= skip:
            _add(1.0, w, total)
