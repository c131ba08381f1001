"""One record against all earlier ones, which online descent asks of a risk, against explicit pairs."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.audit.explicit import explicit_gradients, explicit_metric_gradients
from diptych.losses import Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.sets import PSDTraceBall, pack, unpack
from diptych.spec import OF_PAIRS

N = 12


def rows_of(rng, d=3) -> np.ndarray:
    X = rng.normal(size=(N, d))
    return X / np.linalg.norm(X, axis=1).max()


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), SmoothedHinge(), Squared(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
def test_ranking(loss, adjacency, rng) -> None:
    """Record t adds these pairs to those of the records before it; their weight is 1/t whatever the adjacency."""
    table, w = PairTable(rows_of(rng), rng.random(N) < 0.4), 2 * rng.normal(size=3)
    risk = RankingRisk(loss, 0.7, adjacency=adjacency)
    for t in range(1, N):
        sums = [
            explicit_gradients(loss, table.X[None, :k], table.positive[None, :k], w[None], 1.0)[0] for k in (t, t + 1)
        ]
        np.testing.assert_allclose(risk.newest(w, table, t), (sums[1] - sums[0]) / t, atol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), SmoothedHinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_metric(loss, offset, rng) -> None:
    table = MetricTable(rows_of(rng), rng.integers(3, size=N))
    risk = MetricRisk(loss, 0.7, PSDTraceBall(2.0), offset=offset)
    half = rng.normal(size=(3, 3))
    w = risk.constraint.project(pack(half @ half.T))

    def total(k: int) -> np.ndarray:
        if k < 2:
            return np.zeros(6)
        found = explicit_metric_gradients(risk, table.X[None, :k], table.codes[None, :k], unpack(w)[None])[0]
        return pack(found) * k * (k - 1) / 2

    for t in range(1, N):
        np.testing.assert_allclose(risk.newest(w, table, t), (total(t + 1) - total(t)) / t, atol=1e-12)


def test_later_records_do_not_matter(rng) -> None:
    rows, positive = rows_of(rng), rng.random(N) < 0.4
    other = rows.copy()
    other[7:] = 0.0
    w = rng.normal(size=3)
    risk = RankingRisk(Logistic())
    one, two = (risk.newest(w, PairTable(X, positive), 6) for X in (rows, other))
    np.testing.assert_array_equal(one, two)
