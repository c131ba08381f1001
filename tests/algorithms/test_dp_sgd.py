"""dp-sgd: replayed step by step, its noise and schedules, what it refuses, and its place in the estimators."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from diptych import Adjacency, AUCClassifier, Bounds, Budget, MetricLearner
from diptych.accounting import needed_scale, sampled_sigma
from diptych.algorithms import ALGORITHMS, DPSGD, UnsuitableError
from diptych.algorithms import paper_dp_sgd as paper
from diptych.algorithms.batch_descent import MOST_EXPLICIT
from diptych.algorithms.batches import batch_gradient
from diptych.algorithms.dp_sgd import LADDER, SMALLEST_BATCH
from diptych.losses import Absolute, Hinge, Logistic, QNormHinge, SmoothedHinge, Squared, SquaredError
from diptych.noise import SecureBits, SeededBits, gaussian
from diptych.risks import MetricRisk, PairTable, PointRisk, PointTable, RankingRisk, minimise
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import TableSize
from tests.descents import REPLACE, WITHIN, name_of, table_for

BUDGET, OPENLY = Budget(1.0, 1e-3), Budget(math.inf)
REMOVED = Adjacency.ADD_REMOVE
RISKS = [
    RankingRisk(Logistic(1.0, 0.5), 0.0, Free(), REPLACE),
    RankingRisk(Hinge(), 0.2, L2Ball(0.3), WITHIN),
    RankingRisk(Squared(), 0.2, Free(), REPLACE),
    RankingRisk(QNormHinge(), 0.0, L2Ball(1.0), REPLACE),
    MetricRisk(Hinge(), 0.0, PSDFrobeniusBall(1.0), REPLACE),
    MetricRisk(Logistic(), 0.1, PSDTraceBall(2.0), WITHIN),
    PointRisk(Logistic(), 0.1, Free(), REPLACE),
    PointRisk(SmoothedHinge(), 0.0, L2Ball(1.0), WITHIN),
    PointRisk(SquaredError(), 0.1, L2Ball(1.0), REMOVED),
    PointRisk(Absolute(), 0.0, L2Ball(1.0), REPLACE),
]
risks = pytest.mark.parametrize("risk", RISKS, ids=name_of)


def table_of(risk, n: int, d: int = 2, seed: int = 0):
    if not isinstance(risk, PointRisk):
        return table_for(risk, n, d, seed)
    pairs = table_for(RankingRisk(Logistic()), n, d, seed)
    return PointTable(pairs.X, np.where(pairs.positive, 1.0, -1.0), n if risk.adjacency is REMOVED else None)


# --- what is released


@risks
@pytest.mark.parametrize("average", ["tail", "all", "last"])
@pytest.mark.parametrize("sampling", ["auto", "poisson"])
def test_the_release_is_an_average_of_noisy_steps(risk, average, sampling, monkeypatch) -> None:
    """The same bits again: the batches of some steps, then their noise; compiled and plain steps agree."""
    monkeypatch.setattr("diptych.algorithms.batch_descent.CHUNK", 32)
    steps, table = 7, table_of(risk, 25)
    algorithm = DPSGD(batch=8, sampling=sampling, steps=steps, step_size=0.1, average=average)
    release = algorithm.run(risk, table, BUDGET, SeededBits(1))
    plan = algorithm.plan(risk, table.size(risk.adjacency), 2, BUDGET)
    source, sampler, w, path = SeededBits(1), plan.batches.sampler(table), plan.risk.start(2), []
    while len(path) < (steps - 1 if average == "all" else steps):
        count = min(4, (steps - 1 if average == "all" else steps) - len(path))
        batches = sampler.draw(count, source)
        noise = plan.noise.scale * gaussian(count * w.size, source).reshape(count, -1)
        for k in range(count):
            rows = batches.rows[batches.starts[k] : batches.starts[k + 1]]
            gradient = batch_gradient(plan.risk, plan.batches, table, rows, w) + risk.regularization * w
            w = plan.risk.constraint.project(w - 0.1 * (gradient + noise[k]))
            path.append(w)
    expected = {"tail": path[3:], "last": path[-1:], "all": [plan.risk.start(2), *path]}[average]
    np.testing.assert_allclose(release.coef, np.mean(expected, axis=0), rtol=1e-7, atol=1e-9)
    guarantee = release.guarantee
    assert (guarantee.sensitivity, guarantee.noise_scale) == (plan.noise.sensitivity, plan.noise.scale)
    assert guarantee.events[0].quantity == "the gradient of a batch, in each of 7 steps"
    assert any("double precision" in one for one in guarantee.assumptions)
    assert release.trace == {
        "regularization": risk.regularization,
        "steps": 7,
        "step_size": 0.1,
        "sampling": plan.batches.sampling,
        "batch": 8,
    }


@risks
@pytest.mark.parametrize("sampling", ["auto", "uniform", "poisson"])
@pytest.mark.parametrize("steps", [1, 20])
def test_the_noise_is_what_the_sampler_needs(risk, sampling, steps) -> None:
    if risk.adjacency is REMOVED and sampling == "uniform":
        sampling = "auto"
    size = table_of(risk, 60).size(risk.adjacency)
    plan = DPSGD(batch=8, sampling=sampling, steps=steps, step_size=0.1).plan(risk, size, 2, BUDGET)
    scales = [
        query.sensitivity * sampled_sigma(query.unit, steps, BUDGET.epsilon, BUDGET.delta)
        for query in plan.batches.queries
    ]
    assert plan.noise.scale == pytest.approx(max(scales), rel=1e-9)
    assert plan.noise.scale >= max(scales)
    assert plan.batches.words in plan.noise.sampler


@pytest.mark.parametrize("batch", [6, MOST_EXPLICIT + 1])
def test_large_batches_of_rankings_take_the_kernels_for_all_pairs(batch) -> None:
    """And give the same."""
    n = MOST_EXPLICIT + 50
    risk, table = RISKS[0], table_for(RISKS[0], MOST_EXPLICIT + 50)
    algorithm = DPSGD(batch=batch, steps=3, step_size=0.1)
    release = algorithm.run(risk, table, Budget(1.0, 1e-6), SeededBits(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("diptych.algorithms.batch_descent.MOST_EXPLICIT", n if batch > MOST_EXPLICIT else 0)
        again = algorithm.run(risk, table, Budget(1.0, 1e-6), SeededBits(2))
    np.testing.assert_allclose(release.coef, again.coef, rtol=1e-8)


# --- without privacy


@pytest.mark.parametrize("risk", [RISKS[2], RISKS[6], RankingRisk(Logistic(), 0.2, Free(), WITHIN)], ids=name_of)
def test_without_privacy_batches_of_everything_lead_to_the_minimiser(risk) -> None:
    table = table_of(risk, 40, 3)
    release = DPSGD(batch=40, steps=3000, step_size=0.2, average="last").run(risk, table, OPENLY, SecureBits())
    np.testing.assert_allclose(release.coef, minimise(risk, table, 1e-10).w, atol=1e-4)
    assert not release.guarantee.private


def test_without_privacy_small_batches_come_near_the_optimum() -> None:
    risk = RankingRisk(Logistic(), 0.2)
    table = table_for(risk, 200, 3)
    best = risk.value(minimise(risk, table, 1e-9).w, table)
    value = risk.value(DPSGD(batch=8, steps=20_000, step_size=0.1).run(risk, table, OPENLY, SeededBits(3)).coef, table)
    assert best <= value <= best + 1e-3


# --- schedules


@risks
def test_default_schedules_are_public_and_bounded(risk) -> None:
    for n in (10, 5000):
        size = TableSize(n, n // 3 if risk.adjacency is WITHIN and not isinstance(risk, MetricRisk) else None)
        plan = DPSGD().plan(risk, size, 2, BUDGET)
        assert plan.steps in LADDER
        assert plan.batches.size <= n
        assert plan.batches.size >= min(n, SMALLEST_BATCH)
        if plan.steps > LADDER[0]:
            gathered = plan.step_size * math.sqrt(plan.steps * risk.dimension(2)) * plan.noise.scale
            assert gathered <= 0.5 * plan.risk.span * (1 + 1e-9)


def test_more_budget_buys_more_steps() -> None:
    size = TableSize(20_000)
    steps = [DPSGD().plan(RISKS[0], size, 20, Budget(epsilon, 1e-8)).steps for epsilon in (0.05, 0.5, 5.0)]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


@pytest.mark.parametrize(
    ("name", "exponent", "steps", "length"),
    [
        ("general", 1.0, 100, 0.1),
        ("general", 0.5, 100, 0.1),
        ("general", 0.0, 10_000, 100**-1.5),
        ("general", 0.25, 100 ** (1.75 / 1.25), 100 ** (-2.25 / 2.5)),
        ("low-noise", 1.0, 100, 1.0),
        ("low-noise", 0.5, 100 ** (4 / 3), 100 ** (-1.75 / 3)),
        ("low-noise", 0.0, 10_000, 100**-1.5),
    ],
)
def test_published_schedules_without_privacy(name, exponent, steps, length) -> None:
    """Theorems 3 and 6 (alpha = 1), 4 and 7, for n = 100; a long step is cut to min{2/L, 1}."""
    got = paper.schedule(name, paper.Curve(exponent, 1.0), 100, 3, OPENLY)
    assert got[0] == math.ceil(steps)
    assert got[1] == pytest.approx(length)
    assert paper.schedule(name, paper.Curve(exponent, 1e5), 100, 3, OPENLY)[1] == pytest.approx(2e-5)


def test_published_schedules_with_privacy() -> None:
    budget = Budget(0.01, 1e-5)
    noisy = 0.01 / math.sqrt(3 * math.log(1e5))
    for name in paper.SCHEDULES:
        assert paper.schedule(name, paper.Curve(1.0, 1.0), 10_000, 3, budget) == (
            10_000,
            pytest.approx(min(0.01, noisy)),
        )
    steps, length = paper.schedule("low-noise", paper.Curve(0.0, 1.0), 10_000, 3, budget)
    assert steps == 10**8
    assert length == pytest.approx(min(10_000**-1.5, noisy * 1e4 / 1e8))


def test_published_steps_follow_the_mean_gradient_of_the_pairs() -> None:
    """In a risk's units, where pairs with private labels weigh half as much, steps are twice as long."""
    algorithm = DPSGD(batch=2, step_size="general", average="all")
    ranking = algorithm.plan(RankingRisk(Logistic(), 0.0, L2Ball(1.0)), TableSize(400), 2, BUDGET)
    noisy = 1.0 / math.sqrt(2 * math.log(1e3))
    assert (ranking.steps, ranking.step_size) == (400, pytest.approx(2 * min(0.05, noisy) / (1 - 1 / 400)))
    points = DPSGD(batch=1, step_size="general").plan(
        PointRisk(Logistic(), 0.0, L2Ball(1.0)), TableSize(400), 2, BUDGET
    )
    assert (points.steps, points.step_size) == (400, pytest.approx(0.05))
    kinked = DPSGD(batch=2, step_size="general").plan(RankingRisk(Hinge(), 0.0, L2Ball(1.0)), TableSize(20), 2, BUDGET)
    assert kinked.steps == 400
    with pytest.raises(ValueError, match="steps of dp-sgd must be a whole number from 1 to 10\\^7"):
        DPSGD(batch=2, step_size="general").plan(RankingRisk(Hinge(), 0.0, L2Ball(1.0)), TableSize(10**5), 2, BUDGET)


