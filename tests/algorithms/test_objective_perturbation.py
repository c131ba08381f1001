"""Objective perturbation: what it releases, what it plans, what it promises, what it refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from diptych import Adjacency, Budget, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import OfPairs
from diptych.algorithms import UnsuitableError
from diptych.algorithms.objective_perturbation import FINISH, JACOBIAN, ObjectivePerturbation
from diptych.noise import SecureBits, SeededBits
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.sets import L2Ball
from diptych.spec import OF_PAIRS, TableSize
from tests.explicit import optimum, table_of

WITHIN = Adjacency.REPLACE_WITHIN_CLASS
LOSSES = [Logistic(), Logistic(1.0, 0.5), Squared(), SquaredHinge(), SmoothedHinge()]
losses = pytest.mark.parametrize("loss", LOSSES, ids=str)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
BUDGETS = [Budget(1.0), Budget(1.0, 1e-6), Budget(0.1, 1e-9)]
budgets = pytest.mark.parametrize("budget", BUDGETS, ids=str)


def size_of(adjacency, n=120, positives=36) -> TableSize:
    return TableSize(n, positives if adjacency is WITHIN else None)


# --- what is released


@losses
@adjacencies
@budgets
@pytest.mark.parametrize("radius", [None, 0.02])
def test_the_release_is_the_tilted_minimiser_within_its_error_plus_planned_noise(
    loss, adjacency, budget, radius, rng
) -> None:
    """The same bits again give b and the last noise; what remains is the solver's error, which Lemma 8 bounds."""
    table, algorithm = table_of(rng), ObjectivePerturbation()
    risk = RankingRisk(loss, 0.2, adjacency=adjacency, **({"constraint": L2Ball(radius)} if radius else {}))
    release = algorithm.run(risk, table, budget, SeededBits(1))
    plan, source = algorithm.plan(risk, table.size(adjacency), table.d, budget), SeededBits(1)
    b = plan.tilt.add(np.zeros(table.d), source)
    w = optimum(plan.risk, table, b)
    computed = release.coef - plan.finish.add(np.zeros(table.d), source)
    allowed = 0.5 * plan.finish.sensitivity / (math.sqrt(table.d) if plan.finish.noise == "laplace" else 1.0)
    assert np.linalg.norm(computed - w) <= allowed
    assert np.linalg.norm(w) <= plan.risk.constraint.radius * (1 + 1e-9)
    assert np.linalg.norm(release.coef - w) <= 4.0 * math.sqrt(plan.finish.mean_square)


@losses
@adjacencies
def test_without_privacy_it_is_the_exact_minimiser(loss, adjacency, rng) -> None:
    table, risk = table_of(rng), RankingRisk(loss, 0.05, adjacency=adjacency)
    release = ObjectivePerturbation().run(risk, table, Budget(math.inf), SecureBits())
    np.testing.assert_allclose(release.coef, optimum(risk, table, np.zeros(table.d)), atol=1e-7)
    assert not release.guarantee.private
    assert "no privacy guarantee" in str(release.guarantee)
    assert release.trace["residual"] <= release.trace["tolerance"]


def test_the_trace_of_a_private_release_is_public(rng) -> None:
    """Tables of one size but other rows and, where labels are private, other class counts: one trace, one guarantee."""
    for adjacency in OF_PAIRS:
        shares = (0.3, 0.3) if adjacency is WITHIN else (0.3, 0.6)
        risk = RankingRisk(Logistic(), 0.1, adjacency=adjacency)
        releases = [
            ObjectivePerturbation().run(risk, table_of(rng, share=share), Budget(1.0, 1e-6), SeededBits(0))
            for share in shares
        ]
        assert releases[0].trace == releases[1].trace
        assert releases[0].guarantee == releases[1].guarantee
        assert {"residual", "iterations", "steps"}.isdisjoint(releases[0].trace)
        assert np.any(releases[0].coef != releases[1].coef)


@budgets
def test_a_table_of_one_class_is_released_like_any_other_where_labels_are_private(budget, rng) -> None:
    table, risk = PairTable(rng.normal(size=(6, 3)) / 9, np.ones(6, dtype=bool)), RankingRisk(Logistic(), 0.3)
    algorithm, source = ObjectivePerturbation(), SeededBits(5)
    release = algorithm.run(risk, table, budget, SeededBits(5))
    plan = algorithm.plan(risk, TableSize(6), 3, budget)
    b = plan.tilt.add(np.zeros(3), source)
    w = plan.risk.constraint.project(-b / plan.risk.regularization)
    np.testing.assert_array_equal(release.coef, plan.finish.add(L2Ball(plan.radius).project(w), source))
    with pytest.raises(ValueError, match="both classes must occur"):
        algorithm.run(replace(risk, adjacency=WITHIN), table, budget, SecureBits())


