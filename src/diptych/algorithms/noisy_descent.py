"""Gradient descent on the whole table with noise on every gradient (``noisy-gd``).

Xue, Yang, Huai and Wang (2021), Algorithm 2, for every pair risk. Proofs and schedules:
``docs/theory/gradient-descent.md``. The published constants on request: ``paper_descent.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import gaussian_mu, plan_noise
from diptych.algorithms import paper_descent as paper
from diptych.algorithms.base import (
    Release,
    UnsuitableError,
    check_paper,
    check_settings,
    check_smooth,
    event,
    open_release,
    promise,
)
from diptych.algorithms.descent import (
    OPEN,
    Descent,
    Schedule,
    affordable,
    check_bounded_slope,
    check_settings_of,
    confine,
    descend,
    mean_of,
    part_count,
    part_size,
    per_step,
    turns,
)
from diptych.noise import BitSource
from diptych.risks import Risk, Table
from diptych.spec import Adjacency, Budget, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class NoisyGD:
    """Descend on noisy gradients; release the mean of the second half of the iterates.

    Claim
        (epsilon, delta)-DP with delta > 0, all iterates together, under ``replace`` and ``replace-within-class``; for
        points under ``add-remove``, too.
    Assumptions
        A convex loss, with or without kinks, whose slope is bounded on the set; rows in the unit ball.
    Released
        The mean of the last half of the projected iterates.
    Reference
        Xue, Yang, Huai and Wang (2021), Algorithm 2 (DPGDC2), with the exact composition of
        ``docs/theory/gradient-descent.md``, Theorem 2.

    Parameters
    ----------
    steps, step_size
        A number, or ``"auto"``: a rule of public facts.
    """

    steps: int | str = "auto"
    step_size: float | str = "auto"

    name = "noisy-gd"

    def __post_init__(self) -> None:
        check_settings_of(self.name, self.steps, self.step_size)

    def check(self, risk: Risk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_settings("auto", risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if budget.private and budget.pure:
            raise UnsuitableError(
                f"delta=0 does not suit {self.name}, whose noise is Gaussian; set delta above 0, or take "
                "algorithm='epoch-gd'."
            )
        if constants == "paper":
            # their step size is at most 1/(2L)
            check_smooth("constants='paper'", risk.loss, ", or constants='defended'")
            check_paper("auto", "gaussian", Adjacency.REPLACE, risk, free=False)

    def plan(
        self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, constants: str = "defended"
    ) -> Descent:
        """Return set, schedule and noise, that of all steps as of one vector (Theorem 2).

        The steps that one record takes part in compose to a sensitivity of sqrt(uses) (s + 2 e), exactly.
        """
        self.check(risk, budget, constants)
        risk = risk.confined(size, math.inf)
        schedule = self._schedule(risk, size, features, budget, constants)
        risk = confine(risk, size, schedule)
        if not budget.private:
            return Descent(risk, schedule)
        certificate = risk.certificate(part_size(risk, size), features, tilt=math.inf)
        together = math.sqrt(schedule.uses) * per_step(certificate)
        dimension = schedule.steps * risk.dimension(features)
        noise, defended = plan_noise(budget, together, dimension, "gaussian"), True
        if constants == "paper":
            noise, defended = paper.noisy_gd(risk, certificate, schedule, together, dimension, budget)
        noise.check_range(certificate.lipschitz + certificate.strong_convexity * certificate.radius)
        return Descent(risk, schedule, noise, defended)

    def _schedule(self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, constants: str) -> Schedule:
        certificate = risk.certificate(part_size(risk, size), features, tilt=math.inf)
        steps, length = OPEN, risk.stride(size)
        if constants == "paper":
            steps, length = paper.noisy_schedule(risk, certificate, features, budget)
        length = length if self.step_size == "auto" else float(self.step_size)
        if self.steps != "auto":
            steps = int(self.steps)
        elif budget.private and constants != "paper":
            one = length * per_step(certificate) * math.sqrt(risk.dimension(features))
            mu = gaussian_mu(budget.epsilon, budget.delta)
            steps = affordable(risk, one / mu)
        return Schedule(steps, length, part_count(risk, size.n))

    def run(self, risk: Risk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended") -> Release:
        """Descend on noisy gradients, and say what was promised."""
        self.check(risk, budget, constants)
        plan = self.plan(risk, table.size(risk.adjacency), table.d, budget, constants)
        start, steps = plan.risk.start(table.d), plan.schedule.steps
        tables = turns(plan.risk, table, source)
        if plan.noise is None:
            w = mean_of(descend(plan.risk, tables, plan.schedule, start), steps // 2)
            return open_release(risk, w, f"{steps} steps of gradient descent", plan.trace)
        single = replace(plan.noise, dimension=start.size)
        iterates = descend(plan.risk, tables, plan.schedule, start, lambda gradient: single.add(gradient, source))
        w = mean_of(iterates, 0 if constants == "paper" else steps // 2)
        if constants == "paper":  # whose mean starts at w_0
            w = (start + steps * w) / (steps + 1.0)
        guarantee = promise(
            risk,
            budget,
            f"{steps} steps of gradient descent",
            (event(f"the gradients of all {steps} steps together", plan.noise),),
            plan.noise,
            constants=constants,
            defended=plan.defended,
            seeded=source.seeded,
        )
        return Release(w, guarantee, plan.trace)
