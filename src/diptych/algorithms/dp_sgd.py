"""Stochastic gradient descent with noise on the gradient of every random batch (``dp-sgd``).

Wang, Lei, Ying and Zhou (2024), Algorithms 1 and 2, from one point or pair a step to batches of records with all
pairs among them. Batches: ``batches.py``; steps: ``batch_descent.py``; published step sizes and noise:
``paper_dp_sgd.py``. Proofs: ``docs/theory/dp-sgd.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import gaussian_mu, is_enough, plan_steps
from diptych.algorithms import paper_dp_sgd as paper
from diptych.algorithms.base import (
    Release,
    UnsuitableError,
    check_settings,
    event,
    open_release,
    promise,
)
from diptych.algorithms.batch_descent import Plan, descend_on_batches
from diptych.algorithms.batches import SAMPLINGS, Design, check_sampling, design
from diptych.algorithms.descent import (
    GATHERED,
    LEAST,
    MOST,
    OPEN,
    check_bounded_slope,
    check_settings_of,
)
from diptych.noise import BitSource
from diptych.risks import MetricRisk, PointRisk, Risk, Table
from diptych.spec import Adjacency, Budget, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

AVERAGES = ("tail", "all", "last")
SMALLEST_BATCH = 256  # by default
SHARE = 0.2  # of mu: the least share of the table in a batch by default, below which a step gets noise for nothing
LADDER = (3, 5, 10, 20, 30, 50, MOST)
MOST_METRIC = 1_024  # records of a batch of a metric, by default


@dataclass(frozen=True)
class DPSGD:
    """Step along noisy gradients of random batches; release an average of the iterates.

    Claim
        (epsilon, delta)-DP with delta > 0, under ``replace`` and ``replace-within-class``, for points also under
        ``add-remove``, all iterates together.
    Assumptions
        A convex loss, with or without kinks, whose slope is bounded on the set; rows in the unit ball; noise inside
        the steps in floating point.
    Released
        The mean of the last half of the projected iterates, of all of them, or the last one.
    Reference
        Wang, Lei, Ying and Zhou (2024), Algorithms 1 (points) and 2 (pairs), with sensitivities and accountant of
        ``docs/theory/dp-sgd.md`` and ``docs/theory/sampled-gaussian.md``.

    Parameters
    ----------
    batch
        How many records a step draws (the expected number for Poisson batches); all pairs among them count. 2 is the
        published one pair a step, 1 the published one point.
    sampling
        ``"uniform"``, without replacement; ``"stratified"``, without replacement within each class, for rankings with
        public labels; ``"poisson"``. ``"auto"`` is stratified where it suits, else uniform.
    steps
        A number, or ``"auto"``: a rule of public facts; with a published step size, the theorem's number.
    step_size
        A number, ``"auto"``, or a published rule: ``"general"`` (Theorems 3a, 4a, 6a, 7a) or ``"low-noise"`` (3b, 4b,
        6b, 7b).
    average
        Which iterates to average: ``"tail"``, the second half; ``"all"``, as published, the start among them, not
        the last one; ``"last"``.
    """

    batch: int | str = "auto"
    sampling: str = "auto"
    steps: int | str = "auto"
    step_size: float | str = "auto"
    average: str = "tail"

    name = "dp-sgd"

    def __post_init__(self) -> None:
        theorem = self.step_size in paper.SCHEDULES
        check_settings_of(self.name, self.steps, "auto" if theorem else self.step_size)
        whole = isinstance(self.batch, int) and not isinstance(self.batch, bool) and self.batch >= 1
        if self.batch != "auto" and not whole:
            raise ValueError(
                f"batch of {self.name} must be a whole number of at least 1, or 'auto'; got {self.batch!r}."
            )
        for setting, known in (("sampling", SAMPLINGS), ("average", AVERAGES)):
            if getattr(self, setting) not in known:
                raise ValueError(
                    f"{setting} of {self.name} must be one of {', '.join(map(repr, known))}; "
                    f"got {getattr(self, setting)!r}."
                )

    def check(self, risk: Risk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_settings("auto", risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if budget.private and budget.pure:
            raise UnsuitableError(
                f"delta=0 does not suit {self.name}, whose noise is Gaussian; set delta above 0, or take "
                "algorithm='epoch-gd'."
            )
        sampling = check_sampling(self.sampling, risk)
        if self.batch == 1 and not isinstance(risk, PointRisk):
            raise UnsuitableError(f"batch=1 does not suit {self.name} on pairs, which two records make; use 2 or more.")
        if constants == "paper":
            records = 1 if isinstance(risk, PointRisk) else 2
            if sampling != "uniform" or self.batch != records or risk.adjacency is not Adjacency.REPLACE:
                raise UnsuitableError(
                    f"constants='paper' needs the paper's own {self.name}: batch={records}, sampling='uniform', "
                    "adjacency='replace'."
                )

    def plan(
        self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, constants: str = "defended"
    ) -> Plan:
        """Return set, batches, schedule and noise; sensitivities are those of Lemmas 2 to 5, one a kind of record."""
        self.check(risk, budget, constants)
        risk = risk.confined(size, math.inf)
        batch = self._batch(risk, size, budget)
        batches = design(risk, size, features, batch, self.sampling)
        steps, length = self._schedule(risk, size, features, budget, batches)
        farthest = steps * length * risk.certificate(size, tilt=math.inf).pair_lipschitz * max(1.0, 2.0 * batches.mass)
        risk = risk.confined(size, farthest)
        batches = design(risk, size, features, batch, self.sampling)
        if not budget.private:
            return Plan(risk, batches, steps, length)
        noise = plan_steps(budget, batches.queries, steps, batches.words)
        if constants != "paper":
            return Plan(risk, batches, steps, length, noise)
        unit = risk.certificate(size, tilt=math.inf).pair_lipschitz * batches.mass
        records = batches.size  # 1 for Algorithm 1, on points, 2 for Algorithm 2, on pairs
        scale = unit * paper.published_scale(records, steps, size.n, budget)
        reference = f"as published ({paper.REFERENCE.format(algorithm=records)})"
        published = replace(noise, scale=scale, sensitivity=2.0 * unit, accountant=reference)
        return Plan(risk, batches, steps, length, published, defended=scale >= noise.scale)

    def _batch(self, risk: Risk[Any], size: TableSize, budget: Budget) -> int:
        """The fewest records for which a step is not noisier than its share of all noise: a rule of public facts."""
        if self.batch != "auto":
            return int(self.batch)
        share = SHARE * gaussian_mu(budget.epsilon, budget.delta) if budget.private else 0.0
        batch = max(SMALLEST_BATCH, math.ceil(min(1.0, share) * size.n))
        return min(size.n, min(batch, MOST_METRIC) if isinstance(risk, MetricRisk) else batch)

    def _schedule(
        self, risk: Risk[Any], size: TableSize, features: int, budget: Budget, batches: Design
    ) -> tuple[int, float]:
        """Return steps and their length in the units of the risk, in which a published step follows ``mass`` pairs."""
        if self.step_size in paper.SCHEDULES:
            curve = published_curve(risk, size)
            steps, one = paper.schedule(str(self.step_size), curve, size.n, risk.dimension(features), budget)
            check_settings_of(self.name, steps if self.steps == "auto" else self.steps, "auto")
            return (steps if self.steps == "auto" else int(self.steps)), one / batches.mass
        length = risk.stride(size) if self.step_size == "auto" else float(self.step_size)
        if self.steps != "auto":
            return int(self.steps), length
        if not budget.private:
            return OPEN, length
        return affordable_steps(risk, batches, length * math.sqrt(risk.dimension(features)), budget), length

    def run(self, risk: Risk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended") -> Release:
        """Descend on noisy gradients of random batches, and say what was promised."""
        self.check(risk, budget, constants)
        plan = self.plan(risk, table.size(risk.adjacency), table.d, budget, constants)
        w = self.result(plan, table, source)
        mechanism = f"{plan.steps} steps of stochastic gradient descent"
        if plan.noise is None:
            return open_release(risk, w, mechanism, plan.trace)
        guarantee = promise(
            risk,
            budget,
            mechanism,
            (event(f"the gradient of a batch, in each of {plan.steps} steps", plan.noise),),
            plan.noise,
            constants=constants,
            defended=plan.defended,
            seeded=source.seeded,
        )
        return Release(w, guarantee, plan.trace)

    def result(self, plan: Plan, table: Any, source: BitSource) -> Array:
        """Take the planned steps, and return the average of their iterates."""
        start = plan.risk.start(table.d)
        if self.average == "all":  # w_1 ... w_T with w_1 the start
            total, _ = descend_on_batches(plan, table, source, 0, plan.steps - 1)
            return np.asarray((total + start) / plan.steps)
        skip = plan.steps - 1 if self.average == "last" else plan.steps // 2
        total, _ = descend_on_batches(plan, table, source, skip, plan.steps)
        return np.asarray(total / (plan.steps - skip))


def published_curve(risk: Risk[Any], size: TableSize) -> paper.Curve:
    """Return the loss of a pair or point as the paper's theorems see it: Hölder gradients."""
    certificate = risk.certificate(size, tilt=math.inf)
    if not risk.loss.differentiable:
        return paper.Curve(0.0, 2.0 * certificate.pair_lipschitz)
    return paper.Curve(certificate.holder_exponent, certificate.holder)


def affordable_steps(risk: Risk[Any], batches: Design, length: float, budget: Budget) -> int:
    """Return the most steps, of those on a ladder, whose noise gathers to no more than a share of the span."""

    def loud(steps: int) -> bool:
        bearable = GATHERED * risk.span / (length * math.sqrt(steps))
        return not is_enough(bearable, budget, batches.queries, steps)

    low, high = 0, len(LADDER)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if loud(LADDER[middle]) else (middle + 1, high)
    return LADDER[low - 1] if low else LEAST
