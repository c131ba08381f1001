"""Gradients of batches: unbiased, as far apart as claimed, however batches are drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from diptych import Adjacency, Logistic, SmoothedHinge
from diptych.algorithms import UnsuitableError
from diptych.algorithms.batches import Design, balanced, batch_gradient, check_sampling, design
from diptych.audit import Neighbours, search_output
from diptych.audit.neighbours import into_ball
from diptych.losses import Hinge, Squared, SquaredError
from diptych.noise import Coins, Subsets
from diptych.risks import MetricRisk, PointRisk, PointTable, RankingRisk
from diptych.sets import L2Ball, PSDFrobeniusBall
from diptych.spec import TableSize
from tests.descents import REPLACE, WITHIN, name_of, table_for

STEEP = SmoothedHinge(1.0, 0.1)
N = 50  # records of tables from which batches are searched
PAIRS = [
    RankingRisk(STEEP, 0.0, L2Ball(1.0), REPLACE),
    RankingRisk(STEEP, 0.0, L2Ball(1.0), WITHIN),
    RankingRisk(Squared(), 0.0, L2Ball(0.5), REPLACE),
    RankingRisk(Hinge(), 0.0, L2Ball(1.0), REPLACE),
    MetricRisk(STEEP, 0.0, PSDFrobeniusBall(1.0), REPLACE),
    MetricRisk(STEEP, 0.0, PSDFrobeniusBall(1.0), WITHIN),
]
POINTS = [
    PointRisk(STEEP, 0.0, L2Ball(0.5), REPLACE),
    PointRisk(STEEP, 0.0, L2Ball(0.5), WITHIN),
    PointRisk(SquaredError(), 0.0, L2Ball(0.5), REPLACE),
    PointRisk(Logistic(), 0.0, L2Ball(0.5), Adjacency.ADD_REMOVE),
]


def size_of(risk: Any, n: int, positives: int) -> TableSize:
    public = risk.adjacency is WITHIN and not isinstance(risk, MetricRisk)
    return TableSize(n, positives if public else None)


def small_table(risk: Any, n: int, d: int, seed: int) -> Any:
    if not isinstance(risk, PointRisk):
        return table_for(risk, n, d, seed)
    rng = np.random.default_rng(seed)
    X, y = into_ball(rng.normal(size=(n, d)), 1.0), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return PointTable(X, y, n if risk.adjacency is Adjacency.ADD_REMOVE else None)


def some_w(risk: Any, d: int) -> np.ndarray:
    return risk.constraint.project(risk.start(d) + 0.1)


# --- means


@pytest.mark.parametrize(
    "risk", [one for one in (*PAIRS, *POINTS) if one.adjacency is not Adjacency.ADD_REMOVE], ids=name_of
)
@pytest.mark.parametrize("batch", [2, 3, 6])
def test_uniform_batches_have_the_gradient_for_their_mean(risk, batch) -> None:
    table, w = small_table(risk, 6, 2, 1), some_w(risk, 2)
    plan = design(risk, table.size(risk.adjacency), 2, batch, "uniform")
    each = [batch_gradient(risk, plan, table, np.array(rows), w) for rows in combinations(range(6), batch)]
    np.testing.assert_allclose(np.mean(each, axis=0), risk.gradient(w, table), atol=1e-9)


@pytest.mark.parametrize("batch", [2, 3, 4, 6])
def test_stratified_batches_have_the_gradient_for_their_mean(batch) -> None:
    risk = PAIRS[1]
    table, w = small_table(risk, 6, 2, 2), np.array([0.3, -0.2])
    plan = design(risk, table.size(WITHIN), 2, batch, "stratified")
    ups, downs = (
        combinations(np.flatnonzero(side), m)
        for side, m in zip((table.positive, ~table.positive), plan.sizes, strict=True)
    )
    each = [batch_gradient(risk, plan, table, np.array([*a, *b]), w) for a, b in product(ups, list(downs))]
    np.testing.assert_allclose(np.mean(each, axis=0), risk.gradient(w, table), atol=1e-9)


@pytest.mark.parametrize("risk", POINTS, ids=name_of)
def test_poisson_batches_of_points_have_the_gradient_for_their_mean(risk) -> None:
    table, w = small_table(risk, 6, 2, 3), some_w(risk, 2)
    plan = design(risk, table.size(risk.adjacency), 2, 2, "poisson")
    total = np.zeros(2)
    for coins in product((0, 1), repeat=6):
        heads = sum(coins)
        total += (1 / 3) ** heads * (2 / 3) ** (6 - heads) * batch_gradient(risk, plan, table, np.flatnonzero(coins), w)
    np.testing.assert_allclose(total, risk.gradient(w, table), atol=1e-9)


@pytest.mark.parametrize("risk", PAIRS, ids=name_of)
def test_poisson_batches_of_pairs_count_no_more_than_expected_and_little_less(risk) -> None:
    """Larger batches are weighed down: the mean is the gradient of batches of the usual size."""
    table, w = small_table(risk, 40, 2, 3), some_w(risk, 2)
    plan = design(risk, table.size(risk.adjacency), 2, 20, "poisson")
    rng = np.random.default_rng(4)
    each = [batch_gradient(risk, plan, table, np.flatnonzero(rng.random(40) < 0.5), w) for _ in range(3000)]
    full = risk.gradient(w, table)
    assert np.linalg.norm(np.mean(each, axis=0) - full) <= 0.15 * np.linalg.norm(full)


# --- how far one record moves them


def claimed(plan: Design, kind: str) -> float:
    return max(getattr(query, kind) for query in plan.queries)


def attack(risk: Any, plan: Design, m: int, claim: float, seed: int) -> float:
    """Search batches of m records, the last of which is replaced as the adjacency of ``risk`` has it."""

    def gradient(table: Any) -> np.ndarray:
        return batch_gradient(risk, plan, table, np.arange(m), risk.start(2))

    ups = plan.sizes[0] if plan.sampling == "stratified" else 1
    found = search_output(gradient, risk, size_of(risk, m, ups), 2, claim, seed, batch=8, rounds=60)
    return found.ratio


@pytest.mark.parametrize("risk", PAIRS, ids=name_of)
@pytest.mark.parametrize("sampling", ["uniform", "stratified", "poisson"])
@pytest.mark.parametrize("m", [2, 4])
def test_a_replaced_record_never_moves_a_batch_farther_than_claimed(risk, sampling, m) -> None:
    """The record's two versions; and, for batches without replacement, whichever record may take its place."""
    if sampling == "stratified" and not (isinstance(risk, RankingRisk) and risk.adjacency is WITHIN):
        with pytest.raises(UnsuitableError, match="sampling='stratified' needs public labels and a ranking"):
            check_sampling(sampling, risk)
        return
    plan = design(risk, size_of(risk, N, N // 2), 2, m, sampling)
    swapped = attack(risk, plan, m, claimed(plan, "swap"), 1)
    put_in = 0.0
    if sampling == "uniform":
        put_in = attack(replace(risk, adjacency=REPLACE), plan, m, claimed(plan, "out"), 2)
    print(f"{name_of(risk)} {sampling} m={m}: swap {swapped:.3f}, out {put_in:.3f}")
    assert max(swapped, put_in) <= 1 + 1e-9
    if isinstance(risk, RankingRisk) and risk.loss is STEEP and sampling != "poisson":
        assert swapped >= 0.97
        assert put_in >= 0.97 or sampling != "uniform"


def added(risk: Any, plan: Design, k: int, seed: int, rounds: int = 150) -> float:
    """Search for batches of k records to which one more does most; return that movement."""
    rng, worst = np.random.default_rng(seed), np.zeros(6)
    adjacency, kind = REPLACE, type(small_table(risk, 4, 2, 0))
    pairs = Neighbours.random(rng, 6, k + 1, 2, 1.0, adjacency, 0, 2)

    def movement(some: Neighbours) -> np.ndarray:
        out = []
        for X, codes in zip(some.X[:, :-1], some.codes[:, :-1], strict=True):
            table = (
                PointTable(X, 2.0 * codes - 1.0)
                if kind is PointTable
                else kind(X, codes if isinstance(risk, MetricRisk) else codes == 1)
            )
            sides = (batch_gradient(risk, plan, table, np.arange(size), risk.start(2)) for size in (k, k + 1))
            out.append(np.linalg.norm(np.subtract(*sides)))
        return np.array(out)

    worst = movement(pairs)
    for step in range(rounds):
        trial = pairs.moved(rng, 0.5 * 10.0 ** (-3.0 * rng.random(6) * step / rounds), 1.0, adjacency)
        reached = movement(trial)
        pairs.keep(reached > worst, trial)
        worst = np.maximum(worst, reached)
    return float(worst.max())


@pytest.mark.parametrize("risk", [PAIRS[0], PAIRS[2], PAIRS[4], POINTS[0], POINTS[3]], ids=name_of)
def test_an_added_record_never_moves_a_poisson_batch_farther_than_claimed(risk) -> None:
    """Batches below, at and above the expected size; rankings come near where batches are large.

    Squared slopes are half of their bound where the descent starts; metrics do not reach the triangle inequality.
    """
    plan = design(risk, TableSize(N), 2, 3, "poisson")
    reached = {k: added(risk, plan, k, 5) / claimed(plan, "out") for k in (1, 2, 3, 4, 8)}
    print(name_of(risk), {k: round(one, 3) for k, one in reached.items()})
    assert max(reached.values()) <= 1 + 1e-9
    assert max(reached.values()) >= (0.4 if isinstance(risk, MetricRisk) or isinstance(risk.loss, Squared) else 0.8)


def test_weights_that_do_not_shrink_would_be_refuted() -> None:
    """Negative control: a batch of eight where three were expected, every pair with full weight."""
    risk = PAIRS[0]
    plan = design(risk, TableSize(N), 2, 3, "poisson")
    loose = Design("uniform", plan.of, (9,), plan.weight, plan.queries)
    assert added(risk, loose, 8, 6) > 1.5 * claimed(plan, "out")


def test_uniform_batches_with_public_labels_pay_for_a_change_of_label() -> None:
    """The record in another's place may be of any class: at the price of kept labels a search refutes them."""
    risk = MetricRisk(STEEP, 0.0, PSDFrobeniusBall(1.0), WITHIN)
    plan = design(risk, TableSize(N), 2, 2, "uniform")
    (query,) = plan.queries
    assert query.out > 1.9 * query.swap
    anyone = MetricRisk(STEEP, 0.0, PSDFrobeniusBall(1.0), REPLACE)
    assert attack(anyone, plan, 2, query.swap, 3) > 1.2


def test_replaced_points_never_move_a_batch_farther_than_claimed() -> None:
    """Rows at the ends of the ball, labels swapped: the whole diameter is reached."""
    for risk in POINTS[:2]:
        plan = design(risk, size_of(risk, N, N // 2), 2, 4, "uniform")
        rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.5, 0.5]])
        other = rows.copy()
        other[0] = -rows[0]
        sides = [
            batch_gradient(risk, plan, PointTable(X, np.ones(4)), np.arange(4), np.zeros(2)) for X in (rows, other)
        ]
        ratio = float(np.linalg.norm(np.subtract(*sides))) / claimed(plan, "swap")
        assert 0.99 <= ratio <= 1 + 1e-9


# --- designs


@pytest.mark.parametrize(
    ("positives", "batch", "sizes"),
    [(50, 10, (5, 5)), (3, 10, (3, 7)), (97, 10, (7, 3)), (3, 100, (3, 97)), (50, 2, (1, 1)), (1, 9, (1, 8))],
)
def test_classes_are_as_even_in_a_batch_as_they_can_be(positives, batch, sizes) -> None:
    assert balanced(TableSize(100, positives), batch) == sizes


def test_rates_and_weights_of_designs() -> None:
    risk = PAIRS[1]
    plan = design(risk, TableSize(100, 10), 2, 8, "auto")
    assert (plan.sampling, plan.sizes, plan.weight) == ("stratified", (4, 4), 1 / 16)
    assert [query.rate for query in plan.queries] == [4 / 10, 4 / 90]
    assert plan.queries[0].swap == pytest.approx(2.0 / 4, rel=1e-6)
    uniform = design(PAIRS[0], TableSize(100), 2, 8, "auto")
    assert uniform.queries[0].rate == 0.08
    assert uniform.queries[0].out == uniform.queries[0].swap == pytest.approx(2.0 * (1 - 1 / 100) / 8, rel=1e-6)
    assert uniform.mass == pytest.approx((1 - 1 / 100) / 2)
    assert isinstance(uniform.sampler(small_table(PAIRS[0], 100, 2, 0)), Subsets)
    coins = design(POINTS[3], TableSize(100), 2, 8, "auto")
    assert coins.sampling == "poisson"
    sampler = coins.sampler(small_table(POINTS[3], 90, 2, 0))
    assert isinstance(sampler, Coins)
    assert (sampler.n, sampler.rate) == (90, 0.08)  # by the declared number, not by the private one
    assert design(PAIRS[0], TableSize(5), 2, 8, "auto").queries[0].rate == 1.0


def test_tables_of_private_length_take_coins_only() -> None:
    with pytest.raises(UnsuitableError, match="does not suit adjacency='add-remove'"):
        check_sampling("uniform", POINTS[3])


def test_batches_without_a_pair_or_a_record_have_no_gradient() -> None:
    for risk, rows in ((PAIRS[0], [3]), (PAIRS[4], [3]), (PAIRS[0], []), (POINTS[0], [])):
        plan = design(risk, TableSize(N), 2, 4, "poisson")
        gradient = batch_gradient(
            risk, plan, small_table(risk, 9, 2, 0), np.array(rows, dtype=np.int32), some_w(risk, 2)
        )
        assert not gradient.any()
