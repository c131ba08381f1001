"""Attacks on plans of objective perturbation by integrated densities: the share of the budget that is spent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diptych import Budget
from diptych.algorithms.objective_perturbation import FINISH, Perturbation
from diptych.audit import Compared, search_densities
from diptych.spec import TableSize


def spent(found: Compared, budget: Budget) -> float:
    """The share of the noise's and the Jacobian's budget: of delta at that epsilon, or of epsilon where delta is 0."""
    if budget.pure:
        return found.largest / ((1.0 - FINISH) * budget.epsilon)
    return found.divergence / ((1.0 - FINISH) * budget.delta)


def attack(
    plan: Perturbation, size: TableSize, d: int, budget: Budget, rounds: int, seed: int = 0, error: float = 3e-3
) -> float:
    """Return the share of the budget that the worst neighbours found spend; ``error`` is what the mass may miss."""
    epsilon = (1.0 - FINISH) * budget.epsilon
    found = search_densities(plan.risk, size, d, plan.tilt, epsilon, seed, rounds)
    assert found.mass == pytest.approx(1.0, abs=error)
    return spent(found, budget)


def with_noise(plan: Perturbation, factor: float) -> Perturbation:
    return replace(plan, tilt=replace(plan.tilt, scale=plan.tilt.scale * factor))
