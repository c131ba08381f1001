"""Algorithms on points, attacked: what they compute before their noise, and whole releases told apart.

Each audit runs the algorithm as users do, from a bit source; the control runs the same code with half the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from diptych import Absolute, Adjacency, Budget, Hinge, Huber, Logistic, OutputPerturbation, QNormHinge, SmoothedHinge
from diptych.accounting import NoisePlan, gaussian_mu
from diptych.algorithms import EpochGD, GDOutput, NoisyGD, ObjectivePerturbation
from diptych.audit import claims, distinguish, search_densities, search_minimiser, search_output
from diptych.noise import SeededBits
from diptych.risks import PointRisk
from diptych.sets import Free, L2Ball
from diptych.spec import TableSize

REPLACE, WITHIN, COMING = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS, Adjacency.ADD_REMOVE
STEEP = SmoothedHinge(1.0, 0.1)  # its slope is at its bound for most margins
ERROR = 1e-8
APPROXIMATE, PURE = Budget(1.5, 1e-2), Budget(1.5)
SHORT = [  # short steps: what moves does so without bending
    (GDOutput(4, 0.01), 0.5),
    (GDOutput(4, 0.01), 0.0),
    (NoisyGD(4, 0.01), 0.0),
    (EpochGD(4, 0.01), 0.0),
]


def size_of(adjacency, n: int) -> TableSize:
    return TableSize(n, n // 2 if adjacency is WITHIN else None)


# --- how far results move


@pytest.mark.parametrize(("algorithm", "lam"), SHORT, ids=str)
@pytest.mark.parametrize("held", [Free(), L2Ball(0.3)], ids=str)
@pytest.mark.parametrize(
    ("loss", "adjacency"),
    [*product([STEEP], Adjacency), *product([Huber(0.05)], (REPLACE, COMING)), (Logistic(), REPLACE)],
    ids=str,
)
def test_results_never_move_farther_than_claimed_and_nearly_as_far(algorithm, lam, held, loss, adjacency) -> None:
    risk, worst = PointRisk(loss, lam, held, adjacency), 0.0
    if isinstance(algorithm, EpochGD) and adjacency is COMING:
        with pytest.raises(ValueError, match="adjacency='add-remove' does not suit epoch-gd"):
            algorithm.check(risk, APPROXIMATE)
        return
    n, d = (8, 1) if isinstance(algorithm, EpochGD) else (2, 2)
    for claim in claims(algorithm, risk, size_of(adjacency, n), d, APPROXIMATE):
        found = search_output(claim.compute, claim.risk, claim.size, d, claim.sensitivity, seed=1, batch=8, rounds=50)
        assert found.ratio <= 1 + 1e-9, claim.what
        worst = max(worst, found.ratio)
    print(f"{algorithm} {risk}: {worst:.3f}")
    assert worst >= 0.95


@pytest.mark.parametrize("algorithm", [GDOutput(4, 0.01), NoisyGD(4, 0.01)], ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
def test_a_claim_that_is_too_small_is_refuted(algorithm, adjacency) -> None:
    risk = PointRisk(STEEP, 0.0, L2Ball(0.3), adjacency)
    (claim,) = claims(algorithm, risk, size_of(adjacency, 2), 1, APPROXIMATE)
    small = claim.sensitivity / 1.03
    assert search_output(claim.compute, claim.risk, claim.size, 1, small, seed=3, batch=8, rounds=40).ratio > 1.02


@pytest.mark.audit
@pytest.mark.parametrize("loss", [STEEP, Logistic(), Logistic(1.0, 0.25), SmoothedHinge(1.0, 0.5), Huber()], ids=str)
@pytest.mark.parametrize("held", [Free(), L2Ball(0.3), L2Ball(3.0)], ids=str)
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
def test_results_never_move_farther_than_claimed_at_length(loss, held, adjacency, lam) -> None:
    """The longest steps that the proofs allow, too."""
    if loss.residual and adjacency is WITHIN:
        return  # refused: tests/risks/test_point.py
    risk, short = PointRisk(loss, lam, held, adjacency), 0.01 * loss.temperature
    for algorithm in (GDOutput(12), GDOutput(12, short), NoisyGD(5, short), EpochGD(5)):
        if isinstance(algorithm, EpochGD) and adjacency is COMING:
            continue
        for n, d in ((8, 1), (9, 2)) if isinstance(algorithm, EpochGD) else ((2, 1), (3, 2), (5, 3)):
            for claim in claims(algorithm, risk, size_of(adjacency, n), d, APPROXIMATE):
                found = search_output(
                    claim.compute, claim.risk, claim.size, d, claim.sensitivity, 4, batch=8, rounds=60
                )
                assert found.ratio <= 1 + 1e-9, claim.what


# --- whole releases


@dataclass(frozen=True)
class Case:
    """An algorithm, a risk and a budget, at which a search comes near the claim."""

    algorithm: Any
    risk: PointRisk
    budget: Budget

    def __str__(self) -> str:
        risk = self.risk
        return (
            f"{self.algorithm.name}-{risk.loss.name}-{risk.adjacency}-{'pure' if self.budget.pure else 'approximate'}"
        )

    def neighbours(self) -> tuple[Any, Any]:
        """The worst tables that a search finds; for noisy gradients, at the origin where the descent starts."""
        size = size_of(self.risk.adjacency, 8 if isinstance(self.algorithm, EpochGD) else 2)
        if isinstance(self.algorithm, ObjectivePerturbation):
            plan = self.algorithm.plan(self.risk, size, 1, self.budget)
            worst = search_densities(plan.risk, size, 1, plan.tilt, 0.99 * self.budget.epsilon, seed=0, rounds=60)
            return worst.table, worst.neighbour
        if isinstance(self.algorithm, OutputPerturbation):
            found = search_minimiser(self.risk, size, 1, seed=0, batch=8, rounds=40)
        else:
            *_, claim = claims(self.algorithm, self.risk, size, 1, self.budget)
            compute = claim.compute
            if isinstance(self.algorithm, NoisyGD):
                compute = lambda table: claim.risk.gradient(np.zeros(1), table)  # noqa: E731
            share = math.sqrt(self.algorithm.steps) if isinstance(self.algorithm, NoisyGD) else 1.0
            found = search_output(compute, claim.risk, claim.size, 1, claim.sensitivity / share, 0, batch=8, rounds=40)
        assert found.ratio <= 1 + 1e-9
        return found.table, found.neighbour

    def runner(self, table: Any, seed: int):
        source = SeededBits(seed)
        return lambda k: self.algorithm.run(self.risk, table, self.budget, source).coef


GD = GDOutput(4, 0.01, "gaussian")
STIFF = 50.0  # the regulariser outweighs the curvature: nearly all of the budget goes to the noise in the objective
FEW = [
    Case(ObjectivePerturbation("gaussian"), PointRisk(STEEP, STIFF), APPROXIMATE),
    Case(ObjectivePerturbation("gaussian"), PointRisk(Logistic(1.0, 0.25), STIFF, adjacency=COMING), APPROXIMATE),
    Case(ObjectivePerturbation("laplace"), PointRisk(Huber(0.3), STIFF, adjacency=COMING), PURE),
    Case(ObjectivePerturbation("norm-laplace"), PointRisk(STEEP, STIFF, L2Ball(0.02), WITHIN), PURE),
    Case(OutputPerturbation("gaussian"), PointRisk(STEEP, 3.0), APPROXIMATE),
    Case(OutputPerturbation("laplace"), PointRisk(Huber(0.1), 3.0, adjacency=COMING), PURE),
    Case(OutputPerturbation("norm-laplace"), PointRisk(Logistic(1.0, 0.1), 3.0, adjacency=WITHIN), PURE),
    Case(GD, PointRisk(Huber(0.05), 0.0, L2Ball(3.0)), APPROXIMATE),
    Case(replace(GD, noise="laplace"), PointRisk(STEEP, 0.5, L2Ball(3.0), COMING), PURE),
    Case(NoisyGD(1, 0.01), PointRisk(Absolute(), 0.0, L2Ball(0.9)), APPROXIMATE),
    Case(NoisyGD(1, 0.01), PointRisk(Hinge(), 0.0, L2Ball(0.9), COMING), APPROXIMATE),
    Case(NoisyGD(2, 0.01), PointRisk(QNormHinge(), 0.0, L2Ball(0.1), WITHIN), APPROXIMATE),
]
KINDS = [*product([STEEP, Logistic(1.0, 0.1)], Adjacency), (Huber(0.05), REPLACE), (Huber(0.05), COMING)]
EVERY = [
    Case(algorithm, PointRisk(loss, lam, L2Ball(3.0), adjacency), budget)
    for algorithm, lam, budget in (
        (ObjectivePerturbation("gaussian"), STIFF, APPROXIMATE),
        (ObjectivePerturbation("laplace"), STIFF, PURE),
        (OutputPerturbation("gaussian"), 3.0, APPROXIMATE),
        (OutputPerturbation("laplace"), 3.0, PURE),
        (GD, 0.0, APPROXIMATE),
        (GD, 0.5, APPROXIMATE),
        (replace(GD, noise="laplace"), 0.0, PURE),
        (EpochGD(4, 0.01, 1, "gaussian"), 0.0, APPROXIMATE),
        (NoisyGD(1, 0.01), 0.0, APPROXIMATE),
        (NoisyGD(4, 0.01), 0.0, APPROXIMATE),
    )
    for loss, adjacency in KINDS
    if not (isinstance(algorithm, EpochGD) and adjacency is COMING)
]


@pytest.fixture
def quick(monkeypatch) -> None:
    """Plans are public, so that they need not be made anew for each of thousands of runs."""
    for place in ("accounting.plan", "algorithms.noisy_descent"):
        monkeypatch.setattr(f"diptych.{place}.gaussian_mu", lru_cache(gaussian_mu))
    monkeypatch.setattr(ObjectivePerturbation, "plan", lru_cache(ObjectivePerturbation.plan))


def attack(case: Case, runs: int, monkeypatch) -> None:
    tables = case.neighbours()
    mu = None if case.budget.pure else gaussian_mu(case.budget.epsilon, case.budget.delta)
    honest = distinguish(*map(case.runner, tables, (0, 1)), runs, case.budget.delta, ERROR)
    null = distinguish(case.runner(tables[0], 4), case.runner(tables[0], 5), runs, case.budget.delta, ERROR)
    whole = NoisePlan.add

    def half(plan: NoisePlan, value, source):
        scale = plan.lattice.step * max(1, plan.lattice.steps(plan.scale) // 2)
        return whole(replace(plan, scale=scale if plan.noise != "norm-laplace" else plan.scale / 2), value, source)

    monkeypatch.setattr(NoisePlan, "add", half)
    caught = distinguish(*map(case.runner, tables, (2, 3)), 2 * runs, case.budget.delta, ERROR)
    print(f"{case}: {honest.epsilon:.2f} {honest.mu:.2f} of {case.budget.epsilon} {mu}; control {caught.mu:.2f}")
    assert honest.epsilon <= case.budget.epsilon
    assert (null.epsilon, null.mu) == (0.0, 0.0)
    if mu is None:
        assert 0.2 * case.budget.epsilon < honest.epsilon
        assert caught.epsilon > case.budget.epsilon
    else:
        assert 0.3 * mu < honest.mu <= mu < caught.mu


HALF = [pytest.param(case, marks=pytest.mark.audit) if place % 2 else case for place, case in enumerate(FEW)]


@pytest.mark.parametrize("case", HALF, ids=str)
@pytest.mark.usefixtures("quick")
def test_releases_spend_no_more_than_promised(case, monkeypatch) -> None:
    attack(case, 2000, monkeypatch)


@pytest.mark.audit
@pytest.mark.parametrize("case", EVERY, ids=str)
@pytest.mark.usefixtures("quick")
def test_all_releases_spend_no_more_than_promised(case, monkeypatch) -> None:
    attack(case, 6000, monkeypatch)
