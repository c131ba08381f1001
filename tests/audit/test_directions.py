"""Whole releases of ``directions`` told apart, as users run them, with controls and null tests."""

from __future__ import annotations

import numpy as np
import pytest

from diptych import Adjacency, Budget, Directions, Hinge, SmoothedHinge
from diptych.accounting import NoisePlan, gaussian_mu
from diptych.algorithms import NoisyGD
from diptych.audit import distinguish, search_gradient
from diptych.noise import SeededBits
from diptych.risks import MetricRisk, MetricTable
from diptych.spec import TableSize
from diptych.spec.adjacency import OF_PAIRS
from tests.audit.test_descents import weaker
from tests.statistics import ALARM

APPROXIMATE, PURE = Budget(1.5, 1e-2), Budget(1.5)
STEEP = SmoothedHinge(1.0, 0.1)
ACROSS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])


def neighbours(adjacency: Adjacency, classes: int) -> tuple[MetricTable, MetricTable]:
    """The first record turns from one direction to another that lies across; with private labels into another class."""
    codes = np.array([1, 0, 0, 2, 1]) if classes > 2 else np.array([1, 0, 0, 0, 0])
    X, other = ACROSS.copy(), ACROSS.copy()
    X[1:], other[1:] = 0.0, 0.0
    other[0] = [0.0, 1.0]
    labels = codes.copy()
    if adjacency is Adjacency.REPLACE and classes > 2:
        labels[0] = 2
    return MetricTable(X, codes, classes), MetricTable(other, labels, classes)


def told_apart(pair, risk, budget, runs, seed):
    algorithm = Directions(steps=1, step_size=0.01)
    sources = [SeededBits(seed + side) for side in range(2)]
    sides = [
        lambda k, table=table, source=source: algorithm.run(risk, table, budget, source).coef
        for table, source in zip(pair, sources, strict=True)
    ]
    return distinguish(*sides, runs, budget.delta, ALARM)


CASES = [
    (Adjacency.REPLACE, 2, Hinge(), APPROXIMATE),
    (Adjacency.REPLACE, 3, Hinge(), APPROXIMATE),
    (Adjacency.REPLACE_WITHIN_CLASS, 3, Hinge(), APPROXIMATE),
    (Adjacency.REPLACE_WITHIN_CLASS, 2, STEEP, PURE),
]


def attack(case, runs: int, monkeypatch) -> None:
    """The control has a tenth of the noise, with three classes a thirtieth: what W tells of one class is blurred."""
    adjacency, classes, loss, budget = case
    pair, risk = neighbours(adjacency, classes), MetricRisk(loss, adjacency=adjacency)
    honest = told_apart(pair, risk, budget, runs, 0)
    null = told_apart((pair[0], pair[0]), risk, budget, runs, 2)
    add, factor = NoisePlan.add, 0.1 if classes == 2 else 0.03
    with monkeypatch.context() as broken:
        broken.setattr(NoisePlan, "add", lambda noise, value, source: add(weaker(noise, factor), value, source))
        caught = told_apart(pair, risk, budget, runs, 4)
    print(f"{case}: at least {honest.epsilon:.2f} of {budget.epsilon:g}; with less noise {caught.epsilon:.2f}")
    assert honest.epsilon <= budget.epsilon < caught.epsilon
    assert (null.epsilon, null.mu) == (0.0, 0.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_releases_spend_no_more_than_promised(case, monkeypatch) -> None:
    """A direction of unit length tells less than the noisy numbers behind it, which the last test attacks."""
    attack(case, 400, monkeypatch)


@pytest.mark.audit
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_releases_spend_no_more_than_promised(case, monkeypatch) -> None:
    attack(case, 5_000, monkeypatch)


@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
def test_noisy_gradients_of_three_rankings_come_near_the_promise_and_never_beyond(adjacency) -> None:
    """At the worst neighbours that a search finds, along the line on which they differ; half the noise is caught."""
    counts = (2, 2, 2) if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None
    rankings = Directions().ranking(MetricRisk(STEEP, adjacency=adjacency), 3, counts)
    found = search_gradient(rankings, TableSize(6), 2, seed=0, batch=48, rounds=500, tilt=np.inf)
    plan = NoisyGD(1, 0.01).plan(rankings, TableSize(6), 2, APPROXIMATE)
    means = [rankings.gradient(found.w, table) for table in (found.table, found.neighbour)]
    line = (means[1] - means[0]) / np.linalg.norm(means[1] - means[0])

    def told(factor: float, pair, seed: int):
        noise, runs = weaker(plan.noise, factor), 15_000
        draws = [
            np.array([noise.add(mean, source) @ line for _ in range(2 * runs)])[:, None]
            for mean, source in zip(pair, map(SeededBits, (seed, seed + 1)), strict=True)
        ]
        return distinguish(lambda k: draws[0][k], lambda k: draws[1][k], runs, APPROXIMATE.delta, ALARM)

    mu = gaussian_mu(APPROXIMATE.epsilon, APPROXIMATE.delta)
    honest, caught, null = told(1.0, means, 0), told(0.5, means, 2), told(1.0, (means[0], means[0]), 4)
    print(
        f"{adjacency}: {found.ratio:.3f} of the claim; mu {honest.mu:.2f} of {mu:.2f}; half the noise {caught.mu:.2f}"
    )
    assert found.ratio > 0.95
    assert mu - 0.3 <= honest.mu <= mu < caught.mu
    assert null.mu == 0.0
