"""Stochastic gradient descent with replacement, each new record against all earlier ones, then noise (``sgd-output``).

Yang, Lei, Lyu and Ying (2021), Algorithms 1 and 2, for every pair risk, with kinks or without. The noise is planned
for the very sequence of indices that was drawn: ``realised.py``, ``docs/theory/sgd-output.md``. The published
constants on request: ``paper_sgd_output.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import plan_noise
from diptych.algorithms import paper_sgd_output as paper
from diptych.algorithms.base import (
    Release,
    UnsuitableError,
    check_noise,
    check_paper,
    check_settings,
    event,
    open_release,
    promise,
)
from diptych.algorithms.descent import (
    GATHERED,
    Descent,
    Schedule,
    check_bounded_slope,
    check_settings_of,
    check_step,
)
from diptych.algorithms.realised import step_constants
from diptych.kernels.drift import Sequence
from diptych.noise import BitSource, draw_indices
from diptych.risks import PairRisk, Rows, Table, stochastic_mean
from diptych.sets import Free
from diptych.spec import Adjacency, Budget, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

MOST = 10**7  # steps
AFFORDABLE = 2e10  # of steps times records times parameters, by default
FEWEST = 20_000  # steps by default, however large the table; fewer if it has fewer records


@dataclass(frozen=True)
class SGDOutput:
    """Step t descends on a random record against the t before it; release the mean of the iterates plus noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``; so is the release
        together with the sequence of records.
    Assumptions
        A convex loss whose slope is bounded on the set, with or without kinks; rows in the unit ball.
    Released
        The noisy mean of w_1 ... w_T, projected on the set; w_1 is the public start.
    Reference
        Yang, Lei, Lyu and Ying (2021), Algorithms 1 and 2, with the constants of ``docs/theory/sgd-output.md``.

    Parameters
    ----------
    steps, step_size
        A number, or ``"auto"``: a rule of public facts (with the paper's constants, Theorems 3 and 5).
    noise
        See ``diptych.accounting.plan_noise``.
    corrected
        With the paper's constants: whether equation (5) gets back the factors that its proof has.
    """

    steps: int | str = "auto"
    step_size: float | str = "auto"
    noise: str = "auto"
    corrected: bool = False

    name = "sgd-output"

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_settings_of(self.name, self.steps, self.step_size)
        if not isinstance(self.corrected, bool):
            raise ValueError(f"corrected of {self.name} must be True or False; got {self.corrected!r}.")

    def check(self, risk: PairRisk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_settings(self.noise, risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if constants != "paper":
            return
        if budget.pure and budget.private:
            raise UnsuitableError(
                "constants='paper' needs delta above 0, as equation (5) does; set delta, or use 'defended'."
            )
        if risk.regularization > 0:
            raise UnsuitableError("constants='paper' needs regularization=0, as the paper has none; or use 'defended'.")
        check_paper(self.noise, "gaussian", Adjacency.REPLACE, risk, free=False)

    def count(self, risk: PairRisk[Any], size: TableSize, features: int, constants: str = "defended") -> int:
        """Return T, from public facts alone: n^2 steps, or as many as take some seconds."""
        if self.steps != "auto":
            return int(self.steps)
        if constants == "paper":
            steps, _ = paper.published_schedule(risk, risk.certificate(size, features, tilt=math.inf))
            if steps > MOST:
                raise ValueError(f"steps of {self.name} would be {steps} by the paper's rule; give at most 10^7.")
            return steps
        most = int(min(MOST, AFFORDABLE / (size.n * risk.dimension(features))))
        return min(size.n**2, max(most, min(size.n, FEWEST)))

    def plan(
        self,
        risk: PairRisk[Any],
        size: TableSize,
        features: int,
        budget: Budget,
        sequence: Sequence,
        constants: str = "defended",
    ) -> Descent:
        """Return set, schedule and noise for every table of this public size, along this sequence (Theorem 3)."""
        self.check(risk, budget, constants)
        risk = risk.confined(size, math.inf)
        steps = sequence.draws.size
        step = self._step(risk, size, features, budget, sequence, constants)
        schedule, risk = Schedule(steps, step), _within_reach(risk, size, steps, step)
        if not budget.private:
            return Descent(risk, schedule)
        sensitivity, dimension = _checked(risk, size, features, sequence, step), risk.dimension(features)
        noise, defended = plan_noise(budget, sensitivity, dimension, self.noise), True
        certificate = risk.certificate(size, features, tilt=math.inf)
        if constants == "paper":
            noise, defended = paper.published_noise(
                certificate, schedule, sensitivity, dimension, budget, corrected=self.corrected
            )
        noise.check_range(certificate.radius + sensitivity)
        return Descent(risk, schedule, noise, defended)

    def _step(
        self,
        risk: PairRisk[Any],
        size: TableSize,
        features: int,
        budget: Budget,
        sequence: Sequence,
        constants: str,
    ) -> float:
        """Span/(G sqrt T), what a smooth loss allows, or less: what gathers noise of a share of the span."""
        if self.step_size != "auto":
            return float(self.step_size)
        if constants == "paper":
            return paper.published_schedule(risk, risk.certificate(size, features, tilt=math.inf))[1]
        known = step_constants(risk, size, features)
        first = risk.span / (known.lipschitz * math.sqrt(sequence.draws.size))
        first = min(first, known.longest or math.inf, known.most)
        if not budget.private:
            return first
        draft = _within_reach(risk, size, sequence.draws.size, first)
        moved = _checked(draft, size, features, sequence, first)
        noise = plan_noise(budget, moved, risk.dimension(features), self.noise)
        return first * min(1.0, GATHERED * risk.span / math.sqrt(noise.mean_square))

    def run(
        self, risk: PairRisk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended"
    ) -> Release:
        """Draw the sequence, descend along it, perturb, and say what was promised."""
        self.check(risk, budget, constants)
        size = table.size(risk.adjacency)
        draws = draw_indices(size.n, self.count(risk, size, table.d, constants), source)
        plan = self.plan(risk, size, table.d, budget, sequence_of(draws, table, size), constants)
        w, trace = result(plan, table, draws), plan.trace
        if plan.noise is None:
            return open_release(risk, w, f"{plan.schedule.steps} steps of stochastic gradient descent", trace)
        guarantee = promise(
            risk,
            budget,
            f"{plan.schedule.steps} steps of stochastic gradient descent, then output perturbation",
            (event("the mean of the iterates, for the records that were drawn", plan.noise),),
            plan.noise,
            constants=constants,
            defended=plan.defended,
            seeded=source.seeded,
        )
        return Release(plan.risk.constraint.project(plan.noise.add(w, source)), guarantee, trace)


def sequence_of(draws: Rows, table: Table, size: TableSize) -> Sequence:
    """Return the sequence as the bound sees it: with classes where they are public and tell which pairs count."""
    return Sequence(draws, size.n, None if size.positives is None else table.codes)


def result(plan: Descent, table: Any, draws: Rows) -> Array:
    """Return what ``sgd-output`` adds noise to."""
    size = table.size(plan.risk.adjacency)
    ridge = step_constants(plan.risk, size, table.d).ridge
    return stochastic_mean(plan.risk, table, draws, plan.schedule.step_size, ridge)


def _checked(risk: PairRisk[Any], size: TableSize, features: int, sequence: Sequence, step: float) -> float:
    """Return the movement along the sequence; refuse steps longer than the proofs allow."""
    known = step_constants(risk, size, features)
    check_step(Schedule(sequence.draws.size, step), known.most)
    return known.movement(sequence, step, features)


def _within_reach(risk: PairRisk[Any], size: TableSize, steps: int, step: float) -> Any:
    """Return the risk on a bounded set, which holds all that so many noiseless steps from 0 can reach.

    A step adds at most eta^2 G^2 + 2 eta p to the squared norm, p = sup of -l'(t) t (Theorem 1's last remark).
    """
    if not isinstance(risk.constraint, Free):
        return risk
    lipschitz = risk.certificate(size, tilt=math.inf).pair_lipschitz
    square = steps * step * (step * lipschitz**2 + 2.0 * risk.loss.pull())
    return risk.confined(size, math.sqrt(square) * (1.0 + 1e-6))
