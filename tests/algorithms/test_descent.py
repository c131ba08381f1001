"""What all descending algorithms share: schedules, parts, movement, and their contract with private tables."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych import Budget, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.algorithms import EpochGD, GDOutput, NoisyGD, OnlineOutput, SGDOutput, UnsuitableError
from diptych.algorithms.descent import (
    LEAST,
    MOST,
    Schedule,
    affordable,
    confine,
    deal,
    descend,
    last_of,
    mean_of,
    movement,
    per_step,
    rounding,
    turns,
)
from diptych.noise import SecureBits, SeededBits
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.sets import L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import TableSize
from tests.descents import ALGORITHMS, APPROXIMATE, REPLACE, WITHIN, name_of, table_for

RISKS = [
    kind(Logistic(1.0, 0.5), lam, adjacency=adjacency, **held)
    for lam, adjacency in product((0.0, 0.1), (REPLACE, WITHIN))
    for kind, held in (
        (RankingRisk, {}),
        (RankingRisk, {"constraint": L2Ball(0.5)}),
        (MetricRisk, {"constraint": PSDFrobeniusBall(1.0)}),
        (MetricRisk, {"constraint": PSDTraceBall(2.0)}),
    )
]
risks = pytest.mark.parametrize("risk", RISKS, ids=name_of)
private = pytest.mark.parametrize("risk", [risk for risk in RISKS if risk.adjacency is REPLACE], ids=name_of)
algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=name_of)


# --- the contract with private tables


@algorithms
@private
def test_private_labels_and_rows_show_in_no_public_fact(algorithm, risk) -> None:
    """Schedule, noise, trace and every word of the guarantee are the same for any labels, one class only included."""
    seen = set()
    for seed, codes in enumerate((None, np.arange(30) % 2, np.zeros(30, dtype=int), np.ones(30, dtype=int))):
        release = algorithm.run(risk, table_for(risk, 30, seed=seed, codes=codes), APPROXIMATE, SeededBits(0))
        seen.add((str(release.trace), release.guarantee.to_json()))
    assert len(seen) == 1


@algorithms
@risks
def test_the_trace_holds_settings_only(algorithm, risk) -> None:
    release = algorithm.run(risk, table_for(risk, 30), APPROXIMATE, SeededBits(0))
    assert set(release.trace) <= {"regularization", "steps", "step_size", "parts", "epochs"}
    assert release.guarantee.defended
    assert release.guarantee.released == risk.released


@algorithms
@risks
@pytest.mark.parametrize("n", [2, 3, 5, 7, 100])
def test_any_number_of_records_will_do(algorithm, risk, n) -> None:
    """With the least steps where a step may be long; the release lies where the model lives and is finite."""
    for budget in (APPROXIMATE, Budget(math.inf)):
        release = algorithm.run(risk, table_for(risk, n), budget, SeededBits(1))
        assert release.coef.shape == (risk.dimension(2),)
        assert np.all(np.isfinite(release.coef))
        assert np.linalg.norm(release.coef) <= risk.constraint.radius * (1 + 1e-12)


@algorithms
@risks
def test_a_seed_repeats_a_release_and_secure_bits_do_not(algorithm, risk) -> None:
    table = table_for(risk, 20)
    one, two, other = (algorithm.run(risk, table, APPROXIMATE, SeededBits(k)).coef for k in (3, 3, 4))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    fresh = [algorithm.run(risk, table, APPROXIMATE, SecureBits()) for _ in range(2)]
    assert not np.array_equal(fresh[0].coef, fresh[1].coef)
    assert not fresh[0].guarantee.seeded


@algorithms
@risks
def test_without_privacy_nothing_is_promised(algorithm, risk) -> None:
    release = algorithm.run(risk, table_for(risk, 20), Budget(math.inf), SecureBits())
    assert "no privacy guarantee" in str(release.guarantee)
    assert release.guarantee.events == ()


@algorithms
def test_settings_that_no_algorithm_takes_are_refused(algorithm) -> None:
    for wrong, message in (
        ({"step_size": 0.0}, "step_size of"),
        ({"step_size": math.inf}, "step_size of"),
        ({"step_size": True}, "step_size of"),
        ({"step_size": "long"}, "step_size of"),
        ({"steps": 0}, "steps of"),
        ({"steps": 2.0}, "steps of"),
        ({"steps": True}, "steps of"),
        ({"steps": "many"}, "steps of"),
    ):
        if set(wrong) <= set(vars(algorithm)):
            with pytest.raises(ValueError, match=f"{message} {algorithm.name} must be"):
                replace(algorithm, **wrong)
    with pytest.raises(ValueError, match="constants must be one of"):
        algorithm.check(RISKS[0], APPROXIMATE, "sharp")
    with pytest.raises(ValueError, match="regularization must be 0, or between"):
        algorithm.check(RankingRisk(Logistic(), 1e-12), APPROXIMATE)


@algorithms
@pytest.mark.parametrize("loss", [SquaredHinge(), Squared()], ids=str)
def test_slopes_without_bound_need_a_radius(algorithm, loss) -> None:
    with pytest.raises(UnsuitableError, match="radius is needed for .* whose slope grows without bound"):
        algorithm.check(RankingRisk(loss), APPROXIMATE)
    for held in (RankingRisk(loss, 0.0, L2Ball(1.0)), RankingRisk(loss, 0.1)):  # lambda bounds the minimiser, too
        release = algorithm.run(held, table_for(held, 20), APPROXIMATE, SeededBits(0))
        assert np.all(np.isfinite(release.coef))


@pytest.mark.parametrize("algorithm", [GDOutput(), EpochGD(), OnlineOutput()], ids=name_of)
@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
def test_kinks_are_refused_where_steps_could_carry_iterates_apart(algorithm, kind) -> None:
    with pytest.raises(UnsuitableError, match="loss='hinge' has a kink.*smoothed-hinge.*noisy-gd"):
        algorithm.check(kind(Hinge()), APPROXIMATE)
    NoisyGD().check(kind(Hinge()), APPROXIMATE)
    SGDOutput().check(kind(Hinge()), APPROXIMATE)


@algorithms
@pytest.mark.parametrize("adjacency", [REPLACE, WITHIN], ids=str)
def test_refusals_come_before_the_data(algorithm, adjacency) -> None:
    """A table that is none would otherwise fail in another way."""
    for kind in (RankingRisk, MetricRisk):
        for risk, budget, constants in (
            (kind(Hinge(), adjacency=adjacency), Budget(1.0), "paper"),
            (kind(Logistic(), 1e-12, adjacency=adjacency), APPROXIMATE, "defended"),
            (kind(Logistic(), adjacency=adjacency), APPROXIMATE, "sharp"),
        ):
            with pytest.raises(ValueError, match=r"loss|delta|regularization|constants"):
                algorithm.run(risk, None, budget, SecureBits(), constants)


@algorithms
@pytest.mark.parametrize("lam", [0.0, 0.1])
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(math.inf)], ids=str)
def test_a_loss_that_is_straight_on_the_whole_set_will_do(algorithm, lam, budget) -> None:
    """Margins up to 3 in size, and a loss that bends between 4 and 5 only: its curvature on the set is 0."""
    risk = MetricRisk(SmoothedHinge(5.0, 1.0), lam)
    assert risk.curve.curvature_bound(risk.reach) == 0.0
    assert np.all(np.isfinite(algorithm.run(risk, table_for(risk, 9), budget, SeededBits(0)).coef))


# --- parts


@st.composite
def dealings(draw):
    n = draw(st.integers(2, 60))
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    sizes = draw(st.lists(st.integers(1, n), min_size=1, max_size=5).filter(lambda sizes: sum(sizes) <= n))
    return codes, sizes, draw(st.integers(0, 99))


@given(dealings(), st.sampled_from([REPLACE, WITHIN]))
def test_parts_are_disjoint_and_of_the_sizes_asked_for(dealing, adjacency) -> None:
    codes, sizes, seed = dealing
    names = np.arange(len(codes), dtype=float)[:, None]
    parts = deal(MetricTable(names, codes), sizes, adjacency, SeededBits(seed))
    assert [part.n for part in parts] == sizes
    taken = np.concatenate([part.X[:, 0] for part in parts])
    assert len(np.unique(taken)) == sum(sizes)
    for part in parts:
        np.testing.assert_array_equal(part.codes, codes[part.X[:, 0].astype(int)])
        if adjacency is WITHIN:  # every class has its share, to within a record at either end
            for code in np.unique(codes):
                share = part.n * np.mean(codes == code)
                assert abs(np.sum(part.codes == code) - share) <= 2.0


@given(dealings())
def test_private_labels_do_not_decide_who_is_dealt_where(dealing) -> None:
    codes, sizes, seed = dealing
    names = np.arange(len(codes), dtype=float)[:, None]
    dealt = [deal(MetricTable(names, labels), sizes, REPLACE, SeededBits(seed)) for labels in (codes, codes * 0)]
    for one, other in zip(*dealt, strict=True):
        np.testing.assert_array_equal(one.X, other.X)


def test_parts_are_random() -> None:
    table = PairTable(np.arange(20.0)[:, None], np.arange(20) < 10)
    for adjacency in (REPLACE, WITHIN):
        firsts = {tuple(deal(table, [10, 10], adjacency, SeededBits(seed))[0].X[:, 0]) for seed in range(10)}
        assert len(firsts) == 10


@pytest.mark.parametrize("adjacency", [REPLACE, WITHIN], ids=str)
def test_large_metric_tables_take_turns(adjacency, monkeypatch) -> None:
    """25 records, at most 10 at a time: three parts of eight, and no record in more than a third of the steps."""
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 10)
    risk = MetricRisk(Logistic(), 0.0, adjacency=adjacency)
    table, seen = table_for(risk, 25), []
    spied = MetricRisk.gradient

    def spy(self, w, part):
        seen.append({tuple(row) for row in part.X})
        return spied(self, w, part)

    monkeypatch.setattr(MetricRisk, "gradient", spy)
    for algorithm, steps in product((NoisyGD, GDOutput), (1, 3, 7)):
        seen.clear()
        plan = algorithm(steps, 0.01).plan(risk, table.size(adjacency), 2, APPROXIMATE)
        assert plan.schedule == Schedule(steps, 0.01, 3)
        assert plan.schedule.uses == math.ceil(steps / 3)
        algorithm(steps, 0.01).run(risk, table, APPROXIMATE, SeededBits(5))
        assert [len(part) for part in seen] == [8] * steps
        uses = [sum(tuple(row) in part for part in seen) for row in table.X]
        assert max(uses) == plan.schedule.uses
        assert not set.intersection(*seen[:3]) or steps == 1


def test_tables_that_are_small_enough_are_not_cut() -> None:
    for risk in (RISKS[0], RISKS[2]):
        table = table_for(risk, 9)
        assert turns(risk, table, SeededBits(0))[0] is table
    assert RankingRisk(Logistic()).most_records == math.inf


# --- steps


@risks
def test_descending_is_stepping_and_projecting(risk) -> None:
    table, w = table_for(risk, 12), risk.start(2)
    tables, by_hand = [table.take(np.arange(5)), table.take(np.arange(5, 12))], []
    for step in range(5):
        w = risk.constraint.project(w - 0.3 * risk.gradient(w, tables[step % 2]))
        by_hand.append(w)
    schedule = Schedule(5, 0.3, 2)
    np.testing.assert_array_equal(list(descend(risk, tables, schedule, risk.start(2))), by_hand)
    np.testing.assert_array_equal(last_of(descend(risk, tables, schedule, risk.start(2))), by_hand[-1])
    np.testing.assert_allclose(mean_of(iter(by_hand)), np.mean(by_hand, axis=0), rtol=1e-12)
    np.testing.assert_allclose(mean_of(iter(by_hand), 2), np.mean(by_hand[2:], axis=0), rtol=1e-12)
    noisy = next(descend(risk, tables, schedule, risk.start(2), lambda gradient: 0 * gradient))
    np.testing.assert_allclose(noisy, risk.start(2))


@pytest.mark.parametrize("adjacency", [REPLACE, WITHIN], ids=str)
def test_the_bounded_set_holds_all_that_noiseless_steps_reach(adjacency) -> None:
    risk, schedule = RankingRisk(Logistic(1.0, 0.2), adjacency=adjacency), Schedule(6, 0.5)
    for seed in range(10):
        table = table_for(risk, 9, seed=seed)
        within = confine(risk, table.size(adjacency), schedule)
        free = list(descend(risk, [table], schedule, risk.start(2)))
        np.testing.assert_array_equal(list(descend(within, [table], schedule, risk.start(2))), free)
        assert np.linalg.norm(free, axis=1).max() <= within.constraint.radius


def recursion(schedule: Schedule, certificate, features: int, part: int, averaged: bool) -> float:
    """Lemma 1, step by step, for a record in that part."""
    apart, path = 0.0, []
    for step in range(schedule.steps):
        apart *= 1.0 - schedule.step_size * certificate.strong_convexity
        if step % schedule.parts == part:
            apart += schedule.step_size * certificate.gradient_sensitivity
        apart += schedule.step_size * 2.0 * certificate.gradient_error
        apart += rounding(certificate, schedule.step_size, features)
        path.append(apart)
    return float(np.mean(path)) if averaged else path[-1]


@risks
@pytest.mark.parametrize("averaged", [False, True])
def test_movement_is_the_worst_parts_recursion(risk, averaged) -> None:
    size = table_for(risk, 20).size(risk.adjacency)
    for parts, steps in product((1, 3), (1, 2, 3, 8)):
        schedule = Schedule(steps, 0.1, parts)
        certificate = confine(risk, size, schedule).certificate(size, 2, tilt=math.inf)
        worst = max(recursion(schedule, certificate, 2, part, averaged) for part in range(parts))
        moved = movement(schedule, certificate, 2, averaged=averaged)
        assert moved == pytest.approx(worst, rel=1e-14, abs=0.0)


def test_movement_in_closed_form() -> None:
    """eta s (T + 1)/2 for a mean, s (1 - (1 - eta lambda)^T)/lambda for a last iterate: at most s/lambda."""
    size = TableSize(10)
    mean = RankingRisk(Logistic(), 0.0, L2Ball(1.0)).certificate(size, 2, tilt=math.inf)
    assert movement(Schedule(9, 0.1), mean, 2, averaged=True) == pytest.approx(0.1 * per_step(mean) * 5, rel=1e-9)
    last = RankingRisk(Logistic(), 0.5, L2Ball(1.0)).certificate(size, 2, tilt=math.inf)
    moved = movement(Schedule(9, 0.1), last, 2, averaged=False)
    assert moved == pytest.approx(per_step(last) * (1 - 0.95**9) / 0.5, rel=1e-9)
    settled = movement(Schedule(10_000, 0.1), last, 2, averaged=False)
    assert settled == pytest.approx(per_step(last) / 0.5, rel=1e-9)


def test_default_schedules_stop_before_the_noise_outgrows_the_span() -> None:
    risk = RankingRisk(Logistic())
    assert affordable(risk, 1e-9) == MOST
    assert affordable(risk, 1e9) == LEAST
    assert affordable(risk, 0.1) == math.floor(0.5 * risk.span / 0.1)


@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
def test_more_budget_or_more_records_never_mean_more_noise(kind) -> None:
    """For the same schedule."""
    risk = kind(SmoothedHinge(1.0, 0.5))
    for algorithm in (GDOutput(5, 0.01), NoisyGD(5, 0.01), OnlineOutput(0.01)):
        scales = []
        for n, epsilon in ((50, 0.5), (50, 1.0), (100, 1.0), (100, 2.0)):
            plan = algorithm.plan(risk, TableSize(n), 2, Budget(epsilon, 1e-4))
            scales.append((plan[2] if isinstance(plan, tuple) else plan.noise).scale)
        if isinstance(algorithm, OnlineOutput):  # more records, more steps
            scales = scales[:2]
        assert scales == sorted(scales, reverse=True)
