"""Objective perturbation at its root: densities of neighbours' minimisers, integrated in one and two dimensions.

Theorem 1 of docs/theory/objective-perturbation.md without its last step, the solver: what is compared is the ideal
release of (w, c), with the noise, regulariser and set that the algorithm plans. ``pytest -s`` prints how near it comes.
"""

from __future__ import annotations

import math
from itertools import product

import pytest

from diptych import Adjacency, Budget, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.algorithms.objective_perturbation import FINISH, ObjectivePerturbation, Perturbation
from diptych.risks import RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import OF_PAIRS, TableSize
from tests.densities import attack, with_noise

PURE, APPROXIMATE = Budget(1.5), Budget(1.5, 1e-2)
LAWS = [("laplace", PURE), ("norm-laplace", PURE), ("gaussian", APPROXIMATE)]
STIFF = [  # the regulariser outweighs the curvature: nearly all of the budget goes to the noise
    (Logistic(1.0, 0.25), 50.0, Free()),
    (Logistic(), 20.0, L2Ball(0.05)),
    (SmoothedHinge(1.0, 0.5), 50.0, Free()),
    (Squared(), 300.0, L2Ball(0.05)),
    (Squared(), 300.0, Free()),
    (SquaredHinge(), 100.0, L2Ball(0.2)),
]
BENT = [  # the Jacobian takes a good part of the budget
    (SmoothedHinge(1.0, 0.5), 2.0, L2Ball(0.3)),
    (SmoothedHinge(), 5.0, Free()),
    (Logistic(), 1.0, Free()),
    (Squared(), 10.0, L2Ball(0.5)),
    (SquaredHinge(), 10.0, Free()),
]


def setting(loss, regularization, constraint, adjacency, n: int = 3) -> tuple[RankingRisk, TableSize]:
    size = TableSize(n, 1 if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    return RankingRisk(loss, regularization, constraint, adjacency), size


def planned(problem, noise: str, budget: Budget, adjacency, d: int) -> tuple[TableSize, Perturbation]:
    risk, size = setting(*problem, adjacency)
    return size, ObjectivePerturbation(noise).plan(risk, size, d, budget)


def cases(problems, planar):
    """All problems on the line, some in the plane."""
    every = [*product(problems, LAWS, OF_PAIRS, (1,)), *product(planar, LAWS, OF_PAIRS, (2,))]
    return pytest.mark.parametrize(("problem", "law", "adjacency", "d"), every, ids=str)


@cases(STIFF, STIFF[:3])
def test_neighbours_spend_nearly_all_of_the_budget_and_never_more(problem, law, adjacency, d) -> None:
    noise, budget = law
    size, plan = planned(problem, noise, budget, adjacency, d)
    share = attack(plan, size, d, budget, rounds=60 if d == 1 else 20)
    print(f"{problem} {noise} {adjacency} d={d}: {share:.3f} of the budget")
    assert (0.85 if budget.pure else 0.15) <= share <= 1.0 + 1e-9
    if d == 1:  # the control: half the noise
        assert attack(with_noise(plan, 0.5), size, d, budget, rounds=30) > 1.3


@cases(BENT, BENT[:1])
def test_where_the_jacobian_counts_neighbours_never_spend_more(problem, law, adjacency, d) -> None:
    noise, budget = law
    size, plan = planned(problem, noise, budget, adjacency, d)
    assert plan.shift > 0.1 * budget.epsilon
    share = attack(plan, size, d, budget, rounds=60 if d == 1 else 20)
    print(f"{problem} {noise} {adjacency} d={d}: {share:.3f} of the budget, shift {plan.shift:.3f}")
    assert share <= 1.0 + 1e-9
    assert share > 0.5 or not budget.pure


@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
@pytest.mark.parametrize("d", [1, 2])
def test_the_jacobians_share_is_needed(adjacency, d) -> None:
    """Control: noise for the whole budget, as if the Jacobian were free, is refuted: slope and curvature can meet."""
    size, plan = planned(BENT[0], "norm-laplace", PURE, adjacency, d)
    whole = (1.0 - FINISH) * PURE.epsilon
    careless = with_noise(plan, (whole - plan.shift) / whole)
    assert attack(plan, size, d, PURE, rounds=30) <= 1.0 + 1e-9
    assert attack(careless, size, d, PURE, rounds=30) > 1.2


def test_a_slope_that_changes_sign_falls_back_on_lemma_4() -> None:
    budget = Budget(6.0, 1e-2)
    size, plan = planned((Squared(), 0.3, L2Ball(0.6)), "gaussian", budget, Adjacency.REPLACE, 1)
    assert not plan.risk.certificate(size, 1, tilt=math.inf).one_signed
    assert attack(plan, size, 1, budget, rounds=100) <= 1.0 + 1e-9
    assert attack(with_noise(plan, 0.25), size, 1, budget, rounds=100) > 1.0


MANY = [
    (loss, regularization, constraint)
    for loss in (Logistic(), Logistic(1.0, 0.25), SmoothedHinge(), SmoothedHinge(1.0, 0.2), Squared(), SquaredHinge())
    for regularization in (0.1, 1.0, 10.0, 100.0)
    for constraint in (Free(), L2Ball(0.1), L2Ball(1.0))
]


@pytest.mark.audit
@pytest.mark.parametrize(("noise", "budget"), [*LAWS, ("gaussian", Budget(0.5, 1e-4)), ("gaussian", Budget(4.0, 1e-3))])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (5, 1)])
@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
@pytest.mark.parametrize("problem", MANY, ids=str)
def test_all_neighbours_spend_no_more_than_promised(problem, noise, budget, n, d, adjacency) -> None:
    risk, size = setting(*problem, adjacency, n=n)
    plan = ObjectivePerturbation(noise).plan(risk, size, d, budget)
    assert attack(plan, size, d, budget, rounds=250 if d == 1 else 40, seed=1) <= 1.0 + 1e-9