# --- the paper's constants


@pytest.mark.parametrize(
    ("epsilon", "records", "scale"),
    [(0.5, 1, 13.65), (1.0, 1, 5.40), (2.0, 1, 3.20), (4.0, 1, 2.04), (1.0, 2, 6.37), (2.0, 2, 3.50), (4.0, 2, 2.18)],
)
def test_published_noise_on_the_papers_own_simulation(epsilon, records, scale) -> None:
    """The least over all beta that qualify, each checked by hand; never less than 2.68 G^2."""
    n, steps, delta = 5000, 1000, 1 / 5000**2
    found = paper.published_scale(records, steps, n, Budget(epsilon, delta))
    assert found == pytest.approx(scale, abs=0.01)
    betas = np.concatenate((np.geomspace(1e-7, 0.5, 4000), 1 - np.geomspace(1e-7, 0.5, 4000)))
    least = math.inf
    for beta in betas:
        order = math.log(1 / delta) / ((1 - beta) * epsilon) + 1
        square = 14 * records**2 * steps / (beta * n**2 * epsilon) * order
        room = n / (records * order * (1 + square / 4))
        if square >= 2.68 and order - 1 <= square / 6 * math.log(room):
            least = min(least, math.sqrt(square))
    assert found == pytest.approx(least, rel=2e-3)