def test_a_seed_gives_neighbours_the_same_noise(rng) -> None:
    """So that audits can cancel it: the releases differ as the minimisers for one b do."""
    table, budget, risk = table_of(rng, n=8, d=2), Budget(1.0, 1e-3), RankingRisk(Logistic(), 0.5)
    other = PairTable(np.r_[table.X[:-1], [[0.9, -0.1]]], table.positive)
    here, there = (ObjectivePerturbation().run(risk, one, budget, SeededBits(9)).coef for one in (table, other))
    plan = ObjectivePerturbation().plan(risk, TableSize(8), 2, budget)
    b = plan.tilt.add(np.zeros(2), SeededBits(9))
    moved = optimum(plan.risk, table, b) - optimum(plan.risk, other, b)
    assert np.linalg.norm(moved) > 100.0 * plan.finish.sensitivity
    np.testing.assert_allclose(here - there, moved, atol=2.0 * plan.finish.sensitivity)


# --- what is planned


@losses
@adjacencies
@pytest.mark.parametrize("budget", [*BUDGETS, Budget(8.0, 1e-4), Budget(1e-3)], ids=str)
@pytest.mark.parametrize("regularization", [1e-4, 0.1, 10.0])
def test_the_parts_of_the_budget_add_up(loss, adjacency, budget, regularization) -> None:
    """Theorem 1, from the certificate of what is minimised."""
    size, risk = size_of(adjacency), RankingRisk(loss, regularization, adjacency=adjacency)
    plan = ObjectivePerturbation().plan(risk, size, 4, budget)
    everywhere = plan.risk.certificate(size, 4, tilt=math.inf)
    ridge = plan.risk.regularization
    assert ridge >= regularization
    assert (
        everywhere.determinant_shift(ridge, 4) <= plan.shift <= JACOBIAN * (1.0 - FINISH) * budget.epsilon * (1 + 1e-12)
    )
    main = (1.0 - FINISH) * budget.epsilon - plan.shift
    wide, s = plan.tilt.sensitivity, everywhere.gradient_sensitivity
    if plan.tilt.noise == "gaussian":
        assert wide == s
        delta = OfPairs(everywhere.one_signed).delta(s / plan.tilt.scale, main)
        assert 0.999 * (1.0 - FINISH) * budget.delta <= delta <= (1.0 - FINISH) * budget.delta
    else:
        assert wide == pytest.approx(s * (2.0 if plan.tilt.noise == "laplace" else 1.0))
        assert 0.999 * main <= wide / plan.tilt.scale <= main
        assert plan.finish.noise == "laplace"
    assert plan.tolerance >= 1e-5 * s
    assert plan.finish.sensitivity >= 2.5 * plan.tolerance / ridge
    if budget.epsilon >= 0.1:  # the price of an inexact solver: next to none
        assert plan.finish.mean_square * ridge**2 <= 1e-3 * plan.tilt.mean_square


@losses
def test_the_regulariser_is_raised_where_the_jacobian_needs_it_and_only_there(loss) -> None:
    risk, budget = RankingRisk(loss, 1e-6), Budget(1.0, 1e-6)
    weak = ObjectivePerturbation().plan(risk, TableSize(100), 4, budget)
    assert weak.risk.regularization > 100 * risk.regularization
    share = weak.risk.certificate(TableSize(100), 4, tilt=math.inf).curvature_share
    assert weak.risk.regularization >= share / math.expm1(JACOBIAN * (1.0 - FINISH)) * (1 - 1e-9)
    strong = ObjectivePerturbation().plan(replace(risk, regularization=5.0), TableSize(100), 4, budget)
    assert strong.risk.regularization == 5.0
    assert strong.shift < JACOBIAN * (1.0 - FINISH)


@losses
@adjacencies
def test_w_is_confined_only_to_a_ball_that_holds_every_minimiser(loss, adjacency, rng) -> None:
    table, risk = table_of(rng), RankingRisk(loss, 0.2, adjacency=adjacency)
    plan = ObjectivePerturbation().plan(risk, table.size(adjacency), table.d, Budget(1.0))
    w = minimise(replace(plan.risk, constraint=risk.constraint), table, 1e-9).w
    assert np.linalg.norm(w) <= plan.risk.constraint.radius
    assert math.isfinite(plan.risk.constraint.radius) or math.isfinite(loss.slope_bound(math.inf))


