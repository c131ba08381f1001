"""dp-sgd, attacked: whole runs told apart, by the likelihood ratio of their noisy gradients and by what users get.

The neighbours are those at which a batch moves most, so that with half the noise the promise is broken and seen to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from diptych import Adjacency, Budget, SmoothedHinge
from diptych.algorithms import DPSGD
from diptych.algorithms import batch_descent as module
from diptych.algorithms.batches import batch_gradient
from diptych.audit import clopper_pearson, distinguish
from diptych.noise import SeededBits, gaussian
from diptych.risks import MetricRisk, MetricTable, PairTable, PointRisk, PointTable, RankingRisk
from diptych.sets import L2Ball, PSDFrobeniusBall
from tests.statistics import ALARM

STEEP = SmoothedHinge(1.0, 0.1)  # its slope is at its bound for most margins
BUDGET = Budget(1.0, 1e-2)
REPLACE, WITHIN, REMOVED = Adjacency
SHORT = 1e-6  # steps so short that all of them look at the same w


@dataclass(frozen=True)
class Case:
    """An algorithm, a risk, and neighbours: the same rows and labels but for the last record."""

    name: str
    algorithm: DPSGD
    risk: Any
    tables: tuple[Any, Any]

    def __str__(self) -> str:
        return self.name


def lines(n: int) -> np.ndarray:
    """Rows on the line, all at one end of the ball."""
    return np.ones((n, 1))


def pair_tables(n: int, ups: int, *, relabelled: bool) -> tuple[PairTable, PairTable]:
    """Against records of the other class at one end, a record at the other end; or with their label, beside them."""
    X, labels = lines(n), np.arange(n) >= n - ups
    far = X.copy()
    far[-1] = -1.0
    near, other = X.copy(), labels.copy()
    if relabelled:
        other[-1] = not labels[-1]
    return PairTable(far, labels), PairTable(near, other)


def point_tables(n: int, declared: int | None = None, others: float = 0.0) -> tuple[PointTable, PointTable]:
    """Others at the centre pull at nothing, so their number hides nothing; at the far end they pull most."""
    X, y = np.full((n, 1), others), np.ones(n)
    X[-1] = 1.0
    if declared is not None:
        return PointTable(X, y, declared), PointTable(X[:-1], y[:-1], declared)
    other = X.copy()
    other[-1] = -1.0
    return PointTable(X, y), PointTable(other, y)


def metric_tables(n: int) -> tuple[MetricTable, MetricTable]:
    X = lines(n)
    X[-1] = -1.0
    same, new = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    new[-1] = 1
    return MetricTable(X, same), MetricTable(X, new)


def case(name: str, batch: int, sampling: str, risk: Any, tables: tuple[Any, Any], steps: int = 8) -> Case:
    return Case(name, DPSGD(batch, sampling, steps, SHORT), risk, tables)


RANKING = {one: RankingRisk(STEEP, 0.0, L2Ball(1.0), one) for one in (REPLACE, WITHIN)}
CASES = [
    case("pair a step", 2, "uniform", RANKING[REPLACE], pair_tables(6, 1, relabelled=True)),
    case("pairs, uniform", 3, "uniform", RANKING[REPLACE], pair_tables(6, 1, relabelled=True)),
    case("pairs, all records", 4, "uniform", RANKING[REPLACE], pair_tables(4, 1, relabelled=True)),
    case("pairs, stratified", 4, "stratified", RANKING[WITHIN], pair_tables(9, 3, relabelled=False)),
    case("pairs, poisson", 30, "poisson", RANKING[REPLACE], pair_tables(40, 1, relabelled=True)),
    case("points, uniform", 1, "uniform", PointRisk(STEEP, 0.0, L2Ball(0.05), REPLACE), point_tables(5, others=-1.0)),
    case("points, poisson", 2, "poisson", PointRisk(STEEP, 0.0, L2Ball(0.05), REPLACE), point_tables(8)),
    case("points come and go", 2, "poisson", PointRisk(STEEP, 0.0, L2Ball(0.05), REMOVED), point_tables(8, 8)),
    case("metric, uniform", 2, "uniform", MetricRisk(STEEP, 0.0, PSDFrobeniusBall(0.3)), metric_tables(5)),
    case("metric, poisson", 30, "poisson", MetricRisk(STEEP, 0.0, PSDFrobeniusBall(0.3)), metric_tables(40)),
]


@dataclass(frozen=True)
class Steps:
    """Runs of all steps at the start: gradients of batches as they are drawn, with the planned noise."""

    case: Case
    factor: float = 1.0

    def plan(self) -> Any:
        table = self.case.tables[0]
        return self.case.algorithm.plan(self.case.risk, table.size(self.case.risk.adjacency), 1, BUDGET)

    def gradients(self, table: Any, runs: int, seed: int) -> np.ndarray:
        """Without noise, for every step of every run; batches of records that are alike are looked at once."""
        plan = self.plan()
        _, sorts = np.unique(np.c_[table.X, table.codes], axis=0, return_inverse=True)
        batches = plan.batches.sampler(table).draw(runs * plan.steps, SeededBits(seed))
        steps = np.repeat(np.arange(runs * plan.steps), np.diff(batches.starts))
        drawn = np.zeros((runs * plan.steps, sorts.max() + 1), dtype=np.int64)
        np.add.at(drawn, (steps, sorts[batches.rows]), 1)
        kinds, which = np.unique(drawn, axis=0, return_inverse=True)
        places = [np.flatnonzero(sorts == sort).astype(np.int32) for sort in range(kinds.shape[1])]
        batch = [np.concatenate([place[:k] for place, k in zip(places, kind, strict=True)]) for kind in kinds]
        start = plan.risk.start(1)
        quiet = np.array([batch_gradient(plan.risk, plan.batches, table, rows, start)[0] for rows in batch])
        return np.asarray(quiet[which.ravel()].reshape(runs, plan.steps))

    def noisy(self, table: Any, runs: int, seed: int) -> np.ndarray:
        quiet = self.gradients(table, runs, seed)
        scale = self.factor * self.plan().noise.scale
        return quiet + scale * gaussian(quiet.size, SeededBits(seed + 1000)).reshape(quiet.shape)

    def ratio(self, seen: np.ndarray) -> np.ndarray:
        """Log likelihood ratio of the neighbours, by the laws of their gradients, found from a large sample."""
        scale, total = self.factor * self.plan().noise.scale, 0.0
        for sign, table in zip((1.0, -1.0), self.case.tables, strict=True):
            values, counts = np.unique(self.gradients(table, 20_000, 77).round(12), return_counts=True)
            logs = -0.5 * ((seen[..., None] - values) / scale) ** 2 + np.log(counts / counts.sum())
            total = total + sign * np.logaddexp.reduce(logs, axis=-1)
        return np.asarray(total.sum(axis=1))


def spent(steps: Steps, runs: int) -> tuple[float, float]:
    """A surely spent delta at the promised epsilon, in either direction, and the estimate."""
    a, b = (steps.ratio(steps.noisy(table, runs, seed)) for seed, table in enumerate(steps.case.tables))
    worst = (-1.0, -1.0)
    for left, right in ((a, b), (-b, -a)):
        hits, misses = int((left > BUDGET.epsilon).sum()), int((right > BUDGET.epsilon).sum())
        low = (
            clopper_pearson(hits, runs, ALARM / 4)[0]
            - math.exp(BUDGET.epsilon) * clopper_pearson(misses, runs, ALARM / 4)[1]
        )
        worst = max(worst, (low, (hits - math.exp(BUDGET.epsilon) * misses) / runs))
    return worst


@pytest.mark.parametrize("case", CASES, ids=str)
def test_runs_spend_what_was_promised_and_half_the_noise_is_caught(case) -> None:
    honest, caught = (spent(Steps(case, factor), 20_000) for factor in (1.0, 0.5))
    null = spent(Steps(replace(case, tables=(case.tables[0], case.tables[0]))), 4_000)
    print(f"{case}: delta {honest[1]:.4f} of {BUDGET.delta}, surely {honest[0]:.4f}; half the noise {caught[0]:.4f}")
    assert honest[0] <= BUDGET.delta < caught[0]
    assert null[0] <= 0.0


@pytest.mark.audit
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_runs_spend_what_was_promised(case) -> None:
    honest, caught = (spent(Steps(case, factor), 200_000) for factor in (1.0, 0.7))
    print(f"{case}: delta {honest[1]:.5f} of {BUDGET.delta}, surely {honest[0]:.5f}; less noise {caught[0]:.5f}")
    assert honest[0] <= BUDGET.delta < caught[0]


# --- whole releases, as users run them


@pytest.mark.parametrize("case", [CASES[1], CASES[3], CASES[6]], ids=str)
def test_releases_spend_no_more_than_promised(case, monkeypatch) -> None:
    """Steps long enough to move; a tenth of the noise is caught in what users get."""
    algorithm = replace(case.algorithm, step_size=0.01, average="last")
    plans: dict[str, Any] = {}
    plan = DPSGD.plan

    def once(self: DPSGD, *given: Any) -> Any:
        key = repr(given)
        if key not in plans:
            plans[key] = plan(self, *given)
        return plans[key]

    def told_apart(pair: tuple[Any, Any], runs: int, seed: int) -> Any:
        sources = [SeededBits(seed + side) for side in range(2)]
        sides = [
            lambda k, table=table, source=source: algorithm.run(case.risk, table, BUDGET, source).coef
            for table, source in zip(pair, sources, strict=True)
        ]
        return distinguish(*sides, runs, BUDGET.delta, ALARM)

    monkeypatch.setattr(DPSGD, "plan", once)
    honest, null = told_apart(case.tables, 500, 0), told_apart((case.tables[0], case.tables[0]), 500, 2)
    draw = module.gaussian
    monkeypatch.setattr(module, "gaussian", lambda size, source: 0.1 * draw(size, source))
    caught = told_apart(case.tables, 500, 4)
    print(
        f"{case}: epsilon at least {honest.epsilon:.2f} of {BUDGET.epsilon}; a tenth of the noise {caught.epsilon:.2f}"
    )
    assert honest.epsilon <= BUDGET.epsilon < caught.epsilon
    assert (null.epsilon, null.mu) == (0.0, 0.0)
