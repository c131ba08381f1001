"""Choices that depend on public facts alone: the algorithm behind a name or ``auto``, and lambda."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from diptych.algorithms.output_perturbation import OutputPerturbation
from diptych.risks import RankingRisk
from diptych.spec import Budget, TableSize

ALGORITHMS: dict[str, type[OutputPerturbation]] = {OutputPerturbation.name: OutputPerturbation}

EXACT_REGULARIZATION = 1e-4
PRICE = 2e-5  # of sqrt(lambda), in units of risk: fitted to public data sets, docs/theory/regularization.md
GRID = np.geomspace(1e-5, 10.0, 61)


def algorithm_named(algorithm: str | OutputPerturbation) -> OutputPerturbation:
    """Return the algorithm itself, or the one of that name; ``auto`` is output perturbation."""
    if isinstance(algorithm, OutputPerturbation):
        return algorithm
    if algorithm == "auto":
        return OutputPerturbation()
    if algorithm not in ALGORITHMS:
        names = ", ".join(map(repr, ("auto", *ALGORITHMS)))
        raise ValueError(f"algorithm must be one of {names}, or an algorithm object; got {algorithm!r}.")
    return ALGORITHMS[algorithm]()


def choose_regularization(
    risk: RankingRisk, size: TableSize, dimension: int, budget: Budget, algorithm: OutputPerturbation
) -> float:
    """Return a lambda that balances its price against the risk that the noise adds, from public facts alone.

    Noise b adds about (beta/2) mean_ij (b.(x_i - x_j))^2, with a mean squared pair distance presumed to be 1.
    """
    if not budget.private:
        return EXACT_REGULARIZATION
    best, least = EXACT_REGULARIZATION, math.inf
    for lam in GRID:
        trial = replace(risk, regularization=float(lam))
        noise = algorithm.plan(trial, size, dimension, budget).mean_square
        curvature = risk.loss.curvature_bound(math.inf) * risk.mass(size) / dimension
        cost = PRICE * math.sqrt(lam) + 0.5 * curvature * noise
        if cost < least:
            best, least = float(lam), cost
    return best
