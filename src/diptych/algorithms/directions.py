"""The Euclidean metric, stretched along privately learned directions in which classes differ (``directions``).

A matrix of d(d+1)/2 noisy numbers, whose gradients are quadratic in the differences of classes, drowns on tables of
some hundred records; directions have d numbers and are linear in them. Proofs: ``docs/theory/directions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diptych.algorithms.base import Release, UnsuitableError, check_settings
from diptych.algorithms.descent import check_settings_of
from diptych.algorithms.noisy_descent import NoisyGD
from diptych.algorithms.output_descent import GDOutput
from diptych.noise import BitSource
from diptych.risks import MetricRisk, MetricTable, RankingRisk, RankingsRisk, RankingsTable
from diptych.sets import L2Ball, pack
from diptych.spec import Adjacency, Budget
from diptych.spec.budget import is_number

Array = NDArray[np.float64]

LONGEST = 1e3
REACH = 4.0  # of margin and temperature: no useful ranking of rows in the unit ball is longer


@dataclass(frozen=True)
class Directions:
    """Learn by ranking in which directions classes differ; distances along them count ``stretch`` times.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``.
    Assumptions
        Those of ``noisy-gd`` (delta above 0) or ``gd-output`` (pure) for the ranking with the same loss; rows in the
        unit ball.
    Released
        W = t (I + (stretch^2 - 1) sum_k v_k v_k'), on the border of the set, the v_k of mean square length 1: for two
        classes one unit vector, for more one for each class, which is ranked above all others.
    Reference
        This library's own; ``docs/theory/directions.md``, Theorem 1.

    Parameters
    ----------
    stretch
        How many times distances along a direction count, from 1 (the Euclidean metric) to 1000.
    steps, step_size
        Of the descent; ``"auto"``: a rule of public facts.
    """

    stretch: float = 2.0
    steps: int | str = "auto"
    step_size: float | str = "auto"

    name = "directions"

    def __post_init__(self) -> None:
        check_settings_of(self.name, self.steps, self.step_size)
        if not (is_number(self.stretch) and 1.0 <= self.stretch <= LONGEST):
            raise ValueError(f"stretch of {self.name} must be a number from 1 to 1000; got {self.stretch!r}.")

    def learner(self, budget: Budget) -> NoisyGD | GDOutput:
        """Return what learns the directions: noise on gradients where delta allows it, else on the result."""
        return (GDOutput if budget.private and budget.pure else NoisyGD)(self.steps, self.step_size)

    def check(self, risk: MetricRisk, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        check_settings("auto", risk, budget, constants)
        if constants == "paper":
            raise UnsuitableError(
                f"constants='paper' does not suit {self.name}, which no paper states; use 'defended'."
            )
        self.learner(budget).check(self.ranking(risk, 2).each, budget)

    def ranking(self, risk: MetricRisk, classes: int, counts: tuple[int, ...] | None = None) -> RankingsRisk:
        """Return the risk of ranking classes with the loss, the regulariser and the neighbours of a metric's risk."""
        ball = L2Ball(REACH * (risk.loss.margin + risk.loss.temperature))
        each = RankingRisk(risk.loss, risk.regularization, ball, risk.adjacency, risk.diameter)
        return RankingsRisk(each, classes, counts)

    def run(
        self, risk: MetricRisk, table: MetricTable, budget: Budget, source: BitSource, constants: str = "defended"
    ) -> Release:
        """Learn the directions, stretch along them, and say what was promised."""
        self.check(risk, budget, constants)
        counts = None
        if risk.adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            counts = tuple(int(count) for count in np.bincount(table.codes, minlength=table.classes))
        rankings = self.ranking(risk, table.classes, counts)
        found = self.learner(budget).run(rankings, RankingsTable(table), budget, source)
        mechanism = f"Euclidean metric stretched along directions of a ranking: {found.guarantee.mechanism}"
        guarantee = replace(found.guarantee, released=risk.released, mechanism=mechanism)
        w = stretched(found.coef.reshape(rankings.directions, -1), self.stretch)
        return Release(
            w * (risk.constraint.radius / risk.constraint.norm(w)), guarantee, {**found.trace, "stretch": self.stretch}
        )


def stretched(directions: Array, stretch: float) -> Array:
    """Return I + (stretch^2 - 1) V'V, packed, the rows of V being the directions, scaled to a mean square length of 1.

    If they are all 0, the identity.
    """
    count, features = directions.shape
    length = float(np.linalg.norm(directions))
    if length > 0.0:
        directions = directions * (math.sqrt(count) / length)
    return pack(np.eye(features) + (stretch**2 - 1.0) * (directions.T @ directions))