def test_where_no_beta_qualifies_it_is_said() -> None:
    with pytest.raises(
        UnsuitableError, match=r"has no beta in \(0, 1\) that meets the side conditions for pairs at n=5000"
    ):
        paper.published_scale(2, 1000, 5000, Budget(0.5, 1 / 5000**2))


def test_published_noise_is_more_than_enough() -> None:
    for risk, batch in ((RankingRisk(Logistic(), 0.0, L2Ball(1.0)), 2), (PointRisk(Logistic(), 0.0, L2Ball(1.0)), 1)):
        algorithm, budget = DPSGD(batch, "uniform", 1000, 0.01, "all"), Budget(2.0, 1 / 5000**2)
        published = algorithm.plan(risk, TableSize(5000), 3, budget, "paper")
        ours = algorithm.plan(risk, TableSize(5000), 3, budget)
        assert published.defended
        assert f"Algorithm {batch}" in published.noise.accountant
        assert published.noise.scale > 2.0 * ours.noise.scale
        unit = published.risk.certificate(TableSize(5000), tilt=math.inf).pair_lipschitz * published.batches.mass
        assert published.noise.scale == pytest.approx(unit * paper.published_scale(batch, 1000, 5000, budget))


@pytest.mark.parametrize(
    ("algorithm", "risk"),
    [
        (DPSGD(batch=3), RISKS[0]),
        (DPSGD(batch=2, sampling="poisson"), RISKS[0]),
        (DPSGD(batch=2, sampling="uniform"), RISKS[1]),
        (DPSGD(batch=2), RISKS[6]),
        (DPSGD(), RISKS[0]),
    ],
)
def test_the_papers_constants_need_the_papers_algorithm(algorithm, risk) -> None:
    with pytest.raises(UnsuitableError, match="constants='paper' needs the paper's own dp-sgd: batch="):
        algorithm.check(risk, BUDGET, "paper")


