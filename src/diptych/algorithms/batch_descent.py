"""Noisy steps along the gradients of random batches, as they were planned: compiled where the risk allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import StepNoise
from diptych.algorithms.batches import Design, batch_gradient
from diptych.kernels.slopes import compiled
from diptych.kernels.steps import Rule, point_steps, ranking_steps
from diptych.noise import Batches, BitSource, gaussian
from diptych.risks import PointRisk, RankingRisk

Array = NDArray[np.float64]

MOST_EXPLICIT = 2_048  # records whose pairs are visited one by one
CHUNK = 2**17  # records whose batches are drawn at once


@dataclass(frozen=True)
class Plan:
    """All that is fixed before the table is seen; ``noise`` is None without privacy."""

    risk: Any
    batches: Design
    steps: int
    step_size: float
    noise: StepNoise | None = None
    defended: bool = True

    @property
    def trace(self) -> dict[str, Any]:
        """What a release may say of it: all of it is public."""
        drawn = {"sampling": self.batches.sampling, "batch": self.batches.size}
        return {"regularization": self.risk.regularization, "steps": self.steps, "step_size": self.step_size, **drawn}


def descend_on_batches(plan: Plan, table: Any, source: BitSource, skip: int, steps: int) -> tuple[Array, Array]:
    """Take so many steps from the start. Return the sum of the iterates after the first few, and the last one."""
    w = np.array(plan.risk.start(table.d))
    total = np.zeros(w.size)
    step = _compiled(plan, table) if _fast(plan) else _plain(plan, table)
    done = 0
    for batches, noise in _chunks(plan, table, source, w.size, steps):
        step(batches, noise, w, total, max(0, skip - done))
        done += len(noise)
    return total, w


Stepper = Callable[[Batches, Array, Array, Array, int], None]


def _chunks(plan: Plan, table: Any, source: BitSource, dimension: int, steps: int) -> Iterator[tuple[Batches, Array]]:
    """Yield batches and the noise on their gradients, many steps at once."""
    sampler = plan.batches.sampler(table)
    most = max(1, CHUNK // max(plan.batches.size, dimension))
    for first in range(0, steps, most):
        count = min(most, steps - first)
        batches = sampler.draw(count, source)
        if plan.noise is None:
            yield batches, np.zeros((count, dimension))
        else:
            yield batches, plan.noise.scale * gaussian(count * dimension, source).reshape(count, dimension)


def _fast(plan: Plan) -> bool:
    """Whether compiled code takes the steps: for points, and for rankings with batches that are not too large."""
    if not compiled(plan.risk.loss):
        return False
    few = plan.batches.size <= MOST_EXPLICIT
    return isinstance(plan.risk, PointRisk) or (isinstance(plan.risk, RankingRisk) and few)


def _compiled(plan: Plan, table: Any) -> Stepper:
    take, labels = (point_steps, "y") if isinstance(plan.risk, PointRisk) else (ranking_steps, "positive")
    rule = Rule.of(
        plan.risk.loss,
        weight=plan.batches.weight,
        size=plan.batches.size,
        shrink=plan.risk.regularization,
        length=plan.step_size,
        radius=plan.risk.constraint.radius,
    )

    def steps(batches: Batches, noise: Array, w: Array, total: Array, skip: int) -> None:
        take(table.X, getattr(table, labels), batches.rows, batches.starts, noise, rule, w, total, skip)

    return steps


def _plain(plan: Plan, table: Any) -> Stepper:
    def steps(batches: Batches, noise: Array, w: Array, total: Array, skip: int) -> None:
        for k, one in enumerate(noise):
            rows = batches.rows[batches.starts[k] : batches.starts[k + 1]]
            gradient = batch_gradient(plan.risk, plan.batches, table, rows, w)
            gradient += plan.risk.regularization * w + one
            w[:] = plan.risk.constraint.project(w - plan.step_size * gradient)
            if k >= skip:
                total += w

    return steps
