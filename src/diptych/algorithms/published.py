"""Noise as papers publish it, on this library's lattice, beside what the library can defend.

Each algorithm knows its own published scale; here a plan is made of it, and whether it is enough is found out.
"""

from __future__ import annotations

import math
from dataclasses import replace

from diptych.accounting import NoisePlan, plan_noise
from diptych.noise import Lattice
from diptych.spec import Budget


def classic_factor(budget: Budget, law: str) -> float:
    """Scale over sensitivity: 1/epsilon, for Gaussian noise sqrt(2 ln(1.25/delta))/epsilon."""
    return (math.sqrt(2.0 * math.log(1.25 / budget.delta)) if law == "gaussian" else 1.0) / budget.epsilon


def published_plan(
    law: str,
    sensitivity: float,
    scale: float,
    needed: float,
    dimension: int,
    budget: Budget,
    reference: str,
) -> tuple[NoisePlan, bool]:
    """Return noise of the published scale, and whether it hides the defended Euclidean sensitivity ``needed``."""
    defended = plan_noise(budget, needed, dimension, law)
    lattice = Lattice.for_scale(scale)
    if law != "norm-laplace":
        scale = lattice.steps(scale) * lattice.step
    rounding = {"gaussian": math.sqrt(dimension), "laplace": float(dimension), "norm-laplace": 0.0}[law] * lattice.step
    widened = needed * (math.sqrt(dimension) if law == "laplace" else 1.0) + rounding
    enough = widened / scale <= defended.sensitivity / defended.scale
    plan = replace(
        defended,
        sensitivity=sensitivity,
        scale=scale,
        lattice=lattice,
        accountant=f"as published ({reference})",
    )
    return plan, enough
