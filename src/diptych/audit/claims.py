"""What the descending algorithms compute before their noise, and how far they say that one record moves it.

The sensitivities are those that their noise is planned for, so a search that exceeds one has refuted a guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan
from diptych.algorithms import EpochGD, GDOutput, NoisyGD, OnlineOutput
from diptych.algorithms.descent import Descent, descend, mean_of, part_size, turns
from diptych.algorithms.online import one_pass
from diptych.algorithms.output_descent import result
from diptych.audit.sensitivity import search_gradient
from diptych.noise import SeededBits
from diptych.risks import PairRisk
from diptych.spec import Budget, TableSize

Array = NDArray[np.float64]
Risk = PairRisk[Any]


@dataclass(frozen=True)
class Claim:
    """Between neighbours of this size, the last record of which differs, ``compute`` moves by ``sensitivity`` at most.

    ``risk`` is the one on the bounded set in which the algorithm works.
    """

    what: str
    risk: Any
    size: TableSize
    compute: Callable[[Any], Array]
    sensitivity: float


def claims(algorithm: Any, risk: Risk, size: TableSize, features: int, budget: Budget) -> Iterator[Claim]:
    """Yield all that a private run claims, in Euclidean norm, wherever the changed record may come to stand."""
    if isinstance(algorithm, OnlineOutput):
        return _online_output(algorithm, risk, size, features, budget)
    if isinstance(algorithm, EpochGD):
        return _epoch_gd(algorithm, risk, size, features, budget)
    if not isinstance(algorithm, GDOutput | NoisyGD):
        raise TypeError(f"no claims are known of {type(algorithm).__name__}.")
    plan = algorithm.plan(risk, size, features, budget)
    if isinstance(algorithm, GDOutput):
        return _dealt("the result of the descent", plan, size, _result)
    w = _worst_point(plan, part_size(risk, size), features)
    return _dealt("the gradients of all steps", plan, size, partial(_gradients, w=w))


def _epoch_gd(algorithm: EpochGD, risk: Risk, size: TableSize, features: int, budget: Budget) -> Iterator[Claim]:
    """Each epoch from the worst w that a search finds: where the last one ended may be anywhere."""
    parts = _parts(algorithm, size)
    for number, (part, plan) in enumerate(zip(parts, algorithm.plan(risk, size, parts, features, budget), strict=True)):
        w = _worst_point(plan, part_size(risk, part), features)
        yield from _dealt(f"the mean of epoch {number + 1} of {len(parts)}", plan, part, partial(_mean, w=w))


def _parts(algorithm: EpochGD, size: TableSize) -> list[TableSize]:
    """Return public sizes that the parts of the epochs may have."""
    share = None if size.positives is None else size.positives / size.n
    return [
        TableSize(n, None if share is None else min(n - 1, max(1, round(share * n)))) for n in algorithm.parts(size)
    ]


def _online_output(
    algorithm: OnlineOutput, risk: Risk, size: TableSize, features: int, budget: Budget
) -> Iterator[Claim]:
    within, steps, noise = algorithm.plan(risk, size, features, budget)
    for place in range(size.n):
        order = np.insert(np.arange(size.n - 1), place, size.n - 1)
        compute = partial(_pass, within, steps, order)
        yield Claim(f"the mean of the iterates, change at place {place}", within, size, compute, _euclidean(noise))


def _dealt(what: str, plan: Descent, size: TableSize, compute: Callable[..., Array]) -> Iterator[Claim]:
    """Yield the claim on ``compute`` for some ways to cut the table into the parts that take turns."""
    for seed in range(1 if plan.schedule.parts == 1 else 2 * plan.schedule.parts):
        dealt = partial(compute, plan, seed)
        yield Claim(f"{what}, deal {seed}", plan.risk, size, dealt, _euclidean(plan.noise))


def _result(plan: Descent, seed: int, table: Any) -> Array:
    return result(plan, table, SeededBits(seed))


def _mean(plan: Descent, seed: int, table: Any, w: Array) -> Array:
    return mean_of(descend(plan.risk, turns(plan.risk, table, SeededBits(seed)), plan.schedule, w))


def _gradients(plan: Descent, seed: int, table: Any, w: Array) -> Array:
    """Gradients of all steps at one w: given the past, that of a step may be anywhere."""
    each = [plan.risk.gradient(w, one) for one in turns(plan.risk, table, SeededBits(seed))]
    return np.concatenate([each[step % len(each)] for step in range(plan.schedule.steps)])


def _pass(risk: Any, steps: Array, order: NDArray[np.intp], table: Any) -> Array:
    return mean_of(one_pass(risk, table.take(order), steps))


def _worst_point(plan: Descent, size: TableSize, features: int) -> Array:
    """Return the w at which a search finds the gradient most sensitive."""
    return search_gradient(plan.risk, size, features, seed=0, batch=32, rounds=100, tilt=math.inf).w


def _euclidean(noise: NoisePlan | None) -> float:
    """Return the sensitivity that noise was planned for; a coordinate Laplace law's is sqrt(d) times the Euclidean."""
    if noise is None:
        raise ValueError("without privacy nothing is claimed; give a finite epsilon.")
    return noise.sensitivity / (math.sqrt(noise.dimension) if noise.norm == "L1 norm" else 1.0)
