"""epoch-gd: disjoint parts, noise between epochs. Replayed, and compared with the published formulas."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych import Budget, Logistic, SmoothedHinge
from diptych.accounting import gaussian_delta
from diptych.algorithms import EpochGD, UnsuitableError
from diptych.algorithms.descent import Schedule, deal, mean_of, per_step
from diptych.algorithms.epochs import DECAY, EPOCHS
from diptych.noise import SecureBits, SeededBits
from diptych.risks import MetricRisk, RankingRisk, minimise
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import OF_PAIRS, TableSize
from tests.descents import APPROXIMATE, REPLACE, WITHIN, name_of, table_for

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


# --- parts


@given(st.integers(2, 5000), st.sampled_from(["auto", 1, 2, 7, 60]), st.sampled_from(["defended", "paper"]))
def test_parts_halve_and_use_every_record(n, epochs, constants) -> None:
    sizes = EpochGD(epochs=epochs).parts(TableSize(n), constants)
    assert sum(sizes) == n
    assert min(sizes) >= 2
    assert sizes[:-1] == [n // 2**k for k in range(1, len(sizes))]
    assert len(sizes) <= (epochs if epochs != "auto" else 60 if constants == "paper" else EPOCHS)


@given(st.integers(2, 200), st.data())
def test_with_public_labels_every_part_has_both_classes(n, data) -> None:
    positives = data.draw(st.integers(1, n - 1))
    risk = RankingRisk(Logistic(), adjacency=WITHIN)
    codes = np.random.default_rng(n).permutation(np.arange(n) < positives).astype(int)
    table = table_for(risk, n, codes=codes)
    sizes = EpochGD().parts(table.size(WITHIN))
    assert sum(sizes) == n
    for part in deal(table, sizes, WITHIN, SeededBits(data.draw(st.integers(0, 99)))):
        assert not part.one_class


@pytest.mark.parametrize("k", range(1, 11))
def test_the_paper_cuts_2_to_the_k_records_into_k_parts(k) -> None:
    """Algorithm 3: n_i = 2^-i n for i < k, and D_k holds all that are left."""
    sizes = EpochGD().parts(TableSize(2**k), "paper")
    assert sizes == [2 ** (k - i) for i in range(1, k)] + [2]


# --- what is released


@risks
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(1.0)], ids=str)
def test_the_release_is_the_last_noisy_mean(risk, budget) -> None:
    """The same bits again: the deal, then each epoch from the projected, noisy end of the one before."""
    table, algorithm, source = table_for(risk, 40), EpochGD(steps=3), SeededBits(1)
    release = algorithm.run(risk, table, budget, SeededBits(1))
    size = table.size(risk.adjacency)
    tables = deal(table, algorithm.parts(size), risk.adjacency, source)
    assert len(tables) == (4 if risk.adjacency is REPLACE or isinstance(risk, MetricRisk) else 3)
    assert len({tuple(row) for part in tables for row in part.X}) == 40
    plans = algorithm.plan(risk, size, [part.size(risk.adjacency) for part in tables], 2, budget)
    w = plans[0].risk.start(2)
    for plan, part in zip(plans, tables, strict=True):
        path = []
        for _ in range(plan.schedule.steps):
            w = plan.risk.constraint.project(w - plan.schedule.step_size * plan.risk.gradient(w, part))
            path.append(w)
        w = plan.risk.constraint.project(plan.noise.add(mean_of(iter(path)), source))
    np.testing.assert_array_equal(release.coef, w)
    assert release.trace["step_size"] == [plan.schedule.step_size for plan in plans]
    assert release.trace["epochs"] == len(plans)


@risks
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(1.0)], ids=str)
def test_every_epoch_hides_the_movement_of_its_mean_within_the_whole_budget(risk, budget) -> None:
    """Theorem 3: eta (s + 2 e)(T + 1)/2 with s of the part, less where lambda contracts; epochs compose in parallel."""
    table, algorithm = table_for(risk, 64), EpochGD(5, 0.01, noise="laplace" if budget.pure else "gaussian")
    size = table.size(risk.adjacency)
    parts = [part.size(risk.adjacency) for part in deal(table, algorithm.parts(size), risk.adjacency, SeededBits(0))]
    dimension = risk.dimension(2)
    plans = algorithm.plan(risk, size, parts, 2, budget)
    for number, (plan, part) in enumerate(zip(plans, parts, strict=True)):
        certificate = plan.risk.certificate(part, 2, tilt=math.inf)
        length = 0.01 / DECAY**number
        assert plan.schedule == Schedule(5, length)
        needed = length * per_step(certificate) * 3.0
        assert 0.95 * needed <= plan.noise.sensitivity / (math.sqrt(dimension) if budget.pure else 1.0)
        assert plan.noise.sensitivity <= needed * (math.sqrt(dimension) if budget.pure else 1.0) * (1 + 1e-4)
        ratio = plan.noise.sensitivity / plan.noise.scale
        assert ratio <= 1.0 if budget.pure else gaussian_delta(ratio, 1.0) <= budget.delta
    release = algorithm.run(risk, table, budget, SeededBits(0))
    scales = [event.noise_scale for event in release.guarantee.events]
    assert scales == [plan.noise.scale for plan in reversed(plans)]
    assert release.guarantee.noise_scale == plans[-1].noise.scale
    assert "disjoint parts" in release.guarantee.mechanism
    assert release.guarantee.delta == budget.delta


@adjacencies
def test_large_metric_parts_take_turns_inside_an_epoch(adjacency, monkeypatch) -> None:
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 10)
    risk = MetricRisk(Logistic(), adjacency=adjacency)
    plans = EpochGD(6, 0.01).plan(risk, TableSize(64), [TableSize(n) for n in (32, 16, 8, 8)], 2, APPROXIMATE)
    assert [plan.schedule.parts for plan in plans] == [4, 2, 1, 1]
    release = EpochGD(6, 0.01).run(risk, table_for(risk, 64), APPROXIMATE, SeededBits(0))
    assert [event.sensitivity for event in release.guarantee.events] == [plan.noise.sensitivity for plan in plans[::-1]]


# --- without privacy


@pytest.mark.parametrize("constraint", [Free(), L2Ball(0.2)], ids=str)
@adjacencies
def test_without_privacy_one_epoch_is_averaged_descent_to_the_minimiser(constraint, adjacency) -> None:
    risk = RankingRisk(Logistic(1.0, 0.5), 0.5, constraint, adjacency)
    table = table_for(risk, 40, 3)
    best = minimise(risk, table, 1e-9).w
    for steps in (100, 1000):
        w = EpochGD(steps, epochs=1).run(risk, table, OPENLY, SeededBits(0)).coef
        assert np.linalg.norm(w - best) <= 20.0 / steps


@adjacencies
def test_without_privacy_four_epochs_come_near_the_optimum_of_a_large_table(adjacency) -> None:
    risk = RankingRisk(Logistic(1.0, 0.5), 0.1, adjacency=adjacency)
    table = table_for(risk, 4000, 3)
    start, best = risk.value(np.zeros(3), table), risk.value(minimise(risk, table, 1e-8).w, table)
    value = risk.value(EpochGD().run(risk, table, OPENLY, SeededBits(0)).coef, table)
    assert best - 1e-9 <= value <= best + 0.03 * (start - best)


# --- published constants


def by_hand(kind, n: int = 64):
    """Slopes of 1 on the set: G is D^2 = 4 for a metric, D = 2 for ranking."""
    held = PSDFrobeniusBall(1.0) if kind is MetricRisk else L2Ball(1.0)
    return kind(SmoothedHinge(1.0, 0.1), 0.0, held), n, 4.0 if kind is MetricRisk else 2.0


@pytest.mark.parametrize("kind", [MetricRisk, RankingRisk])
@pytest.mark.parametrize("budget", [Budget(0.7, 1e-4), Budget(0.7)], ids=str)
def test_the_papers_constants_by_hand(kind, budget) -> None:
    """sigma = 4 sqrt(2 ln(1.25/delta)) G eta_i/epsilon or 4 G eta_i sqrt(d)/epsilon; eta_i = 4^-i eta, n_i steps."""
    risk, n, steepest = by_hand(kind)
    algorithm, dimension = EpochGD(), risk.dimension(3)
    sizes = algorithm.parts(TableSize(n), "paper")
    assert sizes == [32, 16, 8, 4, 2, 2]
    plans = algorithm.plan(risk, TableSize(n), [TableSize(k) for k in sizes], 3, budget, "paper")
    diameter = math.sqrt(2.0) if kind is MetricRisk else 2.0
    noisy = 0.7 / (dimension if budget.pure else math.sqrt(dimension * math.log(1e4)))
    first = diameter / steepest * min(4.0 / math.sqrt(n), noisy) / 4.0
    smooth = 10.0 * (16.0 if kind is MetricRisk else 4.0 * 0.25)
    first = min(first, 2.0 / smooth)
    factor = math.sqrt(dimension) / 0.7 if budget.pure else math.sqrt(2.0 * math.log(1.25 / 1e-4)) / 0.7
    for number, (plan, size) in enumerate(zip(plans, sizes, strict=True)):
        length = first / 4.0**number
        share = 2.0 / size if kind is MetricRisk else (size - 1) / size**2  # 2 G share is 4 G/n_i, for all pairs
        assert plan.schedule.steps == size
        assert plan.schedule.step_size == pytest.approx(length)
        assert plan.noise.scale == pytest.approx(2.0 * steepest * share * size * length * factor, rel=1e-5)
        if kind is MetricRisk:
            assert plan.noise.scale == pytest.approx(4.0 * steepest * length * factor, rel=1e-5)
        assert plan.defended
        assert "Xue et al. 2021, Algorithm 3" in plan.noise.accountant


def test_the_papers_noise_is_defended_exactly_where_it_is_enough() -> None:
    """The mean of T steps moves by (T + 1)/(2 T) of the published 4 G eta_i: one step needs all of it."""
    risk, size = MetricRisk(SmoothedHinge(1.0, 0.1)), TableSize(6)
    for steps, expected in ((1, 8.4), (1000, None)):
        algorithm = EpochGD(steps, 1e-4, epochs=1, noise="gaussian")
        for epsilon in (1.0, 8.3, 8.5, 20.0):
            budget = Budget(epsilon, 1e-5)
            paper, ours = (algorithm.plan(risk, size, [size], 2, budget, kind)[0] for kind in ("paper", "defended"))
            assert paper.defended == (gaussian_delta(ours.noise.sensitivity / paper.noise.scale, epsilon) <= 1e-5)
            assert paper.defended == (expected is None or epsilon < expected)
            assert ours.defended
    release = EpochGD(1, 1e-4, epochs=1).run(risk, table_for(risk, 6), Budget(9.0, 1e-5), SecureBits(), "paper")
    assert not release.guarantee.defended


# --- refusals


def test_what_the_proof_does_not_cover_is_refused() -> None:
    for epochs in (0, 61, 2.0, "many", True, None):
        with pytest.raises(ValueError, match="epochs must be a whole number from 1 to 60, or 'auto'"):
            EpochGD(epochs=epochs)
    with pytest.raises(UnsuitableError, match="noise='gaussian' cannot give delta = 0"):
        EpochGD(noise="gaussian").check(RankingRisk(Logistic()), Budget(1.0))
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        EpochGD(noise="pink")
    with pytest.raises(UnsuitableError, match="constants='paper' needs the paper's own setting"):
        EpochGD().run(MetricRisk(Logistic(), adjacency=WITHIN), None, APPROXIMATE, SecureBits(), "paper")
    with pytest.raises(UnsuitableError, match="the paper's own noise, 'laplace'"):
        EpochGD(noise="norm-laplace").run(MetricRisk(Logistic()), None, Budget(1.0), SecureBits(), "paper")


@risks
def test_steps_that_are_too_long_for_the_proof_are_refused(risk) -> None:
    size = TableSize(40, 20 if isinstance(risk, RankingRisk) and risk.adjacency is WITHIN else None)
    with pytest.raises(ValueError, match="too long for the proof, which needs at most"):
        EpochGD(step_size=100.0).plan(risk, size, [size], 2, APPROXIMATE)
