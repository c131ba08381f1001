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
ADDED_RISK = 6e-4  # that the noise may add: fitted to public data sets, docs/theory/regularization.md
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
    """Return the least lambda for which the noise is predicted to add little risk, from public facts alone.

    Noise b adds (beta/2) mean_ij (b.(x_i - x_j))^2, about (beta/(2 d)) E||b||^2 for pairs a unit apart.
    """
    if not budget.private:
        return EXACT_REGULARIZATION
    curvature = risk.loss.curvature_bound(math.inf)
    for lam in GRID:
        noise = algorithm.plan(replace(risk, regularization=float(lam)), size, dimension, budget).mean_square
        if 0.5 * curvature * noise / dimension <= ADDED_RISK:
            return float(lam)
    return float(GRID[-1])