def test_more_budget_means_less_noise() -> None:
    risk, algorithm = RankingRisk(Logistic(), 0.01), ObjectivePerturbation("gaussian")
    grid = [algorithm.plan(risk, TableSize(500), 5, Budget(epsilon, 1e-6)) for epsilon in np.geomspace(0.05, 20, 12)]
    ridges, scales = (
        [part(plan) for plan in grid] for part in (lambda p: p.risk.regularization, lambda p: p.tilt.scale)
    )
    assert np.all(np.diff(ridges) <= 0)
    assert np.all(np.diff(scales)[np.array(ridges[1:]) == 0.01] < 0)
    assert 3 <= sum(ridge == 0.01 for ridge in ridges) <= 9
    added = [algorithm.added_risk(risk, TableSize(500), 5, Budget(epsilon, 1e-6)) for epsilon in (0.1, 1.0, 10.0)]
    assert added[0] > added[1] > added[2] > 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=str)
def test_tiny_and_huge_budgets_work_or_are_refused_in_a_sentence(delta, loss) -> None:
    risk, algorithm = RankingRisk(loss, 0.1), ObjectivePerturbation()
    for epsilon in (1e-4, 1e-2, 50.0, 1500.0, 1e4):
        plan = algorithm.plan(risk, TableSize(100), 5, Budget(epsilon, delta))
        assert 0.0 < plan.shift < epsilon
        assert np.isfinite([plan.tilt.scale, plan.finish.scale, plan.tolerance]).all()
    for epsilon in (1e-12, 1e-8):
        with pytest.raises(ValueError, match=r"^epsilon\b.* is (so|too) small .*\.$"):
            algorithm.plan(risk, TableSize(100), 5, Budget(epsilon, delta))
    with pytest.raises(ValueError, match=r"^epsilon is so large that .*lower it.*\.$"):
        algorithm.plan(risk, TableSize(100), 5, Budget(1e10, delta))


def test_a_set_without_curvature_needs_no_jacobian() -> None:
    """All margins lie where the smoothed hinge is straight."""
    plan = ObjectivePerturbation().plan(
        RankingRisk(SmoothedHinge(1.0, 0.1), 0.1, L2Ball(0.3)), TableSize(100), 5, Budget(1.0)
    )
    assert plan.shift == 0.0
    assert plan.risk.regularization == 0.1


# --- what is promised


@losses
@adjacencies
@budgets
def test_the_guarantee_states_what_was_planned(loss, adjacency, budget, rng) -> None:
    table, risk, algorithm = table_of(rng), RankingRisk(loss, 0.1, adjacency=adjacency), ObjectivePerturbation()
    guarantee = algorithm.run(risk, table, budget, SecureBits()).guarantee
    plan = algorithm.plan(risk, table.size(adjacency), table.d, budget)
    delta = budget.delta if plan.tilt.noise == "gaussian" else 0.0
    assert (guarantee.epsilon, guarantee.delta, guarantee.adjacency) == (budget.epsilon, delta, adjacency)
    assert (guarantee.sensitivity, guarantee.noise_scale) == (plan.tilt.sensitivity, plan.tilt.scale)
    assert [(one.sensitivity, one.noise_scale) for one in guarantee.events] == [
        (part.sensitivity, part.scale) for part in (plan.tilt, plan.finish)
    ]
    assert guarantee.private
    assert not algorithm.run(risk, table, budget, SeededBits(0)).guarantee.private


GOLDEN = """\
This release (the parameters of a linear ranking model) is approximate differentially private with epsilon = 1 and \
delta = 1e-06: whatever one concludes from it, one would conclude with nearly the same probability if the features of \
one record are replaced by any others; labels and class counts are public.
Mechanism: objective perturbation with Gaussian noise.
Noise: Gaussian noise of scale {tilt.scale:.4g} hides a change of at most {tilt.sensitivity:.4g} (Euclidean norm) in \
the gradient of the regularised risk, at the model that was found.
Noise: Gaussian noise of scale {finish.scale:.4g} hides a change of at most {finish.sensitivity:.4g} (Euclidean norm) \
in the solver's error.
Accounting: privacy profile of a Gaussian tilt, bounded over all minimisers; of epsilon, {noise:.3g} for the noise in \
the objective, {shift:.3g} for the Jacobian and 0.01 for the solver's error. Sampler: exact discrete Gaussian on a \
lattice (Canonne, Kamath and Steinke 2020).
It assumes that every value in the table is finite (a table that is not is refused); that the bounds of the features \
were fixed without looking at the table; that each row was made from its own record alone (by no scaler, imputer or \
selector fitted on the table)."""


