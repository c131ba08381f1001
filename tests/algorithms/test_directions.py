"""directions: the Euclidean metric stretched along what a private ranking finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Budget, Directions, GDOutput, Hinge, Logistic, NoisyGD, SquaredHinge
from diptych.algorithms import UnsuitableError
from diptych.algorithms.directions import stretched
from diptych.noise import SeededBits
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.sets import L2Ball, PSDFrobeniusBall, PSDTraceBall, unpack
from diptych.spec.adjacency import OF_PAIRS
from tests.descents import APPROXIMATE, REPLACE, WITHIN

PURE = Budget(1.0)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)


def table_of(classes: int, n: int = 60, d: int = 3) -> MetricTable:
    rng = np.random.default_rng(0)
    codes = np.arange(n) % classes
    X = 0.2 * rng.normal(size=(n, d))
    X[:, 0] += codes / classes
    return MetricTable(X / np.linalg.norm(X, axis=1).max(), codes, classes)


@adjacencies
@pytest.mark.parametrize("budget", [APPROXIMATE, PURE], ids=str)
@pytest.mark.parametrize("held", [PSDFrobeniusBall(1.7), PSDTraceBall(0.4)], ids=str)
def test_two_classes_are_a_ranking_and_a_stretch(adjacency, budget, held) -> None:
    """The same bits give the ranking itself: its direction, and its guarantee."""
    table, risk = table_of(2), MetricRisk(Logistic(1.0, 0.5), 0.1, held, adjacency)
    algorithm = Directions(3.0, steps=4, step_size=0.1)
    release = algorithm.run(risk, table, budget, SeededBits(1))
    along = (GDOutput if budget.pure else NoisyGD)(4, 0.1)
    ranking = RankingRisk(Logistic(1.0, 0.5), 0.1, L2Ball(6.0), adjacency)
    want = along.run(ranking, PairTable(table.X, table.codes == 1), budget, SeededBits(1))
    v = want.coef / np.linalg.norm(want.coef)
    W = unpack(release.coef)
    assert held.norm(release.coef) == pytest.approx(held.radius, rel=1e-12)
    np.testing.assert_allclose(W / W[1, 1], (M := np.eye(3) + 8.0 * np.outer(v, v)) / M[1, 1], rtol=1e-9, atol=1e-12)
    assert release.guarantee.sensitivity == want.guarantee.sensitivity
    assert release.guarantee.noise_scale == want.guarantee.noise_scale
    assert release.guarantee.released == risk.released
    assert release.guarantee.mechanism.startswith("Euclidean metric stretched along directions of a ranking: 4 steps")
    assert release.trace["stretch"] == 3.0


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_without_privacy_distances_along_the_classes_grow(classes) -> None:
    table = table_of(classes, 300)
    release = Directions(2.0).run(MetricRisk(Hinge()), table, Budget(math.inf), SeededBits(0))
    W = unpack(release.coef)
    W /= np.linalg.eigvalsh(W)[0]
    assert np.abs(np.linalg.eigh(W)[1][0, -1]) > 0.9
    if classes == 2:
        assert np.trace(W) == pytest.approx(3 + 3, rel=1e-9)
    assert "carries no privacy guarantee" in str(release.guarantee)


def test_noise_of_many_classes_hides_the_stacked_gradient() -> None:
    """Private labels: sqrt(3) times one ranking's sensitivity; public ones: Lemma 1 by hand."""
    steps = Directions(steps=1, step_size=0.01)
    sizes = {}
    for classes in (2, 3, 4):
        table = table_of(classes, 60)
        for adjacency in OF_PAIRS:
            release = steps.run(MetricRisk(Hinge(), adjacency=adjacency), table, APPROXIMATE, SeededBits(0))
            sizes[classes, adjacency] = release.guarantee.sensitivity
    assert sizes[2, REPLACE] == pytest.approx(2 * 59 / 60**2, rel=1e-3)
    assert sizes[3, REPLACE] == pytest.approx(math.sqrt(3.0) * sizes[2, REPLACE], rel=1e-3)
    assert sizes[4, REPLACE] == pytest.approx(sizes[3, REPLACE], rel=1e-3)
    assert sizes[2, WITHIN] == pytest.approx(2 / 30, rel=1e-3)
    assert sizes[3, WITHIN] == pytest.approx(2 * math.sqrt(1 / 20**2 + 2 / 40**2), rel=1e-3)
    assert sizes[4, WITHIN] == pytest.approx(2 * math.sqrt(1 / 15**2 + 3 / 45**2), rel=1e-3)


@adjacencies
def test_declared_classes_without_records_do_no_harm(adjacency) -> None:
    plain = table_of(2)
    table = MetricTable(plain.X, plain.codes, 4)
    release = Directions().run(MetricRisk(Hinge(), adjacency=adjacency), table, APPROXIMATE, SeededBits(0))
    assert np.all(np.isfinite(release.coef))


def test_no_direction_at_all_is_the_euclidean_metric() -> None:
    np.testing.assert_array_equal(unpack(stretched(np.zeros((2, 3)), 5.0)), np.eye(3))
    np.testing.assert_array_equal(unpack(stretched(np.ones((2, 3)), 1.0)), np.eye(3))


def test_a_loss_whose_slope_grows_gets_a_ball() -> None:
    for budget in (APPROXIMATE, PURE):
        assert Directions().ranking(MetricRisk(SquaredHinge()), 3).constraint == L2Ball(8.0)
        release = Directions().run(MetricRisk(SquaredHinge()), table_of(3), budget, SeededBits(0))
        assert np.all(np.isfinite(release.coef))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stretch": 0.5}, "stretch of directions must be a number from 1 to 1000; got 0.5"),
        ({"stretch": math.nan}, "stretch of directions must be a number"),
        ({"stretch": "much"}, "stretch of directions must be a number"),
        ({"steps": 0}, "steps of directions must be a whole number"),
        ({"step_size": -1.0}, "step_size of directions must be a number"),
    ],
)
def test_wrong_settings_are_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        Directions(**settings)


def test_what_the_proof_does_not_cover_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="loss='hinge' has a kink"):
        Directions().check(MetricRisk(Hinge()), PURE)
    with pytest.raises(UnsuitableError, match="constants='paper' does not suit directions.* use 'defended'"):
        Directions().check(MetricRisk(Logistic()), APPROXIMATE, "paper")
