"""gd-output: noise on the result of a descent. Replayed, compared with minimisers, and with the published formulas."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from diptych import Budget, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import gaussian_delta
from diptych.algorithms import GDOutput, UnsuitableError
from diptych.algorithms.descent import OPEN, confine, movement
from diptych.algorithms.output_descent import SETTLED, result
from diptych.noise import SecureBits, SeededBits
from diptych.risks import MetricRisk, RankingRisk, minimise
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import OF_PAIRS, TableSize
from tests.descents import APPROXIMATE, WITHIN, name_of, table_for

OPENLY = Budget(math.inf)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
RISKS = [
    kind(Logistic(1.0, 0.5), lam, held, adjacency)
    for lam, adjacency in product((0.0, 0.2), OF_PAIRS)
    for kind, held in (
        (RankingRisk, Free()),
        (RankingRisk, L2Ball(0.3)),
        (MetricRisk, PSDFrobeniusBall(1.0)),
        (MetricRisk, PSDTraceBall(2.0)),
    )
]
risks = pytest.mark.parametrize("risk", RISKS, ids=name_of)


# --- what is released


@risks
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(1.0)], ids=str)
def test_the_release_is_the_projected_result_plus_planned_noise(risk, budget) -> None:
    table, algorithm = table_for(risk, 30), GDOutput()
    release = algorithm.run(risk, table, budget, SeededBits(1))
    plan, source = algorithm.plan(risk, table.size(risk.adjacency), 2, budget), SeededBits(1)
    w = plan.risk.start(2)
    path = []
    for _ in range(plan.schedule.steps):
        w = plan.risk.constraint.project(w - plan.schedule.step_size * plan.risk.gradient(w, table))
        path.append(w)
    quiet = path[-1] if risk.regularization > 0 else np.mean(path, axis=0)
    np.testing.assert_allclose(result(plan, table, SeededBits(1)), quiet, atol=1e-12)
    noisy = risk.constraint.project(plan.noise.add(result(plan, table, source), source))
    np.testing.assert_array_equal(release.coef, noisy)
    assert (release.guarantee.sensitivity, release.guarantee.noise_scale) == (plan.noise.sensitivity, plan.noise.scale)
    assert dict(release.trace) == plan.trace


@risks
@pytest.mark.parametrize("noise", ["gaussian", "laplace", "norm-laplace"])
def test_noise_pays_for_the_movement(risk, noise) -> None:
    """Theorem 1, with the certificate of the bounded set; the noise is enough for the budget."""
    size, algorithm = table_for(risk, 30).size(risk.adjacency), GDOutput(7, 0.01, noise)
    plan = algorithm.plan(risk, size, 5, APPROXIMATE)
    certificate = confine(risk.confined(size, math.inf), size, plan.schedule).certificate(size, 5, tilt=math.inf)
    moved = movement(plan.schedule, certificate, 5, averaged=risk.regularization == 0)
    needed = moved * (math.sqrt(risk.dimension(5)) if noise == "laplace" else 1.0)
    assert needed <= plan.noise.sensitivity <= needed * (1 + 1e-4)
    if noise == "gaussian":
        assert gaussian_delta(plan.noise.sensitivity / plan.noise.scale, 1.0) <= APPROXIMATE.delta
    else:
        assert plan.noise.sensitivity / plan.noise.scale <= 1.0 + 1e-12


# --- without privacy


@pytest.mark.parametrize(
    "loss", [Logistic(), Logistic(1.0, 0.25), SmoothedHinge(1.0, 0.5), SquaredHinge(), Squared()], ids=str
)
@adjacencies
@pytest.mark.parametrize("constraint", [Free(), L2Ball(0.2)], ids=str)
@pytest.mark.parametrize("regularization", [0.02, 0.5])
def test_without_privacy_it_is_near_the_minimiser(loss, adjacency, constraint, regularization) -> None:
    """Default schedules leave a thousandth of the distance, which is at most the radius of the bounded set."""
    risk = RankingRisk(loss, regularization, constraint, adjacency)
    table = table_for(risk, 40, 3)
    release = GDOutput().run(risk, table, OPENLY, SecureBits())
    best = minimise(risk, table, 1e-9).w
    assert release.trace["steps"] >= OPEN
    assert np.linalg.norm(release.coef - best) <= SETTLED * risk.minimiser_radius(table.size(adjacency)) + 1e-7


@pytest.mark.parametrize("constraint", [PSDFrobeniusBall(0.3), PSDTraceBall(2.0)], ids=str)
def test_without_privacy_a_metric_is_optimal_on_its_set(constraint) -> None:
    """Fixed points of a projected step, and no point of the set around is better."""
    risk, rng = MetricRisk(Logistic(1.0, 0.5), 0.2, constraint), np.random.default_rng(0)
    table = table_for(risk, 40, 3)
    w = GDOutput(3000).run(risk, table, OPENLY, SecureBits()).coef
    np.testing.assert_allclose(constraint.project(w - 0.1 * risk.gradient(w, table)), w, atol=1e-6)
    around = (constraint.project(w + 10.0 ** rng.uniform(-4, 0) * rng.normal(size=6)) for _ in range(200))
    assert min(risk.value(one, table) for one in around) >= risk.value(w, table) - 1e-9


def test_averages_of_convex_descents_approach_the_optimum() -> None:
    """||w_0 - w*||^2/(2 eta T) above it at most, for eta <= 1/M."""
    risk = RankingRisk(Logistic(1.0, 0.5), 0.0, L2Ball(1.0))
    table = table_for(risk, 40, 3)
    best = risk.value(minimise(RankingRisk(Logistic(1.0, 0.5), 1e-7, L2Ball(1.0)), table, 1e-8).w, table)
    certificate = risk.certificate(TableSize(40))
    for steps in (10, 100, 1000):
        w = GDOutput(steps, 1.0 / certificate.smoothness).run(risk, table, OPENLY, SecureBits()).coef
        assert best - 1e-6 <= risk.value(w, table) <= best + certificate.smoothness / (2.0 * steps)


# --- parts


@adjacencies
@pytest.mark.parametrize("regularization", [0.0, 0.2])
def test_large_metric_tables_are_planned_for_their_parts(adjacency, regularization, monkeypatch) -> None:
    """Twenty records in two parts of ten: half of the kicks, each with the sensitivity of ten records."""
    risk = MetricRisk(Logistic(), regularization, adjacency=adjacency)
    algorithm, size = GDOutput(8, 0.01), TableSize(20)
    whole = algorithm.plan(risk, size, 2, APPROXIMATE).noise.sensitivity
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 10)
    parts = algorithm.plan(risk, size, 2, APPROXIMATE)
    assert parts.schedule.parts == 2
    share = parts.noise.sensitivity / whole  # about 1: twice the kick, half as often; for a mean, the earlier half
    assert 1.0 <= share <= 1.25
    release = algorithm.run(risk, table_for(risk, 20), APPROXIMATE, SeededBits(0))
    assert release.trace["parts"] == 2


# --- steps


@risks
def test_steps_that_are_too_long_for_the_proof_are_refused(risk) -> None:
    """2/(M + lambda), M = beta D^2 mass + lambda (D^4 for a metric)."""
    table = table_for(risk, 30)
    size = table.size(risk.adjacency)
    square = 16.0 if isinstance(risk, MetricRisk) else 4.0
    longest = 2.0 / (square * risk.mass(size) / (4 * 0.5) + 2.0 * risk.regularization)
    assert GDOutput(3).plan(risk, size, 2, APPROXIMATE).schedule.step_size == pytest.approx(longest)
    GDOutput(3, longest * (1 - 1e-9)).plan(risk, size, 2, APPROXIMATE)
    with pytest.raises(ValueError, match="too long for the proof, which needs at most"):
        GDOutput(3, longest * (1 + 1e-9)).plan(risk, size, 2, APPROXIMATE)


# --- published constants


def hand(kind, lam: float, d: int = 4):
    """A problem whose G and 4 G/n are easily written down: hinge-like slopes of 1 on the set."""
    held = PSDFrobeniusBall(1.0) if kind is MetricRisk else L2Ball(1.0)
    risk, n = kind(SmoothedHinge(1.0, 0.5), lam, held), 100
    steepest = 4.0 if kind is MetricRisk else 2.0  # D^2, D
    share = 2.0 / n if kind is MetricRisk else (n - 1) / n**2
    return risk, TableSize(n), steepest, 2.0 * steepest * share, risk.dimension(d)


@pytest.mark.parametrize("kind", [MetricRisk, RankingRisk])
@pytest.mark.parametrize("lam", [0.0, 0.2])
def test_the_papers_noise_by_hand(kind, lam) -> None:
    """Algorithm 1: 8 G/(alpha n) times sqrt(2 ln(1.25/delta))/epsilon or sqrt(d)/epsilon; Algorithm 4: 4 G T eta/n."""
    risk, size, _, moved, dimension = hand(kind, lam)  # moved is 4 G/n
    sensitivity = 2.0 * moved / lam if lam else 25 * 0.01 * moved
    for budget in (Budget(0.7, 1e-4), Budget(0.7)):
        plan = GDOutput(25, 0.01).plan(risk, size, 4, budget, "paper")
        if budget.pure:
            scale, law = sensitivity * math.sqrt(dimension) / 0.7, "laplace"
        else:
            scale, law = sensitivity * math.sqrt(2.0 * math.log(1.25 / 1e-4)) / 0.7, "gaussian"
        assert plan.noise.noise == law
        assert plan.noise.scale == pytest.approx(scale, rel=1e-6)
        assert plan.noise.scale >= scale
        assert plan.noise.accountant == f"as published (Xue et al. 2021, Algorithm {1 if lam else 4})"
        assert plan.defended


@pytest.mark.parametrize("kind", [MetricRisk, RankingRisk])
def test_the_papers_schedule_by_hand(kind) -> None:
    """T = (L/alpha) log n for Algorithm 1, L with the regulariser; 1/(eta T) = 1/sqrt(n) for Algorithm 4."""
    risk, size, _, _, _ = hand(kind, 0.2)
    largest = 2.0 * (16.0 if kind is MetricRisk else 4.0 * 0.25) + 0.2
    plan = GDOutput().plan(risk, size, 4, APPROXIMATE, "paper")
    assert plan.schedule.steps == math.ceil(largest / 0.2 * math.log(100))
    assert plan.schedule.step_size == pytest.approx(2.0 / (largest + 0.2))
    convex = GDOutput(step_size=0.02).plan(hand(kind, 0.0)[0], size, 4, APPROXIMATE, "paper")
    assert convex.schedule.steps == math.ceil(math.sqrt(100) / 0.02)


def test_the_papers_noise_is_defended_exactly_where_it_is_enough() -> None:
    """One step of Algorithm 4 on private labels needs all of 4 G eta/n: the classic Gaussian fails from 8.4 on."""
    risk, algorithm = MetricRisk(SmoothedHinge(1.0, 0.1)), GDOutput(1, 0.001, "gaussian")
    for epsilon, defended in ((0.5, True), (4.0, True), (8.3, True), (8.5, False), (20.0, False)):
        budget = Budget(epsilon, 1e-5)
        plan, ours = (algorithm.plan(risk, TableSize(50), 2, budget, constants) for constants in ("paper", "defended"))
        assert plan.noise.sensitivity == pytest.approx(ours.noise.sensitivity, rel=1e-5)
        assert plan.defended == defended
        assert defended == (gaussian_delta(ours.noise.sensitivity / plan.noise.scale, epsilon) <= 1e-5)
        assert algorithm.plan(risk, TableSize(50), 2, Budget(epsilon, 1e-5)).defended


def test_the_papers_algorithm_1_asks_for_twice_what_is_needed() -> None:
    risk = MetricRisk(SmoothedHinge(1.0, 0.1), 1.0)
    paper, ours = (
        GDOutput(20_000, noise="gaussian").plan(risk, TableSize(50), 2, Budget(1.0, 1e-5), constants)
        for constants in ("paper", "defended")
    )
    assert paper.noise.sensitivity == pytest.approx(2.0 * ours.noise.sensitivity, rel=1e-5)
    assert paper.defended


def test_what_the_papers_constants_do_not_cover_is_refused() -> None:
    for risk in (MetricRisk(Logistic(), 0.1, adjacency=WITHIN), RankingRisk(Logistic(), 0.1, adjacency=WITHIN)):
        with pytest.raises(UnsuitableError, match="constants='paper' needs the paper's own setting.*'replace'"):
            GDOutput().run(risk, None, APPROXIMATE, SecureBits(), "paper")
    with pytest.raises(UnsuitableError, match="the paper's own noise, 'gaussian'"):
        GDOutput(noise="laplace").run(MetricRisk(Logistic(), 0.1), None, APPROXIMATE, SecureBits(), "paper")
    with pytest.raises(UnsuitableError, match="the paper's own noise, 'laplace'"):
        GDOutput(noise="norm-laplace").run(MetricRisk(Logistic(), 0.1), None, Budget(1.0), SecureBits(), "paper")


def test_an_undefended_release_says_so() -> None:
    risk = MetricRisk(SmoothedHinge(1.0, 0.1))
    release = GDOutput(1, 0.001).run(risk, table_for(risk, 50), Budget(9.0, 1e-5), SecureBits(), "paper")
    assert not release.guarantee.private
    assert "do not rely" in str(release.guarantee)


# --- refusals


def test_what_the_proof_does_not_cover_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="noise='gaussian' cannot give delta = 0"):
        GDOutput(noise="gaussian").check(RankingRisk(Logistic()), Budget(1.0))
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        GDOutput(noise="pink")
    with pytest.raises(ValueError, match="epsilon is so large"):
        GDOutput().plan(RankingRisk(Logistic(), 0.1), TableSize(10), 2, Budget(1e12))
    risk = RankingRisk(Logistic(), adjacency=WITHIN)
    with pytest.raises(ValueError, match="both classes must occur"):
        GDOutput().run(risk, table_for(risk, 6, codes=np.ones(6, dtype=int)), APPROXIMATE, SecureBits())
