"""Objective perturbation with the published constants: Algorithm 2 by hand, and that nobody is to rely on it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from diptych import Adjacency, Budget, Logistic
from diptych.algorithms.objective_perturbation import ObjectivePerturbation
from diptych.algorithms.paper_objective import paper_perturbation
from diptych.noise import SecureBits, SeededBits, norm_laplace
from diptych.risks import RankingRisk
from diptych.spec import TableSize
from tests.explicit import optimum, table_of

WITHIN = Adjacency.REPLACE_WITHIN_CLASS
HAND = TableSize(50, 10)  # n+ n- = 400; beta D^2/(n+ n-) = 0.25 * 4/400; n log(1 + that/0.1) = 1.2346
SPENT = 50.0 * math.log(1.025)


@pytest.mark.parametrize(
    ("budget", "ridge", "scale"),
    [
        (Budget(2.0), 0.1, 2 * 50 * 1 * 2 / (400 * (2.0 - SPENT))),
        (Budget(1.0), 0.0025 / (math.exp(1.0 / 100.0) - 1.0), 4 * 50 * 1 * 2 / (400 * 1.0)),
        (
            Budget(2.0, 1e-5),
            0.1,
            (2 * math.sqrt(2 * math.log(1e5)) + math.sqrt(2 * (2.0 - SPENT))) * 50 * 2 / (400 * (2.0 - SPENT)),
        ),
        (
            Budget(1.0, 1e-5),
            0.0025 / (math.exp(1.0 / 100.0) - 1.0),
            (2 * math.sqrt(2 * math.log(1e5)) + math.sqrt(2 * 0.5)) * 50 * 2 / (400 * 0.5),
        ),
    ],
    ids=str,
)
def test_algorithm_2_by_hand(budget, ridge, scale, rng) -> None:
    """Lines 5, 7, 12 and 14 with the misprints corrected: n = 50, n+ = 10, L = 1, beta = 1/4, D = 2, lambda = 0.1."""
    risk = RankingRisk(Logistic(), 0.1, adjacency=WITHIN)
    paper = paper_perturbation(risk, HAND, budget)
    assert paper.ridge == pytest.approx(ridge, rel=1e-12)
    assert paper.scale == pytest.approx(scale, rel=1e-12)
    assert paper.sensitivity == pytest.approx(2 * 50 * 2 / 400)
    release = ObjectivePerturbation().run(risk, table_of(rng, n=50, share=0.2), budget, SeededBits(0), "paper")
    assert release.guarantee.noise_scale == paper.scale
    assert release.trace["ridge"] == paper.ridge


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_a_paper_release_is_algorithm_2s_minimiser(epsilon, rng) -> None:
    table, budget = table_of(rng, n=50, share=0.2), Budget(epsilon)
    risk = RankingRisk(Logistic(), 0.1, adjacency=WITHIN)
    release = ObjectivePerturbation().run(risk, table, budget, SeededBits(3), "paper")
    paper = paper_perturbation(risk, HAND, budget)
    b = norm_laplace(table.d, paper.scale, SeededBits(3))
    want = optimum(replace(risk, regularization=paper.ridge), table, b)
    np.testing.assert_allclose(release.coef, want, atol=2e-5 * paper.sensitivity / paper.ridge)


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6), Budget(50.0)], ids=str)
def test_paper_releases_are_never_defended(budget, rng) -> None:
    risk = RankingRisk(Logistic(), 0.1, adjacency=WITHIN)
    guarantee = ObjectivePerturbation().run(risk, table_of(rng), budget, SecureBits(), "paper").guarantee
    assert not guarantee.defended
    assert not guarantee.private
    assert guarantee.constants == "paper"
    assert guarantee.delta == budget.delta
    assert "do not rely" in str(guarantee)
    assert any("exact minimiser" in assumption for assumption in guarantee.assumptions)
    assert any("independent of the noise" in assumption for assumption in guarantee.assumptions) == (not budget.pure)


@pytest.mark.parametrize("budget", [Budget(0.5), Budget(0.5, 1e-6), Budget(2.0, 1e-4)], ids=str)
def test_the_papers_noise_is_at_least_twice_ours(budget, rng) -> None:
    """Scale over regulariser: how far w is thrown."""
    risk, algorithm = (
        RankingRisk(Logistic(), 0.1, adjacency=WITHIN),
        ObjectivePerturbation("norm-laplace" if budget.pure else "gaussian"),
    )
    size = TableSize(120, 36)
    paper, ours = paper_perturbation(risk, size, budget), algorithm.plan(risk, size, 4, budget)
    assert paper.scale / paper.ridge >= 2.0 * ours.tilt.scale / ours.risk.regularization
