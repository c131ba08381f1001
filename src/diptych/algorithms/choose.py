"""Choices that depend on public facts alone: the algorithm behind a name or ``auto``, and lambda."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from diptych.algorithms.base import Algorithm, Foreseeing, UnsuitableError
from diptych.algorithms.directions import Directions
from diptych.algorithms.dp_sgd import DPSGD
from diptych.algorithms.epochs import EpochGD
from diptych.algorithms.noisy_descent import NoisyGD
from diptych.algorithms.objective_perturbation import ObjectivePerturbation
from diptych.algorithms.online import OnlineOutput
from diptych.algorithms.output_descent import GDOutput
from diptych.algorithms.output_perturbation import OutputPerturbation
from diptych.algorithms.projection import JL
from diptych.algorithms.sgd_output import SGDOutput
from diptych.risks import Risk
from diptych.risks.linear import LinearRisk
from diptych.sets import L2Ball
from diptych.spec import Budget, TableSize

Kinds = Mapping[str, type[Any]]

MINIMISING: Kinds = {kind.name: kind for kind in (OutputPerturbation, ObjectivePerturbation)}
DESCENDING: Kinds = {kind.name: kind for kind in (GDOutput, NoisyGD, EpochGD, OnlineOutput, SGDOutput, DPSGD)}
ALGORITHMS: Kinds = {**MINIMISING, **DESCENDING}
METRICS: Kinds = {Directions.name: Directions, **DESCENDING}
POINTWISE: Kinds = {**MINIMISING, **{kind.name: kind for kind in (GDOutput, NoisyGD, EpochGD, DPSGD, JL)}}

EXACT_REGULARIZATION = 1e-4
ADDED_RISK = {  # that the noise may add: fitted to public data sets, docs/theory/regularization.md
    OutputPerturbation.name: 6e-4,
    ObjectivePerturbation.name: 2e-3,
}
GRID = np.geomspace(1e-5, 10.0, 61)

R = TypeVar("R", bound=Risk[Any])
L = TypeVar("L", bound=LinearRisk[Any])


def algorithms_named(
    algorithm: str | Algorithm[Any, Any],
    known: Kinds = ALGORITHMS,
    automatic: Sequence[str] = tuple(MINIMISING),
) -> tuple[Algorithm[Any, Any], ...]:
    """Return the algorithm itself, the one of that name, or all that ``auto`` may choose from."""
    if not isinstance(algorithm, str) and isinstance(algorithm, tuple(known.values())):
        return (algorithm,)
    if isinstance(algorithm, str) and algorithm == "auto":
        return tuple(known[name]() for name in automatic)
    if isinstance(algorithm, str) and algorithm in known:
        return (known[algorithm](),)
    names = ", ".join(map(repr, ("auto", *known)))
    raise ValueError(f"algorithm must be one of {names}, or an algorithm object; got {algorithm!r}.")


def suitable(
    algorithms: Sequence[Algorithm[R, Any]], risk: R, budget: Budget, constants: str
) -> tuple[Algorithm[R, Any], ...]:
    """Return the algorithms that take these settings; if none does, refuse as the first one does."""
    taken, refusals = [], []
    for algorithm in algorithms:
        try:
            algorithm.check(risk, budget, constants)
            taken.append(algorithm)
        except UnsuitableError as refusal:
            refusals.append(refusal)
    if not taken:
        raise refusals[0]
    return tuple(taken)


def choose_regularization(
    risk: L, size: TableSize, features: int, budget: Budget, algorithm: Algorithm[L, Any]
) -> float:
    """Return the lambda that ``auto`` means for this algorithm, from public facts alone.

    For the minimising ones it is the least for which the noise is predicted to add little risk; the descending ones,
    whose few steps regularise, need none.
    """
    if algorithm.name not in ADDED_RISK:
        return 0.0
    if not budget.private:
        return EXACT_REGULARIZATION

    def loud(lam: float) -> bool:
        added = _foreseen(algorithm, replace(risk, regularization=lam), size, features, budget)
        return added > ADDED_RISK[algorithm.name]

    return float(GRID[bisect_left(GRID[:-1], True, key=lambda lam: not loud(float(lam)))])


def _foreseen(algorithm: Algorithm[L, Any], risk: L, size: TableSize, features: int, budget: Budget) -> float:
    foreseeing: Foreseeing[L, Any] = algorithm  # type: ignore[assignment]
    return foreseeing.added_risk(risk, size, features, budget)


def choose(
    risk: L,
    size: TableSize,
    features: int,
    budget: Budget,
    algorithms: Sequence[Algorithm[L, Any]],
    *,
    auto: bool,
) -> tuple[Algorithm[L, Any], L]:
    """Return the algorithm to run and the risk with its lambda: the given one, or with ``auto`` the rule's.

    Each algorithm names a lambda, the least at which its noise adds little risk; the one that
    needs less is taken. At a given lambda it is the one that adds less risk. Ties go to the first. Where lambda is 0
    and the slope has no bound, w is kept in a ball.
    """
    if not auto:
        if len(algorithms) > 1 and budget.private:
            algorithms = sorted(algorithms, key=lambda one: _foreseen(one, risk, size, features, budget))
        return algorithms[0], risk
    strengths = [choose_regularization(risk, size, features, budget, one) for one in algorithms]
    least = int(np.argmin(strengths))
    return algorithms[least], _curbed(replace(risk, regularization=strengths[least]))


def _curbed(risk: L) -> L:
    """Return the risk; on a ball of its span where nothing else keeps w from slopes without bound."""
    if risk.regularization > 0 or math.isfinite(risk.loss.slope_bound(risk.constraint.radius)):
        return risk
    return replace(risk, constraint=L2Ball(risk.span))
