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
from diptych.risks import PairRisk, Risk
from diptych.spec import Budget, TableSize

Array = NDArray[np.float64]


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


def claims(algorithm: Any, risk: Risk[Any], size: TableSize, features: int, budget: Budget) -> Iterator[Claim]:
    """Yield all that a private run claims, in Euclidean norm, wherever the changed record may come to stand."""
    if isinstance(algorithm, OnlineOutput) and isinstance(risk, PairRisk):
        within, steps, noise = algorithm.plan(risk, size, features, budget)
        return _claims("the mean of the iterates", within, size, partial(_pass, within, steps), noise, range(size.n))
    if isinstance(algorithm, EpochGD):
        return _of_epochs(algorithm, risk, size, features, budget)
    if not isinstance(algorithm, GDOutput | NoisyGD):
        raise TypeError(f"no claims are known of {type(algorithm).__name__}.")
    plan = algorithm.plan(risk, size, features, budget)
    if isinstance(algorithm, GDOutput):
        return _of_plan("the result of the descent", plan, size, partial(_result, plan))
    w = _worst_point(plan, part_size(risk, size), features)
    return _of_plan("the gradients of all steps", plan, size, partial(_gradients, plan, w))


def _of_epochs(algorithm: EpochGD, risk: Risk[Any], size: TableSize, features: int, budget: Budget) -> Iterator[Claim]:
    """Each epoch from the worst w that a search finds: where the last one ended may be anywhere."""
    parts = _parts(algorithm, size)
    for number, (part, plan) in enumerate(zip(parts, algorithm.plan(risk, size, parts, features, budget), strict=True)):
        w = _worst_point(plan, part_size(risk, part), features)
        yield from _of_plan(f"the mean of epoch {number + 1} of {len(parts)}", plan, part, partial(_mean, plan, w))


def _parts(algorithm: EpochGD, size: TableSize) -> list[TableSize]:
    """Return public sizes that the parts of the epochs may have."""
    share = None if size.positives is None else size.positives / size.n
    return [
        TableSize(n, None if share is None else min(n - 1, max(1, round(share * n)))) for n in algorithm.parts(size)
    ]


def _of_plan(what: str, plan: Descent, size: TableSize, compute: Callable[[Any], Array]) -> Iterator[Claim]:
    """Where parts take turns, the changed record's place decides which part it comes into."""
    places = range(size.n - 1 if plan.schedule.parts == 1 else 0, size.n)
    return _claims(what, plan.risk, size, compute, plan.noise, places)


def _claims(
    what: str, risk: Risk[Any], size: TableSize, compute: Callable[[Any], Array], noise: NoisePlan | None, places: range
) -> Iterator[Claim]:
    for place in places:
        order = np.insert(np.arange(size.n - 1), place, size.n - 1)
        moved = partial(_reordered, compute, order)
        yield Claim(f"{what}, change at place {place}", risk, size, moved, _euclidean(noise))


def _reordered(compute: Callable[[Any], Array], order: NDArray[np.intp], table: Any) -> Array:
    return compute(table.take(order[order < table.n]))


def _result(plan: Descent, table: Any) -> Array:
    return result(plan, table, SeededBits(0))


def _gradients(plan: Descent, w: Array, table: Any) -> Array:
    """Gradients of all steps at one w: given the past, that of a step may be anywhere."""
    each = [plan.risk.gradient(w, one) for one in turns(plan.risk, table, SeededBits(0))]
    return np.concatenate([each[step % len(each)] for step in range(plan.schedule.steps)])


def _mean(plan: Descent, w: Array, table: Any) -> Array:
    return mean_of(descend(plan.risk, turns(plan.risk, table, SeededBits(0)), plan.schedule, w))


def _pass(risk: Any, steps: Array, table: Any) -> Array:
    return mean_of(one_pass(risk, table, steps))


def _worst_point(plan: Descent, size: TableSize, features: int) -> Array:
    """Return the w at which a search finds the gradient most sensitive."""
    return search_gradient(plan.risk, size, features, seed=0, batch=32, rounds=100, tilt=math.inf).w


def _euclidean(noise: NoisePlan | None) -> float:
    """Return the sensitivity that noise was planned for; a coordinate Laplace law's is sqrt(d) times the Euclidean."""
    if noise is None:
        raise ValueError("without privacy nothing is claimed; give a finite epsilon.")
    return noise.sensitivity / (math.sqrt(noise.dimension) if noise.norm == "L1 norm" else 1.0)
