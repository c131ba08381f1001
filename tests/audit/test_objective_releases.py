"""Whole releases of objective perturbation, attacked: the worst neighbours that integrated densities know, told apart.

Two ways. The algorithm itself runs from a bit source, as users run it; and the same plan is drawn many times at once
for tables on the line, whose tilted minimisers a bisection finds: that has the runs to come near the promise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from diptych import Adjacency, Budget, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import NoisePlan, gaussian_mu
from diptych.algorithms.objective_perturbation import FINISH, ObjectivePerturbation, Perturbation
from diptych.audit import Distinguished, Worst, distinguish, search_densities
from diptych.audit.explicit import pair_weight
from diptych.noise import SeededBits, discrete_gaussian, discrete_laplace
from diptych.risks import PairTable, RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import OF_PAIRS, TableSize
from tests.statistics import ALARM

LAWS = [("norm-laplace", Budget(1.5)), ("laplace", Budget(1.5)), ("gaussian", Budget(1.5, 1e-2))]
PROBLEMS = [
    (Logistic(), 20.0, Free()),
    (Logistic(1.0, 0.25), 50.0, Free()),
    (SmoothedHinge(1.0, 0.5), 50.0, Free()),
    (Squared(), 300.0, Free()),
    (SquaredHinge(), 100.0, L2Ball(0.05)),
]
FEW = [  # pairs of settings, for the fast tests; the whole product runs in make audit
    (PROBLEMS[0], Adjacency.REPLACE, LAWS[2]),
    (PROBLEMS[1], Adjacency.REPLACE_WITHIN_CLASS, LAWS[2]),
    (PROBLEMS[2], Adjacency.REPLACE_WITHIN_CLASS, LAWS[0]),
    (PROBLEMS[3], Adjacency.REPLACE, LAWS[1]),
    (PROBLEMS[4], Adjacency.REPLACE_WITHIN_CLASS, LAWS[1]),
    (PROBLEMS[4], Adjacency.REPLACE, LAWS[2]),
]
SLOWLY = [  # by the algorithm itself, where it solves without a ball
    (PROBLEMS[1], Adjacency.REPLACE, LAWS[1]),
    (PROBLEMS[2], Adjacency.REPLACE_WITHIN_CLASS, LAWS[0]),
]


@dataclass(frozen=True)
class Planned(ObjectivePerturbation):
    """The algorithm, planned once a setting (the plan is public); with a factor below 1, a broken one."""

    factor: float = 1.0

    @lru_cache  # noqa: B019
    def plan(self, risk: RankingRisk, size: TableSize, dimension: int, budget: Budget) -> Perturbation:
        return weakened(super().plan(risk, size, dimension, budget), self.factor)


def weakened(plan: Perturbation, factor: float) -> Perturbation:
    """The same steps with less noise in the objective."""
    tilt, steps = plan.tilt, plan.tilt.lattice.steps(plan.tilt.scale)
    scale = tilt.scale * factor if tilt.noise == "norm-laplace" else tilt.lattice.step * int(steps * factor)
    return replace(plan, tilt=replace(tilt, scale=scale))


def worst_case(problem, adjacency, noise, budget, d: int) -> tuple[RankingRisk, Perturbation, Worst]:
    loss, regularization, constraint = problem
    risk = RankingRisk(loss, regularization, constraint, adjacency)
    size = TableSize(3, 1 if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    plan = ObjectivePerturbation(noise).plan(risk, size, d, budget)
    rounds = 60 if d == 1 else 30
    return risk, plan, search_densities(plan.risk, size, d, plan.tilt, (1 - FINISH) * budget.epsilon, 0, rounds)


def verdict(honest: Distinguished, caught: Distinguished, null: Distinguished, budget: Budget, noise: str) -> None:
    """The promise holds, less noise does not pass for it, and nothing is seen where nothing is."""
    assert 0.0 < honest.epsilon <= budget.epsilon
    if noise == "gaussian":  # few runs tell more of mu, which is near that of a plain Gaussian release
        mu = gaussian_mu(budget.epsilon, budget.delta)
        assert honest.mu <= mu < caught.mu
    else:
        assert caught.epsilon > budget.epsilon
    assert (null.epsilon, null.mu) == (0.0, 0.0)


def attack(problem, adjacency, noise, budget, runs: int, weak: float = 0.5, d: int = 1) -> None:
    """Run the algorithm as users do; the control has the share ``weak`` of the noise."""
    risk, _, worst = worst_case(problem, adjacency, noise, budget, d)

    def told_apart(tables, runs: int, factor: float, seed: int) -> Distinguished:
        algorithm = Planned(noise, factor)
        sources = [SeededBits(seed + side) for side in range(2)]
        sides = [
            lambda k, table=table, source=source: algorithm.run(risk, table, budget, source).coef
            for table, source in zip(tables, sources, strict=True)
        ]
        return distinguish(*sides, runs, budget.delta, ALARM)

    pair, same = (worst.table, worst.neighbour), (worst.table, worst.table)
    honest, caught, null = (
        told_apart(pair, runs, 1.0, 0),
        told_apart(pair, 2 * runs, weak, 2),
        told_apart(same, runs, 1.0, 4),
    )
    print(
        f"{problem} {adjacency} {noise} d={d}: at least {honest.epsilon:.2f} of {budget.epsilon:g}, mu {honest.mu:.2f}"
    )
    verdict(honest, caught, null, budget, noise)


@pytest.mark.parametrize(("problem", "adjacency", "law"), SLOWLY, ids=str)
def test_releases_spend_no_more_than_promised(problem, adjacency, law) -> None:
    """Few runs: enough to catch a quarter of the noise, and to see that all of it is there; half: below."""
    attack(problem, adjacency, *law, runs=250, weak=0.25)


@pytest.mark.audit
@pytest.mark.parametrize(("problem", "adjacency", "law"), list(product(PROBLEMS, OF_PAIRS, LAWS)), ids=str)
@pytest.mark.parametrize("d", [1, 2])
def test_all_releases_spend_no_more_than_promised(problem, adjacency, law, d) -> None:
    attack(problem, adjacency, *law, runs=5_000, d=d)


# --- many runs at once, on the line


def noise_of(plan: NoisePlan, count: int, seed: int):
    """Independent draws of a one-dimensional law."""
    if plan.noise == "norm-laplace":
        return np.random.default_rng(seed).laplace(scale=plan.scale, size=count)
    draw = discrete_gaussian if plan.noise == "gaussian" else discrete_laplace
    return plan.lattice.points(draw(plan.lattice.steps(plan.scale), count, SeededBits(seed)))


def tilted_minimisers(risk: RankingRisk, table: PairTable, b):
    """For every b the minimiser over the set, by bisection of the derivative on explicit pairs."""
    apart = (table.X[table.positive] - table.X[~table.positive].T).ravel()
    push = risk.loss.slope_at_zero() * risk.diameter
    high = np.minimum(risk.constraint.radius, (np.abs(b) + push) / risk.regularization)
    low = -high
    for _ in range(40):
        w = 0.5 * (low + high)
        slope = risk.loss.slope(w[:, None] * apart) @ apart * pair_weight(table.size(risk.adjacency))
        rises = slope + risk.regularization * w + b < 0
        low, high = np.where(rises, w, low), np.where(rises, high, w)
    return 0.5 * (low + high)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_the_many_runs_are_those_of_the_algorithm(problem) -> None:
    noise, budget = LAWS[1]
    risk, plan, worst = worst_case(problem, Adjacency.REPLACE, noise, budget, 1)
    for seed in range(20):
        source = SeededBits(seed)
        b = plan.tilt.add(np.zeros(1), source)
        release = ObjectivePerturbation(noise).run(risk, worst.table, budget, SeededBits(seed)).coef
        w = release - plan.finish.add(np.zeros(1), source)
        np.testing.assert_allclose(tilted_minimisers(plan.risk, worst.table, b), w, atol=plan.finish.sensitivity)


def attack_at_once(problem, adjacency, noise, budget, runs: int) -> None:
    """Draw the plan's noise, minimise and finish for all runs together."""
    _, plan, worst = worst_case(problem, adjacency, noise, budget, 1)

    def told_apart(tables, plan: Perturbation, seed: int) -> Distinguished:
        here, there = (
            tilted_minimisers(plan.risk, table, noise_of(plan.tilt, 2 * runs, seed + side))
            + noise_of(plan.finish, 2 * runs, seed + side + 100)
            for side, table in enumerate(tables)
        )
        return distinguish(lambda k: here[k], lambda k: there[k], runs, budget.delta, ALARM)

    pair, same = (worst.table, worst.neighbour), (worst.table, worst.table)
    honest, caught, null = (
        told_apart(pair, plan, 0),
        told_apart(pair, weakened(plan, 0.5), 2),
        told_apart(same, plan, 4),
    )
    print(f"{problem} {adjacency} {noise}: {honest.epsilon:.3f}, {caught.epsilon:.3f} with half the noise, of 1.5")
    verdict(honest, caught, null, budget, noise)
    assert honest.epsilon >= (0.6 if budget.pure else 0.3) * budget.epsilon
    assert caught.epsilon > budget.epsilon


@pytest.mark.parametrize(("problem", "adjacency", "law"), FEW, ids=str)
def test_many_runs_come_near_the_promise(problem, adjacency, law) -> None:
    attack_at_once(problem, adjacency, *law, runs=15_000)


@pytest.mark.audit
@pytest.mark.parametrize(("problem", "adjacency", "law"), list(product(PROBLEMS, OF_PAIRS, LAWS)), ids=str)
def test_many_runs_of_all_settings_come_near_the_promise(problem, adjacency, law) -> None:
    attack_at_once(problem, adjacency, *law, runs=100_000)
