"""Objective perturbation of points: densities of neighbours' minimisers, determinants, plans and promises attacked.

What is compared is the ideal release of (w, c), as in ``test_objective_density.py``. ``pytest -s`` prints how near it
comes to what was planned.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import optimize

from diptych import Absolute, Adjacency, Budget, Hinge, Huber, Logistic, SmoothedHinge, Squared, SquaredError
from diptych.accounting import OfExchange, OfRecord
from diptych.algorithms import UnsuitableError
from diptych.algorithms.objective_perturbation import FINISH, ObjectivePerturbation, Perturbation, _profile
from diptych.audit import search_determinant
from diptych.noise import SecureBits, SeededBits
from diptych.risks import PointRisk, PointTable
from diptych.sets import Free, L2Ball
from diptych.spec import TableSize
from tests.densities import attack, with_noise

REPLACE, WITHIN, COMING = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS, Adjacency.ADD_REMOVE
PURE, APPROXIMATE = Budget(1.5), Budget(1.5, 1e-2)
QUADRATURE = 1e-3  # of the integrals
LAWS = [("laplace", PURE), ("norm-laplace", PURE), ("gaussian", APPROXIMATE)]
STIFF = [  # the regulariser outweighs the curvature: nearly all of the budget goes to the noise
    (Logistic(1.0, 0.25), 50.0, Free()),
    (SmoothedHinge(1.0, 0.5), 50.0, L2Ball(0.05)),
    (Squared(), 300.0, L2Ball(0.05)),
    (Huber(0.3), 100.0, Free()),
    (SquaredError(), 300.0, L2Ball(0.05)),
]
BENT = [  # the Jacobian takes a good part of the budget
    (SmoothedHinge(1.0, 0.5), 1.0, L2Ball(1.0)),
    (Logistic(), 0.3, Free()),
    (Huber(0.5), 3.0, Free()),
    (SquaredError(), 3.0, L2Ball(0.5)),
]


def size_of(adjacency: Adjacency, n: int = 2) -> TableSize:
    return TableSize(n, 1 if adjacency is WITHIN else None)


def planned(problem, noise, budget, adjacency, d: int) -> tuple[TableSize, Perturbation]:
    size = size_of(adjacency)
    return size, ObjectivePerturbation(noise).plan(PointRisk(*problem, adjacency), size, d, budget)


def cases(problems, planar):
    every = [*product(problems, LAWS, Adjacency, (1,)), *product(planar, LAWS, Adjacency, (2,))]
    return pytest.mark.parametrize(
        ("problem", "law", "adjacency", "d"),
        [one for one in every if not (one[0][0].residual and one[2] is WITHIN)],
        ids=str,
    )


# --- densities, attacked


@cases(STIFF, STIFF[1:4:2])
def test_neighbours_spend_nearly_all_of_the_budget_and_never_more(problem, law, adjacency, d) -> None:
    noise, budget = law
    size, plan = planned(problem, noise, budget, adjacency, d)
    share = attack(plan, size, d, budget, rounds=60 if d == 1 else 20)
    print(f"{problem} {noise} {adjacency} d={d}: {share:.3f} of the budget")
    wavers = problem[0].residual and not budget.pure  # the proof lets residuals change their signs with the noise
    assert (0.85 if budget.pure else 0.4 if wavers else 0.8) <= share <= 1.0 + QUADRATURE
    if d == 1:  # the control: half the noise
        assert attack(with_noise(plan, 0.5), size, d, budget, rounds=30) > 1.3


@cases(BENT, BENT[:1])
def test_where_the_jacobian_counts_neighbours_never_spend_more(problem, law, adjacency, d) -> None:
    noise, budget = law
    size, plan = planned(problem, noise, budget, adjacency, d)
    assert plan.shift > 0.1 * budget.epsilon
    share = attack(plan, size, d, budget, rounds=60 if d == 1 else 20, error=0.02)
    print(f"{problem} {noise} {adjacency} d={d}: {share:.3f} of the budget, shift {plan.shift:.3f}")
    assert share <= 1.0 + QUADRATURE


def test_a_record_that_comes_or_goes_spends_what_a_gaussian_release_does() -> None:
    """With a slope of one sign the profile has no slack: three per cent less noise is refuted."""
    budget = Budget(1.0, 1e-2)
    size, plan = planned((SmoothedHinge(1.0, 0.1), 300.0, L2Ball(0.02)), "gaussian", budget, COMING, 1)
    assert plan.shift == 0.0  # all margins lie where the loss is straight
    share = attack(plan, size, 1, budget, rounds=60)
    assert 0.98 <= share <= 1.0 + QUADRATURE
    assert attack(with_noise(plan, 0.97), size, 1, budget, rounds=60) > 1.05


MANY = [
    (loss, lam, held)
    for loss in (Logistic(), Logistic(1.0, 0.25), SmoothedHinge(1.0, 0.2), Squared(), Huber(0.3), SquaredError())
    for lam in (0.1, 1.0, 10.0, 100.0)
    for held in (Free(), L2Ball(0.1), L2Ball(1.0))
]


@pytest.mark.audit
@pytest.mark.parametrize(("noise", "budget"), [*LAWS, ("gaussian", Budget(0.5, 1e-4)), ("gaussian", Budget(4.0, 1e-3))])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (5, 1)])
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("problem", MANY, ids=str)
def test_all_neighbours_spend_no_more_than_promised(problem, noise, budget, n, d, adjacency) -> None:
    if problem[0].residual and adjacency is WITHIN:
        return  # refused: tests/risks/test_point.py
    size = size_of(adjacency, n)
    plan = ObjectivePerturbation(noise).plan(PointRisk(*problem, adjacency), size, d, budget)
    assert attack(plan, size, d, budget, rounds=250 if d == 1 else 40, seed=1, error=0.05) <= 1.0 + QUADRATURE


# --- determinants


@pytest.mark.parametrize("loss", [Logistic(), Logistic(1.0, 0.25), SmoothedHinge(), Squared(), Huber(), SquaredError()])
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("ridge", [0.03, 0.5, 5.0])
@pytest.mark.parametrize("d", [1, 3])
def test_determinants_move_as_far_as_claimed_and_no_farther(loss, adjacency, ridge, d) -> None:
    if loss.residual and adjacency is WITHIN:
        return
    risk, size = PointRisk(loss, ridge, L2Ball(2.0), adjacency), TableSize(3, 1 if adjacency is WITHIN else None)
    found = search_determinant(risk, size, d, ridge, seed=0, batch=32, rounds=150)
    print(f"{loss} {adjacency} {ridge} d={d}: {found.ratio:.4f}")
    assert found.ratio <= 1.0 + 1e-12
    assert found.ratio >= 0.97


# --- plans


def test_the_profile_follows_from_the_certificate() -> None:
    certificates = {
        (loss, adjacency): PointRisk(loss, 0.1, Free(), adjacency).certificate(size_of(adjacency, 10), 3, tilt=math.inf)
        for loss, adjacency in product((SmoothedHinge(), Huber()), Adjacency)
        if not (loss.residual and adjacency is WITHIN)
    }
    assert _profile(certificates[SmoothedHinge(), COMING]) == OfRecord(True)
    assert _profile(certificates[Huber(), COMING]) == OfRecord(False)
    assert _profile(certificates[SmoothedHinge(), REPLACE]) == OfExchange(True, 0.5)
    assert _profile(certificates[SmoothedHinge(), WITHIN]) == OfExchange(True, 0.5)
    assert _profile(certificates[Huber(), REPLACE]) == OfExchange(False, 0.5)


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("norm", [0.1, 1.0, math.sqrt(2.0), 10.0])
def test_the_jacobian_counts_the_square_of_the_norm(adjacency, norm) -> None:
    """A known mistake: with the norm in place of its square the determinant moves farther than was accounted for."""
    risk, size, ridge = PointRisk(Logistic(), 0.01, Free(), adjacency, norm, 2.0 * norm), TableSize(4, None), 0.01
    size = TableSize(4, 2 if adjacency is WITHIN else None)
    claimed = risk.certificate(size, 2, tilt=math.inf).determinant_shift(ridge, 2)
    curvature = 0.25 / 4  # of one record's loss at score 0, weighted
    hessian = curvature * norm**2 * np.diag([1.0, 0.0])  # a record along the axis comes: the determinant moves by
    moved = np.linalg.slogdet(hessian + ridge * np.eye(2))[1] - np.linalg.slogdet(ridge * np.eye(2))[1]
    assert claimed == pytest.approx(moved, rel=1e-9)
    mistaken = math.log1p(curvature * norm / ridge)
    assert (mistaken < moved) == (norm > 1.0)


def test_the_intercept_is_regularised_like_any_feature() -> None:
    """A known mistake: without a regulariser the intercept's direction has no curvature to hide a record behind.

    Strong convexity by finite differences along the constant column of a table whose losses are all straight.
    """
    X = np.column_stack((np.zeros((5, 2)), np.ones(5)))
    risk = PointRisk(SmoothedHinge(1.0, 0.1), 0.2, norm=math.sqrt(2.0))
    for direction in np.eye(3):
        low, middle, high = (risk.value(t * direction, PointTable(X, np.ones(5))) for t in (-0.1, 0.0, 0.1))
        assert (low - 2.0 * middle + high) / 0.01 >= 0.2 - 1e-9


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("loss", [Logistic(), SquaredError()], ids=str)
@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("held", [Free(), L2Ball(0.2)], ids=str)
def test_the_release_is_the_tilted_minimiser_within_its_error_plus_planned_noise(
    adjacency, loss, budget, held, rng
) -> None:
    """A known mistake: an inexact minimiser taken for an exact one. Here its error is within what is covered."""
    if loss.residual and adjacency is WITHIN:
        return
    X = rng.normal(size=(60, 3)) / 4
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    y = rng.uniform(-1, 1, 60) if loss.residual else np.where(rng.random(60) < 0.4, 1.0, -1.0)
    table, risk, algorithm = PointTable(X, y, 50), PointRisk(loss, 0.1, held, adjacency), ObjectivePerturbation()
    release = algorithm.run(risk, table, budget, SeededBits(1))
    plan, source = algorithm.plan(risk, table.size(adjacency), 3, budget), SeededBits(1)
    b = plan.tilt.add(np.zeros(3), source)
    w = _optimum(plan.risk, table, b)
    computed = release.coef - plan.finish.add(np.zeros(3), source)
    allowed = 0.5 * plan.finish.sensitivity / (math.sqrt(3) if plan.finish.noise == "laplace" else 1.0)
    assert np.linalg.norm(computed - w) <= allowed
    assert release.guarantee.events[1].sensitivity == plan.finish.sensitivity
    assert release.guarantee.adjacency is adjacency


def _optimum(risk: PointRisk, table: PointTable, b) -> np.ndarray:
    """The minimiser over the set of the risk plus b.w, by SciPy's root finders from explicit records."""
    u, shift = (-table.X, table.y) if risk.loss.residual else (table.y[:, None] * table.X, 0.0)
    weight = table.weight(risk.adjacency)

    def stationary(ridge: float) -> np.ndarray:
        return optimize.root(
            lambda w: weight * risk.loss.slope(shift + u @ w) @ u + ridge * w + b,
            -b / ridge,
            jac=lambda w: weight * (u.T * risk.loss.curvature(shift + u @ w)) @ u + ridge * np.eye(table.d),
            tol=1e-14,
        ).x

    w, radius = stationary(risk.regularization), risk.constraint.radius
    if np.linalg.norm(w) <= radius:
        return w
    c = optimize.brentq(
        lambda c: 1.0 / np.linalg.norm(stationary(risk.regularization + c)) - 1.0 / radius, 0.0, 1e9, xtol=1e-14
    )
    return stationary(risk.regularization + c)


