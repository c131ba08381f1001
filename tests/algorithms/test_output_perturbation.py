"""Output perturbation: what it promises, what it refuses, what the paper's constants are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Adjacency, Budget, Hinge, Logistic, OutputPerturbation, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import gaussian_delta
from diptych.algorithms import UnsuitableError
from diptych.algorithms.output_perturbation import EXACT, paper_sensitivity
from diptych.noise import SecureBits, SeededBits
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.sets import L2Ball
from diptych.spec import OF_PAIRS, TableSize

LOSSES = [Logistic(), Logistic(1.0, 0.5), Squared(), SquaredHinge(), SmoothedHinge()]
losses = pytest.mark.parametrize("loss", LOSSES, ids=str)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
BUDGETS = [Budget(1.0), Budget(1.0, 1e-6), Budget(0.1, 1e-9)]


def table_of(rng, n=200, d=4, share=0.3) -> PairTable:
    positive = rng.random(n) < share
    X = rng.normal(size=(n, d)) + positive[:, None]
    return PairTable(X / np.linalg.norm(X, axis=1).max(), positive)


@losses
@adjacencies
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("radius", [None, 0.5])
def test_release_is_minimiser_plus_planned_noise(loss, adjacency, budget, radius, rng) -> None:
    table = table_of(rng)
    risk = RankingRisk(loss, 0.1, adjacency=adjacency, **({"constraint": L2Ball(radius)} if radius else {}))
    algorithm = OutputPerturbation()
    release = algorithm.run(risk, table, budget, SeededBits(1))
    plan = algorithm.plan(risk, table.size(adjacency), table.d, budget)
    found = minimise(risk, table, release.trace["tolerance"])
    np.testing.assert_array_equal(release.coef, plan.add(found.w, SeededBits(1)))
    guarantee = release.guarantee
    delta = budget.delta if plan.noise == "gaussian" else 0.0  # Laplace laws keep more than was asked
    assert (guarantee.epsilon, guarantee.delta, guarantee.adjacency) == (budget.epsilon, delta, adjacency)
    assert (guarantee.sensitivity, guarantee.noise_scale) == (plan.sensitivity, plan.scale)
    assert guarantee.defended
    assert guarantee.seeded
    assert not algorithm.run(risk, table, budget, SecureBits()).guarantee.seeded


@losses
@adjacencies
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_noise_pays_for_the_minimiser_and_both_solver_errors(loss, adjacency, budget) -> None:
    """Theorem 1: (s + 2 (tau + e))/lambda, from the certificate."""
    size = TableSize(50, 20 if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    risk, algorithm = RankingRisk(loss, 0.1, adjacency=adjacency), OutputPerturbation()
    certificate = risk.certificate(size)
    tolerance = algorithm.tolerance(certificate, budget)
    assert tolerance >= 4 * certificate.gradient_error
    needed = (certificate.gradient_sensitivity + 2 * tolerance + 2 * certificate.gradient_error) / 0.1
    plan = algorithm.plan(risk, size, 30, budget)
    assert plan.sensitivity >= needed * (1 - 1e-12)
    assert plan.noise == ("norm-laplace" if budget.pure else "gaussian")
    if budget.pure:
        assert plan.sensitivity / plan.scale <= budget.epsilon * (1 + 1e-12)
    else:
        assert gaussian_delta(plan.sensitivity / plan.scale, budget.epsilon) <= budget.delta


def test_without_privacy_the_exact_optimum_is_released(rng) -> None:
    table, risk = table_of(rng), RankingRisk(Logistic(), 0.01)
    release = OutputPerturbation().run(risk, table, Budget(math.inf), SecureBits())
    np.testing.assert_allclose(release.coef, minimise(risk, table, 1e-11).w, atol=2 * EXACT / 0.01)
    assert release.trace["residual"] <= EXACT
    assert not release.guarantee.private
    assert "no privacy guarantee" in str(release.guarantee)


def test_the_trace_of_a_private_release_is_public(rng) -> None:
    """No gradient norm, loss or iteration count of the inner solver leaves unless nothing is promised."""
    risk = RankingRisk(Logistic(), 0.1)
    traces = [OutputPerturbation().run(risk, table_of(rng), Budget(1.0), SecureBits()).trace for _ in range(2)]
    assert traces[0] == traces[1]
    assert set(traces[0]) == {"regularization", "tolerance"}


def test_settings_that_the_proof_does_not_cover_are_refused_before_the_data(rng) -> None:
    algorithm = OutputPerturbation()
    with pytest.raises(UnsuitableError, match="loss='hinge' does not suit output-perturbation.*smoothed-hinge"):
        algorithm.run(RankingRisk(Hinge(), 0.1), None, Budget(1.0), SecureBits())
    with pytest.raises(UnsuitableError, match="regularization must be above 0"):
        algorithm.run(RankingRisk(Logistic()), None, Budget(1.0), SecureBits())
    with pytest.raises(ValueError, match="constants must be one of 'defended', 'paper'"):
        algorithm.run(RankingRisk(Logistic(), 0.1), None, Budget(1.0), SecureBits(), "sharp")


def test_public_labels_need_both_classes(rng) -> None:
    table = PairTable(rng.normal(size=(4, 2)) / 10, np.ones(4, dtype=bool))
    risk = RankingRisk(Logistic(), 0.1, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    with pytest.raises(ValueError, match="both classes must occur"):
        OutputPerturbation().run(risk, table, Budget(1.0), SecureBits())
    hidden = OutputPerturbation().run(RankingRisk(Logistic(), 0.1), table, Budget(1.0), SecureBits())
    assert hidden.coef.shape == (2,)


def test_the_papers_lemma_1() -> None:
    """By hand: squared loss, l(0) = 1, B(R) = 2 (1 + R), D = 2, n+ = 10, n- = 40, lambda = 0.5."""
    risk = RankingRisk(Squared(), 0.5, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    by_hand = 2 * 2 * 2 * (1 + math.sqrt(2 / 0.5) * 2) / 0.5 * (1 / 10 + 1 / 40)
    assert paper_sensitivity(risk, TableSize(50, 10)) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    "risk",
    [
        RankingRisk(Logistic(), 0.1),
        RankingRisk(Logistic(), 0.1, L2Ball(1.0), Adjacency.REPLACE_WITHIN_CLASS),
    ],
    ids=["private labels", "in a ball"],
)
def test_the_papers_constants_need_its_setting(risk, rng) -> None:
    with pytest.raises(UnsuitableError, match="constants='paper' needs the paper's own setting"):
        OutputPerturbation().run(risk, table_of(rng), Budget(1.0), SecureBits(), "paper")


@losses
@pytest.mark.parametrize("budget", [Budget(0.5), Budget(0.5, 1e-6), Budget(1.0, 1e-4)], ids=str)
def test_the_papers_constants_are_at_least_twice_the_defended(loss, budget, rng) -> None:
    table = table_of(rng)
    risk = RankingRisk(loss, 0.1, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    algorithm = OutputPerturbation(noise="norm-laplace" if budget.pure else "gaussian")
    paper = algorithm.run(risk, table, budget, SeededBits(0), "paper").guarantee
    ours = algorithm.run(risk, table, budget, SeededBits(0)).guarantee
    assert paper.sensitivity >= 2 * ours.sensitivity
    assert paper.noise_scale >= 2 * ours.noise_scale
    assert paper.defended
    assert paper.constants == "paper"
    assert "as published" in paper.accountant


def test_the_classic_gaussian_is_not_defended_where_it_fails(rng) -> None:
    """At epsilon = 5000 the published sigma overspends by more than the paper's loose sensitivity makes up for."""
    table = table_of(rng)
    risk = RankingRisk(SmoothedHinge(), 10.0, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    paper = OutputPerturbation().run(risk, table, Budget(5000.0, 1e-5), SeededBits(0), "paper").guarantee
    assert not paper.defended
    assert not paper.private
    assert "do not rely" in str(paper)


def test_noise_laws_can_be_chosen(rng) -> None:
    table, risk = table_of(rng), RankingRisk(Logistic(), 0.1)
    for noise, budget in (("laplace", Budget(1.0)), ("norm-laplace", Budget(1.0)), ("gaussian", Budget(1.0, 1e-6))):
        guarantee = OutputPerturbation(noise).run(risk, table, budget, SecureBits()).guarantee
        assert noise.split("-")[-1].lower() in guarantee.events[0].noise.lower()
    with pytest.raises(UnsuitableError, match="cannot give delta = 0"):
        OutputPerturbation("gaussian").run(risk, None, Budget(1.0), SecureBits())
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        OutputPerturbation("pink")


def test_the_papers_noise_names_its_assumptions_and_is_not_replaced_silently(rng) -> None:
    table, risk = table_of(rng), RankingRisk(Logistic(), 0.1, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    paper = OutputPerturbation().run(risk, table, Budget(1.0), SecureBits(), "paper").guarantee
    assert any("norm-Laplace" in assumption for assumption in paper.assumptions)
    with pytest.raises(UnsuitableError, match="the paper's own noise, 'norm-laplace'"):
        OutputPerturbation("laplace").run(risk, table, Budget(1.0), SecureBits(), "paper")


def test_tiny_budgets_still_find_a_lattice(rng) -> None:
    table, risk = table_of(rng), RankingRisk(Logistic(), 0.1)
    for noise, budget in (("gaussian", Budget(1e-5, 1e-8)), ("laplace", Budget(1e-6)), ("norm-laplace", Budget(1e-9))):
        release = OutputPerturbation(noise).run(risk, table, budget, SecureBits())
        assert np.all(np.isfinite(release.coef))
    with pytest.raises(ValueError, match="epsilon"):
        OutputPerturbation("gaussian").plan(risk, TableSize(100), 3000, Budget(1e-12, 1e-14))