# --- refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, "batch of dp-sgd must be a whole number of at least 1, or 'auto'; got 0"),
        ({"batch": True}, "batch of dp-sgd must be"),
        ({"batch": 2.5}, "batch of dp-sgd must be"),
        ({"sampling": "shuffled"}, "sampling of dp-sgd must be one of 'auto', 'uniform', 'stratified', 'poisson'; got"),
        ({"average": "best"}, "average of dp-sgd must be one of 'tail', 'all', 'last'; got 'best'"),
        ({"steps": 0}, "steps of dp-sgd must be a whole number"),
        ({"step_size": "quick"}, "step_size of dp-sgd must be a number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        DPSGD(**settings)


@pytest.mark.parametrize(
    ("algorithm", "risk", "budget", "message"),
    [
        (DPSGD(), RISKS[0], Budget(1.0), "delta=0 does not suit dp-sgd, whose noise is Gaussian"),
        (DPSGD(batch=1), RISKS[0], BUDGET, "batch=1 does not suit dp-sgd on pairs"),
        (DPSGD(sampling="stratified"), RISKS[0], BUDGET, "needs public labels and a ranking"),
        (DPSGD(sampling="stratified"), RISKS[5], BUDGET, "needs public labels and a ranking"),
        (DPSGD(sampling="uniform"), RISKS[8], BUDGET, "does not suit adjacency='add-remove'"),
        (DPSGD(), replace(RISKS[2], regularization=0.0), BUDGET, "radius is needed for dp-sgd with loss='squared'"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused_before_the_table_is_seen(algorithm, risk, budget, message) -> None:
    with pytest.raises(UnsuitableError, match=message):
        algorithm.run(risk, None, budget, SecureBits())


# --- nothing shows


@pytest.mark.parametrize("sampling", ["uniform", "poisson"])
def test_plans_and_traces_know_sizes_only(sampling) -> None:
    """Two tables with nothing in common but their size; one of them holds a single class."""
    risk, algorithm = RISKS[0], DPSGD(batch=4, sampling=sampling, steps=5, step_size=0.1)
    tables = [table_for(risk, 20, seed=1), PairTable(np.zeros((20, 2)), np.ones(20, dtype=bool))]
    one, other = (algorithm.run(risk, table, BUDGET, SeededBits(4)) for table in tables)
    assert str(one.guarantee) == str(other.guarantee)
    assert one.trace == other.trace


def test_tables_of_private_length_give_nothing_away() -> None:
    risk, algorithm = RISKS[8], DPSGD(batch=4, steps=5, step_size=0.1)
    X, y = np.full((30, 2), 0.5), np.ones(30)
    releases = [algorithm.run(risk, PointTable(X[:n], y[:n], 20), BUDGET, SeededBits(5)) for n in (1, 19, 30)]
    assert len({str(one.guarantee) for one in releases}) == 1
    assert len({str(one.trace) for one in releases}) == 1


# --- in the estimators


def test_it_is_registered() -> None:
    assert ALGORITHMS["dp-sgd"] is DPSGD


@pytest.mark.parametrize("algorithm", ["dp-sgd", DPSGD(batch=32, sampling="poisson", steps=10)], ids=name_of)
@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
def test_estimators_take_it(algorithm, adjacency) -> None:
    rng = np.random.default_rng(6)
    y = np.arange(600) % 3
    X = np.clip(rng.normal(size=(600, 3)) + y[:, None], -3.0, 4.0)
    settings = {"bounds": Bounds(norm=6.0), "algorithm": algorithm, "adjacency": adjacency, "random_state": 1}
    model = AUCClassifier(8.0, 1e-3, classes=(False, True), **settings).fit(X, y == 2)
    assert model.score(X, y == 2) > 0.8
    assert "stochastic gradient descent" in str(model.guarantee_)
    learner = MetricLearner(8.0, 1e-3, classes=(0, 1, 2), **settings).fit(X, y)
    assert learner.components_.shape == (3, 3)
    assert learner.guarantee_.epsilon == 8.0


def test_needed_scale_falls_with_the_budget_and_grows_with_steps() -> None:
    plan = DPSGD(batch=8, steps=5, step_size=0.1).plan(RISKS[0], TableSize(100), 2, BUDGET)
    scales = [needed_scale(Budget(epsilon, 1e-3), plan.batches.queries, 5) for epsilon in (0.1, 1.0, 10.0)]
    assert scales == sorted(scales, reverse=True)
    assert needed_scale(BUDGET, plan.batches.queries, 50) > needed_scale(BUDGET, plan.batches.queries, 5)


@pytest.mark.parametrize("n", [10**4, 10**6])
def test_default_plans_take_no_second(n) -> None:
    """Of two classes, with the number of steps to be found; measured 0.05 to 0.25 s."""
    risk, size = RankingRisk(Logistic(), 0.0, L2Ball(1.0), WITHIN), TableSize(n, n // 10)
    sampled_sigma.cache_clear()
    start = time.process_time()
    plan = DPSGD().plan(risk, size, 20, Budget(0.9, 1.0 / n**2))
    spent = time.process_time() - start
    assert plan.noise is not None
    assert spent < 1.0
