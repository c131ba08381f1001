"""Gradient descent on the whole table, then noise on its result (``gd-output``).

Xue, Yang, Huai and Wang (2021), Algorithms 1 and 4, for every pair risk. Proofs and schedules:
``docs/theory/gradient-descent.md``. The published constants on request: ``paper_descent.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import plan_noise
from diptych.algorithms import paper_descent as paper
from diptych.algorithms.base import (
    Release,
    check_noise,
    check_paper,
    check_settings,
    check_smooth,
    event,
    open_release,
    promise,
)
from diptych.algorithms.descent import (
    ANY_SLOPE,
    MOST,
    OPEN,
    Descent,
    Schedule,
    affordable,
    check_bounded_slope,
    check_settings_of,
    check_step,
    confine,
    descend,
    last_of,
    mean_of,
    movement,
    part_count,
    part_size,
    per_step,
    turns,
)
from diptych.noise import BitSource
from diptych.risks import Certificate, Risk, Table
from diptych.spec import Adjacency, Budget, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

SETTLED = 1e-3  # what default schedules leave of the distance to the minimiser


@dataclass(frozen=True)
class GDOutput:
    """Descend without noise, release the last iterate (lambda > 0) or the mean of all (lambda = 0) plus noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``; for points under
        ``add-remove``, too.
    Assumptions
        A convex loss with a Lipschitz derivative, steps of at most 2/(M + lambda), rows in the unit ball.
    Released
        The noisy iterate, projected on the set.
    Reference
        Xue, Yang, Huai and Wang (2021), Algorithms 1 (DPGDSC) and 4 (DPGDC), with the constants of
        ``docs/theory/gradient-descent.md``, Theorem 1.

    Parameters
    ----------
    steps, step_size
        A number, or ``"auto"``: a rule of public facts.
    noise
        See ``diptych.accounting.plan_noise``.
    """

    steps: int | str = "auto"
    step_size: float | str = "auto"
    noise: str = "auto"

    name = "gd-output"

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_settings_of(self.name, self.steps, self.step_size)

    def check(self, risk: Risk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_smooth(self.name, risk.loss, ANY_SLOPE)
        check_settings(self.noise, risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if constants == "paper":
            check_paper(self.noise, paper.law(budget), Adjacency.REPLACE, risk, free=False)

    def plan(
        self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, constants: str = "defended"
    ) -> Descent:
        """Return set, schedule and noise for every table of this public size (Theorem 1)."""
        self.check(risk, budget, constants)
        risk = risk.confined(size, math.inf)
        schedule = self._schedule(risk, size, features, budget, constants)
        risk = confine(risk, size, schedule)
        if not budget.private:
            return Descent(risk, schedule)
        certificate = risk.certificate(part_size(risk, size), features, tilt=math.inf)
        averaged, dimension = risk.regularization == 0, risk.dimension(features)
        sensitivity = movement(schedule, certificate, features, averaged=averaged)
        noise, defended = plan_noise(budget, sensitivity, dimension, self.noise), True
        if constants == "paper":
            noise, defended = paper.gd_output(risk, certificate, schedule, sensitivity, dimension, budget)
        noise.check_range(certificate.radius + sensitivity)
        return Descent(risk, schedule, noise, defended)

    def _schedule(self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, constants: str) -> Schedule:
        certificate = risk.certificate(part_size(risk, size), features, tilt=math.inf)
        longest = 2.0 / (certificate.smoothness + certificate.strong_convexity)
        length = longest if self.step_size == "auto" else float(self.step_size)
        schedule = check_step(Schedule(1, length, part_count(risk, size.n)), longest)
        if self.steps != "auto":
            return replace(schedule, steps=int(self.steps))
        if constants == "paper":
            return replace(schedule, steps=paper.output_steps(certificate, length))
        return replace(schedule, steps=self._steps(risk, certificate, features, budget, length))

    def _steps(self, risk: Risk[Any], certificate: Certificate, features: int, budget: Budget, length: float) -> int:
        """As many as settle the result, or fewer if its noise would then gather beyond a share of the span."""
        lam = certificate.strong_convexity
        settled = math.ceil(math.log(SETTLED) / math.log1p(-length * lam)) if lam > 0 else OPEN
        if not budget.private:
            return max(settled, OPEN)
        noise = plan_noise(budget, length * per_step(certificate), risk.dimension(features), self.noise)
        gathered = math.sqrt(noise.mean_square) * (1.0 if lam > 0 else 0.5)
        return min(settled, affordable(risk, gathered, 10 * MOST))

    def run(self, risk: Risk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended") -> Release:
        """Descend, perturb, and say what was promised."""
        self.check(risk, budget, constants)
        plan = self.plan(risk, table.size(risk.adjacency), table.d, budget, constants)
        w = result(plan, table, source)
        if plan.noise is None:
            return open_release(risk, w, f"{plan.schedule.steps} steps of gradient descent", plan.trace)
        guarantee = promise(
            risk,
            budget,
            f"{plan.schedule.steps} steps of gradient descent, then output perturbation",
            (event("the result of the descent", plan.noise),),
            plan.noise,
            constants=constants,
            defended=plan.defended,
            seeded=source.seeded,
        )
        return Release(risk.constraint.project(plan.noise.add(w, source)), guarantee, plan.trace)


def result(plan: Descent, table: Table, source: BitSource) -> Array:
    """Return what ``gd-output`` adds noise to: the last iterate for lambda > 0, else the mean."""
    risk = plan.risk
    iterates = descend(risk, turns(risk, table, source), plan.schedule, risk.start(table.d))
    return last_of(iterates) if risk.regularization > 0 else mean_of(iterates)
