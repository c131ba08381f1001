"""Whole releases, attacked: the worst neighbours that a search finds, told apart by their releases.

Each audit runs the algorithm as users do, from a bit source, and bounds from below what it spends; the bound must
stay under the promise. The control runs the same code with half the noise and must be caught.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from diptych import Adjacency, Budget, Logistic, OutputPerturbation, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import gaussian_mu
from diptych.audit import Found, distinguish, search_minimiser
from diptych.noise import BitSource, SeededBits
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.spec import OF_PAIRS, TableSize

ERROR = 1e-8
LOSSES = [Logistic(), Logistic(1.0, 0.5), Squared(), SquaredHinge(), SmoothedHinge(1.0, 0.5)]
BUDGETS = [(Budget(1.5), "norm-laplace"), (Budget(1.5), "laplace"), (Budget(1.5, 1e-2), "gaussian")]
FEW = [  # pairs of settings, for the fast tests; the whole product runs in make audit
    (LOSSES[0], Adjacency.REPLACE, BUDGETS[0]),
    (LOSSES[1], Adjacency.REPLACE_WITHIN_CLASS, BUDGETS[2]),
    (LOSSES[2], Adjacency.REPLACE, BUDGETS[2]),
    (LOSSES[3], Adjacency.REPLACE_WITHIN_CLASS, BUDGETS[1]),
    (LOSSES[4], Adjacency.REPLACE, BUDGETS[1]),
    (LOSSES[4], Adjacency.REPLACE_WITHIN_CLASS, BUDGETS[0]),
]


def worst_case(loss, adjacency, rounds: int) -> tuple[RankingRisk, Found]:
    """Return a regulariser at which the claim is nearly tight, and the worst neighbours there."""
    risk = RankingRisk(loss, 100.0 if isinstance(loss, Squared | SquaredHinge) else 20.0, adjacency=adjacency)
    size = TableSize(3, 1 if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    found = search_minimiser(risk, size, 1, seed=0, batch=8, rounds=rounds)
    assert 0.8 <= found.ratio <= 1.0
    return risk, found


def runner(risk: RankingRisk, table: PairTable, algorithm: OutputPerturbation, budget: Budget, source: BitSource):
    return lambda k: algorithm.run(risk, table, budget, source).coef


def half_noise(risk: RankingRisk, table: PairTable, algorithm: OutputPerturbation, budget: Budget, source: BitSource):
    """A broken mechanism: the same steps with noise for half the sensitivity."""
    plan = algorithm.plan(risk, table.size(risk.adjacency), table.d, budget)
    scale = plan.lattice.step * (plan.lattice.steps(plan.scale) // 2)
    weak = replace(plan, scale=scale if plan.noise != "norm-laplace" else plan.scale / 2)
    w = minimise(risk, table, 1e-9).w
    return lambda k: weak.add(w, source)


def attack(loss, adjacency, budget, noise, runs: int, rounds: int) -> None:
    risk, found = worst_case(loss, adjacency, rounds)
    algorithm = OutputPerturbation(noise)
    tables = (found.table, found.neighbour)
    mu = gaussian_mu(budget.epsilon, budget.delta) if noise == "gaussian" else None

    honest = distinguish(
        *(runner(risk, table, algorithm, budget, SeededBits(seed)) for seed, table in enumerate(tables)),
        runs,
        budget.delta,
        ERROR,
    )
    assert honest.epsilon <= budget.epsilon
    if mu is None:
        assert honest.epsilon > 0.2 * budget.epsilon  # an audit without power would prove nothing
    else:
        assert 0.3 * mu < honest.mu <= mu

    caught = distinguish(
        *(half_noise(risk, table, algorithm, budget, SeededBits(seed)) for seed, table in enumerate(tables, 2)),
        2 * runs,
        budget.delta,
        ERROR,
    )
    assert caught.epsilon > budget.epsilon if mu is None else caught.mu > mu

    null = distinguish(
        *(runner(risk, found.table, algorithm, budget, SeededBits(seed)) for seed in (4, 5)), runs, budget.delta, ERROR
    )
    assert null.epsilon == 0.0
    assert null.mu == 0.0


@pytest.mark.parametrize(("loss", "adjacency", "budget"), FEW, ids=str)
def test_releases_spend_no_more_than_promised(loss, adjacency, budget) -> None:
    attack(loss, adjacency, *budget, runs=2000, rounds=30)


@pytest.mark.audit
@pytest.mark.parametrize(("loss", "adjacency", "budget"), list(product(LOSSES, OF_PAIRS, BUDGETS)), ids=str)
def test_all_releases_spend_no_more_than_promised(loss, adjacency, budget) -> None:
    attack(loss, adjacency, *budget, runs=20_000, rounds=60)


@pytest.mark.audit
@pytest.mark.parametrize(("loss", "adjacency"), list(product(LOSSES, OF_PAIRS)), ids=str)
@pytest.mark.parametrize("regularization", [0.02, 0.2, 1.0, 10.0])
@pytest.mark.parametrize(("n", "positives", "d"), [(2, 1, 1), (4, 2, 2), (12, 3, 2)])
def test_minimisers_never_move_more_than_claimed(loss, adjacency, regularization, n, positives, d) -> None:
    risk = RankingRisk(loss, regularization, adjacency=adjacency)
    size = TableSize(n, positives if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    assert search_minimiser(risk, size, d, seed=1, batch=8, rounds=60).ratio <= 1.0


def test_a_seed_gives_neighbours_the_same_noise() -> None:
    """So that audits can cancel it: the difference of two releases is the difference of two minimisers."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(8, 2)) / 4, np.arange(8) < 3
    other = X.copy()
    other[5] = [0.9, -0.1]
    risk, budget = RankingRisk(Logistic(), 0.5), Budget(1.0, 1e-3)
    here, there = (
        OutputPerturbation().run(risk, PairTable(rows, positive), budget, SeededBits(9)).coef for rows in (X, other)
    )
    moved = minimise(risk, PairTable(X, positive), 1e-10).w - minimise(risk, PairTable(other, positive), 1e-10).w
    np.testing.assert_allclose(here - there, moved, atol=1e-4)
