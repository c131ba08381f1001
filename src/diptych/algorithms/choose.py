"""Choices that depend on public facts alone: the algorithm behind a name or ``auto``, and lambda."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diptych.algorithms.base import Algorithm, UnsuitableError
from diptych.algorithms.objective_perturbation import ObjectivePerturbation
from diptych.algorithms.output_perturbation import OutputPerturbation
from diptych.risks import RankingRisk
from diptych.spec import Budget, TableSize

ALGORITHMS: dict[str, type[OutputPerturbation] | type[ObjectivePerturbation]] = {
    algorithm.name: algorithm for algorithm in (OutputPerturbation, ObjectivePerturbation)
}

EXACT_REGULARIZATION = 1e-4
ADDED_RISK = {  # that the noise may add: fitted to public data sets, docs/theory/regularization.md
    OutputPerturbation.name: 6e-4,
    ObjectivePerturbation.name: 2e-3,
}
GRID = np.geomspace(1e-5, 10.0, 61)


def algorithms_named(algorithm: str | Algorithm) -> tuple[Algorithm, ...]:
    """Return the algorithm itself, the one of that name, or all that ``auto`` may choose from."""
    if isinstance(algorithm, OutputPerturbation | ObjectivePerturbation):
        return (algorithm,)
    if algorithm == "auto":
        return tuple(kind() for kind in ALGORITHMS.values())
    if isinstance(algorithm, str) and algorithm in ALGORITHMS:
        return (ALGORITHMS[algorithm](),)
    names = ", ".join(map(repr, ("auto", *ALGORITHMS)))
    raise ValueError(f"algorithm must be one of {names}, or an algorithm object; got {algorithm!r}.")


def suitable(
    algorithms: Sequence[Algorithm], risk: RankingRisk, budget: Budget, constants: str
) -> tuple[Algorithm, ...]:
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
    risk: RankingRisk, size: TableSize, dimension: int, budget: Budget, algorithm: Algorithm
) -> float:
    """Return the least lambda for which the noise is predicted to add little risk, from public facts alone."""
    if not budget.private:
        return EXACT_REGULARIZATION

    def loud(lam: float) -> bool:
        added = algorithm.added_risk(replace(risk, regularization=lam), size, dimension, budget)
        return added > ADDED_RISK[algorithm.name]

    return float(GRID[bisect_left(GRID[:-1], True, key=lambda lam: not loud(float(lam)))])


def choose(
    risk: RankingRisk, size: TableSize, dimension: int, budget: Budget, algorithms: Sequence[Algorithm]
) -> tuple[Algorithm, RankingRisk]:
    """Return the algorithm to run and the risk with its lambda: the given one, or if that is 0 the rule's.

    Each algorithm names a lambda, the least at which its noise adds little risk; the one that needs less is taken. At
    a given lambda it is the one that adds less risk. Ties go to the first.
    """
    if risk.regularization > 0:
        if len(algorithms) > 1 and budget.private:
            algorithms = sorted(algorithms, key=lambda one: one.added_risk(risk, size, dimension, budget))
        return algorithms[0], risk
    strengths = [choose_regularization(risk, size, dimension, budget, one) for one in algorithms]
    least = int(np.argmin(strengths))
    return algorithms[least], replace(risk, regularization=strengths[least])