def test_golden_text(rng) -> None:
    table, risk, budget = table_of(rng), RankingRisk(Logistic(), 0.1, adjacency=WITHIN), Budget(1.0, 1e-6)
    algorithm = ObjectivePerturbation("gaussian")
    plan = algorithm.plan(risk, table.size(WITHIN), table.d, budget)
    text = GOLDEN.format(tilt=plan.tilt, finish=plan.finish, noise=0.99 - plan.shift, shift=plan.shift)
    assert str(algorithm.run(risk, table, budget, SecureBits()).guarantee) == text


@pytest.mark.parametrize("noise", ["laplace", "norm-laplace"])
def test_laplace_laws_promise_more_than_was_asked(noise, rng) -> None:
    release = ObjectivePerturbation(noise).run(
        RankingRisk(Logistic(), 0.1), table_of(rng), Budget(1.0, 1e-6), SecureBits()
    )
    guarantee = release.guarantee
    assert guarantee.delta == 0.0
    assert "is pure differentially private" in str(guarantee)
    assert any("norm-Laplace" in assumption for assumption in guarantee.assumptions) == (noise == "norm-laplace")
    assert [one.noise for one in guarantee.events][1] == "Laplace noise"


# --- what is refused


REFUSED = [
    (
        RankingRisk(Hinge(), 0.1),
        "auto",
        Budget(1.0),
        "defended",
        "loss='hinge' does not suit .*use loss='smoothed-hinge'",
    ),
    (
        RankingRisk(Logistic()),
        "auto",
        Budget(1.0),
        "defended",
        "regularization must be above 0 for objective-perturbation",
    ),
    (RankingRisk(Logistic(), 0.1), "gaussian", Budget(1.0), "defended", "noise='gaussian' cannot give delta = 0"),
    (RankingRisk(Logistic(), 0.1), "auto", Budget(1.0), "paper", "constants='paper' needs the paper's own setting"),
    (
        RankingRisk(Logistic(), 0.1, L2Ball(1.0), WITHIN),
        "auto",
        Budget(1.0),
        "paper",
        "needs the paper's own setting: adjacency='replace-within-class' and radius=None",
    ),
    (
        RankingRisk(Logistic(), 0.1, adjacency=WITHIN),
        "laplace",
        Budget(1.0),
        "paper",
        "the paper's own noise, 'norm-laplace' for this delta; got noise='laplace'",
    ),
    (
        RankingRisk(Logistic(), 0.1, adjacency=WITHIN),
        "norm-laplace",
        Budget(1.0, 1e-6),
        "paper",
        "the paper's own noise, 'gaussian' for this delta",
    ),
    (
        RankingRisk(SmoothedHinge(), 0.1, adjacency=WITHIN),
        "auto",
        Budget(1.0),
        "paper",
        "needs the paper's own loss, 'logistic'; got 'smoothed-hinge'",
    ),
    (
        RankingRisk(Squared(), 0.1, adjacency=WITHIN),
        "auto",
        Budget(1.0),
        "paper",
        "paper's own loss, 'logistic'; got 'squared'",
    ),
]


@pytest.mark.parametrize(("risk", "noise", "budget", "constants", "message"), REFUSED)
def test_what_the_proof_does_not_cover_is_refused_before_the_data(risk, noise, budget, constants, message) -> None:
    with pytest.raises(UnsuitableError, match=message) as caught:
        ObjectivePerturbation(noise).run(risk, None, budget, SecureBits(), constants)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_names_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match="constants must be one of 'defended', 'paper'"):
        ObjectivePerturbation().run(RankingRisk(Logistic(), 0.1), None, Budget(1.0), SecureBits(), "sharp")
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        ObjectivePerturbation("pink")


@pytest.mark.parametrize(("temperature", "epsilon"), [(2.4 / 730, 1.0), (0.001, 1000.0)])
def test_curvature_below_all_rounding_needs_no_ridge(temperature, epsilon) -> None:
    risk = RankingRisk(Logistic(3.0, temperature), 1e-3, L2Ball(0.3))
    plan = ObjectivePerturbation().plan(risk, TableSize(100), 3, Budget(epsilon))
    assert plan.risk.regularization == 1e-3
