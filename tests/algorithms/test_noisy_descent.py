"""noisy-gd: noise on every gradient. Replayed, composed, and compared with the published formulas."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from diptych import Budget, Hinge, Logistic, SmoothedHinge
from diptych.accounting import gaussian_delta, gaussian_mu
from diptych.algorithms import NoisyGD, UnsuitableError
from diptych.algorithms.descent import LEAST, MOST, OPEN, confine, part_size, per_step, turns
from diptych.noise import SecureBits, SeededBits
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk, minimise
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall, unpack
from diptych.spec import OF_PAIRS, TableSize
from tests.descents import APPROXIMATE, WITHIN, name_of, table_for

OPENLY = Budget(math.inf)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
RISKS = [
    kind(loss, lam, held, adjacency)
    for lam, adjacency in product((0.0, 0.2), OF_PAIRS)
    for kind, loss, held in (
        (RankingRisk, Logistic(1.0, 0.5), Free()),
        (RankingRisk, Hinge(), L2Ball(0.3)),
        (MetricRisk, Hinge(), PSDFrobeniusBall(1.0)),
        (MetricRisk, Logistic(1.0, 0.5), PSDTraceBall(2.0)),
    )
]
risks = pytest.mark.parametrize("risk", RISKS, ids=name_of)


# --- what is released


@risks
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_release_is_the_mean_of_the_last_half_of_noisy_steps(risk, steps, monkeypatch) -> None:
    """The same bits again: the parts first, then the noise of each step."""
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 10)
    table, algorithm, source = table_for(risk, 25), NoisyGD(steps, 0.1), SeededBits(1)
    release = algorithm.run(risk, table, APPROXIMATE, SeededBits(1))
    plan = algorithm.plan(risk, table.size(risk.adjacency), 2, APPROXIMATE)
    tables, w, path = turns(plan.risk, table, source), plan.risk.start(2), []
    assert len(tables) == (3 if isinstance(risk, MetricRisk) else 1)
    noise = plan.noise
    for step in range(steps):
        gradient = plan.risk.gradient(w, tables[step % len(tables)])
        whole = type(noise)(**{**vars(noise), "dimension": w.size})
        w = plan.risk.constraint.project(w - 0.1 * whole.add(gradient, source))
        path.append(w)
    np.testing.assert_allclose(release.coef, np.mean(path[steps // 2 :], axis=0), rtol=1e-12)
    assert (release.guarantee.sensitivity, release.guarantee.noise_scale) == (noise.sensitivity, noise.scale)
    assert f"all {steps} steps together" in release.guarantee.events[0].quantity


@risks
@pytest.mark.parametrize("steps", [1, 4, 9])
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(0.1, 1e-8), Budget(8.0, 1e-5)], ids=str)
def test_steps_compose_exactly(risk, steps, budget, monkeypatch) -> None:
    """Theorem 2: sqrt(uses) (s + 2 e), hidden as one vector by the noise of all steps; no budget is left over."""
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 10)
    size = table_for(risk, 25).size(risk.adjacency)
    plan = NoisyGD(steps, 0.1).plan(risk, size, 2, budget)
    within = confine(risk.confined(size, math.inf), size, plan.schedule)
    certificate = within.certificate(part_size(risk, size), 2, tilt=math.inf)
    uses = math.ceil(steps / 3) if isinstance(risk, MetricRisk) else steps
    needed = math.sqrt(uses) * per_step(certificate)
    assert needed <= plan.noise.sensitivity <= needed * (1 + 1e-4)
    spent = gaussian_delta(needed / plan.noise.scale, budget.epsilon)
    assert 0.99 * budget.delta <= spent <= budget.delta
    assert plan.noise.dimension == steps * risk.dimension(2)


@risks
def test_default_schedules(risk) -> None:
    for n in (10, 1000, 10**6):
        size = TableSize(n, n // 3 if isinstance(risk, RankingRisk) and risk.adjacency is WITHIN else None)
        private = NoisyGD().plan(risk, size, 2, APPROXIMATE).schedule
        assert LEAST <= private.steps <= MOST
        assert NoisyGD().plan(risk, size, 2, OPENLY).schedule.steps == OPEN
        assert private.step_size == pytest.approx(risk.stride(size))


# --- without privacy


@pytest.mark.parametrize("loss", [Logistic(), Logistic(1.0, 0.25), SmoothedHinge(1.0, 0.5)], ids=str)
@adjacencies
def test_without_privacy_enough_steps_lead_to_the_minimiser(loss, adjacency) -> None:
    risk = RankingRisk(loss, 0.2, adjacency=adjacency)
    table = table_for(risk, 40, 3)
    release = NoisyGD(2000, 0.2).run(risk, table, OPENLY, SecureBits())
    np.testing.assert_allclose(release.coef, minimise(risk, table, 1e-9).w, atol=1e-6)


def test_without_privacy_a_hinge_comes_near_its_optimum() -> None:
    """Subgradients with a constant step: within eta L^2/2 or so of the value."""
    risk = RankingRisk(Hinge(), 0.2)
    table = table_for(risk, 40, 3)
    best = risk.value(minimise(RankingRisk(SmoothedHinge(1.0, 1e-3), 0.2), table, 1e-8).w, table)
    value = risk.value(NoisyGD(4000, 0.02).run(risk, table, OPENLY, SecureBits()).coef, table)
    assert best - 1e-3 <= value <= best + 2e-3


# --- ties at the kink


@adjacencies
@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
@pytest.mark.parametrize("seed", range(5))
def test_ties_at_the_kink_cannot_tip_many_pairs_at_once(kind, adjacency, seed) -> None:
    """Rows on a grid put many margins on the kink, where rounding decides; one record still moves s + 2 e at most.

    For a metric a changed label also changes the order in which the kernel meets all other records.
    """
    rng, n, step = np.random.default_rng(seed), 60, 0.99 / (3.0 * math.sqrt(2.0))
    X, codes = rng.integers(-3, 4, size=(n, 2)) * step, rng.integers(2, size=n)
    other, labels = X.copy(), codes.copy()
    other[-1] = -X[0]
    if adjacency is not WITHIN:
        labels[-1] = 1 - codes[-1]
    if kind is RankingRisk:
        tables = PairTable(X, codes == 1), PairTable(other, labels == 1)
        risk = RankingRisk(Hinge(), 0.0, L2Ball(10.0), adjacency)
        points = [np.array([1.0, 0.0]) / (3.0 * step), np.array([1.0, -1.0]) / (2.0 * step)]
    else:
        tables = MetricTable(X, codes), MetricTable(other, labels)
        risk = MetricRisk(Hinge(), 0.0, PSDFrobeniusBall(40.0), adjacency)
        points = [np.array([2.0, 2.0, 0.0]) / (step**2 * squared) for squared in (5.0, 25.0)]
    allowed = per_step(risk.certificate(tables[0].size(adjacency), 2, tilt=math.inf))
    for w in points:
        apart = X[:, None] - X
        margins = apart @ w if kind is RankingRisk else np.einsum("ijk,kl,ijl->ij", apart, unpack(w), apart) - 1.0
        ties = np.abs(margins - 1.0)[codes[:, None] != codes] < 1e-12
        assert ties.sum() >= 20
        assert np.linalg.norm(risk.gradient(w, tables[0]) - risk.gradient(w, tables[1])) <= allowed


# --- published constants


def by_hand(kind, n: int = 100):
    """Slopes of 1 on the set: G is D^2 = 4 for a metric, D = 2 for ranking; and their 4 G/n."""
    held = PSDFrobeniusBall(1.0) if kind is MetricRisk else L2Ball(1.0)
    risk = kind(SmoothedHinge(1.0, 0.1), 0.0, held)
    steepest = 4.0 if kind is MetricRisk else 2.0
    return risk, TableSize(n), steepest, 4.0 * steepest / n if kind is MetricRisk else 2.0 * steepest * (n - 1) / n**2


@pytest.mark.parametrize("kind", [MetricRisk, RankingRisk])
@pytest.mark.parametrize("steps", [1, 16])
def test_the_papers_noise_by_hand(kind, steps) -> None:
    """sigma = 4 G sqrt(1.25 T log(1/delta))/(n epsilon)."""
    risk, size, _, moved = by_hand(kind)
    plan = NoisyGD(steps, 0.01).plan(risk, size, 3, Budget(0.7, 1e-4), "paper")
    sigma = moved * math.sqrt(1.25 * steps * math.log(1e4)) / 0.7
    assert plan.noise.scale == pytest.approx(sigma, rel=1e-6)
    assert plan.noise.scale >= sigma
    assert plan.noise.sensitivity == pytest.approx(math.sqrt(steps) * moved)
    assert "Xue et al. 2021, Algorithm 2" in plan.noise.accountant


@pytest.mark.parametrize("kind", [MetricRisk, RankingRisk])
@pytest.mark.parametrize(("n", "epsilon"), [(100, 0.7), (100, 5.0), (1000, 0.1)])
def test_the_papers_schedule_by_hand(kind, n, epsilon) -> None:
    """T = min(n, (n epsilon)^2/(d log 1/delta)); eta = ||C||/(G sqrt T), at most 1/(2 L)."""
    risk, size, steepest, _ = by_hand(kind, n)
    plan = NoisyGD().plan(risk, size, 3, Budget(epsilon, 1e-4), "paper")
    dimension = 6 if kind is MetricRisk else 3
    steps = min(n, math.floor((n * epsilon) ** 2 / (dimension * math.log(1e4))))
    assert plan.schedule.steps == steps
    smooth = 10.0 * (16.0 if kind is MetricRisk else 4.0 * 0.25)
    diameter = math.sqrt(2.0) if kind is MetricRisk else 2.0
    assert plan.schedule.step_size == pytest.approx(min(diameter / (steepest * math.sqrt(steps)), 0.5 / smooth))


def test_the_papers_mean_starts_at_the_first_point() -> None:
    """(w_0 + ... + w_T)/(T + 1), where ours leaves the first half out."""
    risk, _, _, _ = by_hand(MetricRisk)
    table, algorithm = table_for(risk, 100), NoisyGD(3, 0.01)
    plan, source = algorithm.plan(risk, TableSize(100), 2, APPROXIMATE, "paper"), SeededBits(4)
    w = risk.start(2)
    path = [w]
    single = type(plan.noise)(**{**vars(plan.noise), "dimension": 3})
    for _ in range(3):
        w = risk.constraint.project(w - 0.01 * single.add(risk.gradient(w, table), source))
        path.append(w)
    release = algorithm.run(risk, table, APPROXIMATE, SeededBits(4), "paper")
    np.testing.assert_allclose(release.coef, np.mean(path, axis=0), rtol=1e-12)
    assert release.guarantee.constants == "paper"


@pytest.mark.parametrize(("delta", "fails"), [(1e-9, 0.15), (1e-5, 1.2), (1 / 768, 2.3)])
@pytest.mark.parametrize("steps", [1, 20])
def test_the_papers_noise_stops_holding_where_the_profile_says(delta, fails, steps) -> None:
    """With private labels a metric's gradient does move by 4 G/n: docs/theory/gradient-descent.md has the table."""
    risk, size, _, moved = by_hand(MetricRisk)

    def plan(epsilon: float, constants: str = "paper"):
        return NoisyGD(steps, 0.01).plan(risk, size, 3, Budget(epsilon, delta), constants)

    assert plan(1.0, "defended").noise.sensitivity == pytest.approx(math.sqrt(steps) * moved, rel=1e-5)
    low, high = 0.01, 50.0
    while high - low > 1e-4 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if plan(middle).defended else (low, middle)
    spent = 1.0 / math.sqrt(1.25 * math.log(1.0 / delta))  # mu/epsilon, as published
    assert low == pytest.approx(fails, abs=0.051)
    assert spent * low * (1 - 1e-3) <= gaussian_mu(low, delta) <= spent * high * (1 + 1e-3)
    for epsilon in (0.5 * low, 0.99 * low, 1.01 * low, 2.0 * low):
        assert plan(epsilon).defended == (epsilon < low)
        assert plan(epsilon, "defended").defended