def test_an_empty_table_is_released_like_any_other() -> None:
    """Under add-remove; the neighbour has one record."""
    risk, algorithm = PointRisk(Logistic(), 0.3, Free(), COMING), ObjectivePerturbation()
    for rows in (0, 1):
        table = PointTable(np.ones((rows, 2)) / 2, np.ones(rows), 3)
        assert algorithm.run(risk, table, Budget(1.0, 1e-3), SeededBits(5)).coef.shape == (2,)


@pytest.mark.parametrize(
    ("risk", "budget", "constants", "message"),
    [
        (PointRisk(Hinge(), 0.1), Budget(1.0), "defended", "loss='hinge' does not suit .*use loss='smoothed-hinge'"),
        (PointRisk(Absolute(), 0.1), Budget(1.0), "defended", "loss='absolute' does not suit .*use loss='huber'"),
        (PointRisk(Logistic()), Budget(1.0), "defended", "regularization must be above 0"),
        (PointRisk(Logistic(), 0.1), Budget(1.0), "paper", "use constants='defended' for points"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused_before_the_data(risk, budget, constants, message) -> None:
    with pytest.raises(UnsuitableError, match=message):
        ObjectivePerturbation().run(risk, None, budget, SecureBits(), constants)


def test_less_noise_than_output_perturbation_where_the_regulariser_is_weak() -> None:
    """The tilt is divided by lambda and curvature, the noise on a minimiser by lambda alone."""
    from diptych import OutputPerturbation

    budget, size = Budget(1.0, 1e-6), TableSize(1000)
    for adjacency in (REPLACE, COMING):
        risk = PointRisk(Logistic(), 0.01, adjacency=adjacency)
        ours, theirs = (
            one.added_risk(risk, size, 10, budget) for one in (ObjectivePerturbation(), OutputPerturbation())
        )
        assert ours < 0.1 * theirs
        plan = ObjectivePerturbation().plan(risk, size, 10, budget)
        assert plan.finish.mean_square * plan.risk.regularization**2 <= 1e-3 * plan.tilt.mean_square
        assert plan.shift <= 0.5 * (1.0 - FINISH)
        assert replace(plan, tilt=plan.tilt) == plan
