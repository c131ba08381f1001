"""Gradient descent in epochs, each on its own part of the table, with noise between them (``epoch-gd``).

Xue, Yang, Huai and Wang (2021), Algorithm 3, for any number of records. Parts are disjoint and fixed without looking
at the table, so one record is in one epoch and epochs cost no more than one of them.
Proofs: ``docs/theory/gradient-descent.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import plan_noise
from diptych.algorithms import paper_descent as paper
from diptych.algorithms.base import (
    Release,
    UnsuitableError,
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
    deal,
    descend,
    mean_of,
    movement,
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

DECAY = 4.0  # of the step size, from epoch to epoch
EPOCHS = 4  # by default


@dataclass(frozen=True)
class EpochGD:
    """Half of the records serve the first epoch, a quarter the second, ...; release the last mean plus noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``; so are the results of
        all epochs together.
    Assumptions
        A convex loss with a Lipschitz derivative, steps of at most 2/(M + lambda), rows in the unit ball.
    Released
        The noisy mean of the last epoch, projected on the set.
    Reference
        Xue, Yang, Huai and Wang (2021), Algorithm 3 (DPEGD), with the constants of
        ``docs/theory/gradient-descent.md``, Theorem 3.

    Parameters
    ----------
    steps
        An epoch; or ``"auto"``: as many as its noise allows (with the paper's constants, as many as it has records).
    step_size
        Of the first epoch; it falls by a factor of 4 from epoch to epoch. ``"auto"``: a rule of public facts.
    epochs
        How many, at most; ``"auto"``: 4 (with the paper's constants, until a part would have fewer than two records).
    noise
        See ``diptych.accounting.plan_noise``.
    """

    steps: int | str = "auto"
    step_size: float | str = "auto"
    epochs: int | str = "auto"
    noise: str = "auto"

    name = "epoch-gd"

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_settings_of(self.name, self.steps, self.step_size)
        whole = isinstance(self.epochs, int) and not isinstance(self.epochs, bool) and 1 <= self.epochs <= 60
        if self.epochs != "auto" and not whole:
            raise ValueError(f"epochs must be a whole number from 1 to 60, or 'auto'; got {self.epochs!r}.")

    def check(self, risk: Risk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_smooth(self.name, risk.loss, ANY_SLOPE)
        check_settings(self.noise, risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if risk.adjacency is Adjacency.ADD_REMOVE:
            raise UnsuitableError(
                f"adjacency='add-remove' does not suit {self.name}: a record that comes or goes would shift all others "
                "from part to part; use 'replace', or algorithm='noisy-gd'."
            )
        if constants == "paper":
            check_paper(self.noise, paper.law(budget), Adjacency.REPLACE, risk, free=False)

    def parts(self, size: TableSize, constants: str = "defended") -> list[int]:
        """Return how many records each epoch has: n/2, n/4, ..., the last one all that are left."""
        fewest = 1 if constants == "paper" else 2  # in half of the last part: theirs has two records
        if size.positives is not None and size.negatives is not None:  # then every part gets records of both classes
            fewest = 2 + -(-size.n // min(size.positives, size.negatives))
        most = 60 if constants == "paper" else EPOCHS
        most = most if self.epochs == "auto" else int(self.epochs)
        sizes: list[int] = []
        left = size.n
        while len(sizes) + 1 < most and size.n // 2 ** (len(sizes) + 2) >= fewest:
            sizes.append(size.n // 2 ** (len(sizes) + 1))
            left -= sizes[-1]
        return [*sizes, left]

    def plan(
        self,
        risk: Risk[Any],
        size: TableSize,
        parts: Sequence[TableSize],
        features: int,
        budget: Budget,
        constants: str = "defended",
    ) -> list[Descent]:
        """Return set, schedule and noise of every epoch, for every table whose parts have these public sizes."""
        self.check(risk, budget, constants)
        risk = risk.confined(size, math.inf)
        schedules = self._schedules(risk, size, parts, features, budget, constants)
        travel = sum(one.steps * one.step_size for one in schedules)
        risk = confine(risk, size, Schedule(1, travel))
        pairs = zip(parts, schedules, strict=True)
        return [self._epoch(risk, part, schedule, features, budget, constants) for part, schedule in pairs]

    def _schedules(
        self,
        risk: Risk[Any],
        size: TableSize,
        parts: Sequence[TableSize],
        features: int,
        budget: Budget,
        constants: str,
    ) -> list[Schedule]:
        certificate = risk.certificate(part_size(risk, parts[0]), features, tilt=math.inf)
        longest = 2.0 / (certificate.smoothness + certificate.strong_convexity)
        steps, length = MOST if budget.private else OPEN, longest
        if constants == "paper":
            whole = risk.certificate(size, features, tilt=math.inf)
            length = min(longest, paper.epoch_step(risk, whole, features, budget) / DECAY)
        length = length if self.step_size == "auto" else float(self.step_size)
        if budget.private:
            noise = plan_noise(budget, length * per_step(certificate), risk.dimension(features), self.noise)
            steps = affordable(risk, 0.5 * math.sqrt(noise.mean_square))
        schedules = []
        for number, part in enumerate(parts):
            count = part.n if constants == "paper" else min(steps, part.n)
            count = count if self.steps == "auto" else int(self.steps)
            schedule = Schedule(count, length / DECAY**number, part_count(risk, part.n))
            schedules.append(check_step(schedule, longest))
        return schedules

    def _epoch(
        self,
        risk: Risk[Any],
        part: TableSize,
        schedule: Schedule,
        features: int,
        budget: Budget,
        constants: str,
    ) -> Descent:
        """Theorem 3: the mean of an epoch moves by at most eta (s + 2 e)(T + 1)/2, s of its part."""
        if not budget.private:
            return Descent(risk, schedule)
        certificate = risk.certificate(part_size(risk, part), features, tilt=math.inf)
        sensitivity, dimension = movement(schedule, certificate, features, averaged=True), risk.dimension(features)
        noise, defended = plan_noise(budget, sensitivity, dimension, self.noise), True
        if constants == "paper":
            noise, defended = paper.epoch_noise(risk, certificate, schedule, sensitivity, dimension, budget)
        noise.check_range(certificate.radius + sensitivity)
        return Descent(risk, schedule, noise, defended)

    def run(self, risk: Risk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended") -> Release:
        """Descend epoch by epoch, with noise between them, and say what was promised."""
        self.check(risk, budget, constants)
        size = table.size(risk.adjacency)
        tables = deal(table, self.parts(size, constants), risk.adjacency, source)
        plans = self.plan(risk, size, [t.size(risk.adjacency) for t in tables], table.d, budget, constants)
        w = plans[0].risk.start(table.d)
        for plan, part in zip(plans, tables, strict=True):
            w = mean_of(descend(plan.risk, turns(plan.risk, part, source), plan.schedule, w))
            if plan.noise is not None:
                w = plan.risk.constraint.project(plan.noise.add(w, source))
        return _release(plans, risk, w, budget, constants, seeded=source.seeded)


def _release(
    plans: Sequence[Descent], risk: Risk[Any], w: Array, budget: Budget, constants: str, *, seeded: bool
) -> Release:
    steps, sizes = ([getattr(plan.schedule, name) for plan in plans] for name in ("steps", "step_size"))
    trace = {"epochs": len(plans), "steps": steps, "step_size": sizes, "regularization": risk.regularization}
    noises = [plan.noise for plan in plans if plan.noise is not None]
    if not noises:
        return open_release(risk, w, f"gradient descent in {len(plans)} epochs", trace)
    events = [event(f"the mean of epoch {k} of {len(plans)}", noise) for k, noise in enumerate(noises, 1)]
    guarantee = promise(
        risk,
        budget,
        f"gradient descent in {len(plans)} epochs on disjoint parts of the table",
        tuple(reversed(events)),
        noises[-1],
        constants=constants,
        defended=all(plan.defended for plan in plans),
        seeded=seeded,
    )
    return Release(w, guarantee, trace)