@pytest.mark.parametrize(
    ("delta", "epsilon", "over"), [(1e-5, 2.0, 2.4), (1e-5, 4.0, 12), (1e-5, 6.0, 42), (1 / 768, 4, 3.7)]
)
def test_how_far_the_papers_noise_overspends(delta, epsilon, over) -> None:
    """delta spent over delta promised, from the noise that the plan really has."""
    risk, size, _, moved = by_hand(MetricRisk)
    noise = NoisyGD(9, 0.01).plan(risk, size, 3, Budget(epsilon, delta), "paper").noise
    spent = gaussian_delta(3.0 * moved / noise.scale, epsilon)
    assert spent / delta == pytest.approx(over, rel=0.03)


# --- refusals


def test_what_the_proof_does_not_cover_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="delta=0 does not suit noisy-gd, whose noise is Gaussian.*epoch-gd"):
        NoisyGD().run(RankingRisk(Logistic()), None, Budget(1.0), SecureBits())
    NoisyGD().check(RankingRisk(Logistic()), OPENLY)
    for risk in (MetricRisk(Logistic(), adjacency=WITHIN), RankingRisk(Logistic(), adjacency=WITHIN)):
        with pytest.raises(UnsuitableError, match="constants='paper' needs the paper's own setting"):
            NoisyGD().run(risk, None, APPROXIMATE, SecureBits(), "paper")


@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
def test_the_papers_step_size_needs_a_smooth_loss(kind) -> None:
    """At most 1/(2 L): for a kink it would be 0, and the release would be the starting point."""
    with pytest.raises(UnsuitableError, match="loss='hinge' has a kink, and constants='paper' needs a smooth loss"):
        NoisyGD().run(kind(Hinge()), None, APPROXIMATE, SecureBits(), "paper")
    NoisyGD().check(kind(Hinge()), APPROXIMATE)
