"""The projected minimiser against explicit pairs, optimality in the set, another solver and its own bound."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.losses import Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk, minimise, minimise_projected
from diptych.risks import projected as projected_module
from diptych.sets import L2Ball, PSDFrobeniusBall, PSDTraceBall, pack, unpack
from diptych.spec import OF_PAIRS

LOSSES = [Logistic(), Logistic(1.0, 0.1), SquaredHinge(), SmoothedHinge(), SmoothedHinge(1.0, 0.05), Hinge()]
SETS = [PSDFrobeniusBall(1.0), PSDTraceBall(1.0), PSDFrobeniusBall(20.0), PSDTraceBall(0.01)]
losses = pytest.mark.parametrize("loss", LOSSES, ids=str)
sets = pytest.mark.parametrize("constraint", SETS, ids=str)


def table_of(rng, n=60, d=4, classes=3) -> MetricTable:
    codes = rng.integers(classes, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * codes[:, None] * (np.arange(d) == 0)
    return MetricTable(X / np.linalg.norm(X, axis=1).max(), codes)


def plainly(risk: MetricRisk, table: MetricTable, steps: int) -> np.ndarray:
    """A long plain projected gradient run over explicit pairs."""
    i, j = np.triu_indices(table.n, 1)
    apart, sign = table.X[i] - table.X[j], np.where(table.codes[i] == table.codes[j], 1.0, -1.0)
    length = (
        8.0 / risk.certificate(table.size(risk.adjacency), table.d).smoothness
    )  # few pairs bend as the bound allows
    w = risk.start(table.d)
    for _ in range(steps):
        margins = sign * (risk.offset - np.einsum("ij,jk,ik->i", apart, unpack(w), apart))
        pulls = -sign * risk.curve.slope(margins) / len(i)
        gradient = pack(apart.T @ (pulls[:, None] * apart)) + risk.regularization * w
        w = risk.constraint.project(w - length * gradient)
    return w


def corners(constraint, d: int, rng, count: int = 200) -> list[np.ndarray]:
    """Points on the border of the set, of rank one and of full rank."""
    points = []
    for k in range(count):
        root = rng.normal(size=(d, 1 if k % 2 else d))
        points.append(constraint.project(1e3 * constraint.radius * pack(root @ root.T)))
    return points


@losses
@sets
@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_no_direction_into_the_set_leads_down(loss, constraint, regularization, rng) -> None:
    """<gradient, v - w> >= 0 for every v of the set, up to what the gap leaves; and the bound on the gap holds."""
    table = table_of(rng)
    risk = MetricRisk(loss, regularization, constraint)
    found = minimise_projected(risk, table, 1e-9)
    assert found.converged
    assert found.residual <= 1e-9
    assert 0.0 <= found.gap <= 1e-9 * (constraint.diameter + 1.0)
    value, gradient = risk.value(found.w, table), risk.gradient(found.w, table)
    np.testing.assert_allclose(constraint.project(found.w), found.w, atol=1e-12 * constraint.radius)
    if loss.differentiable:  # a kink rounded off over 1e-6 turns the gradient within as little
        for v in corners(constraint, table.d, rng):
            assert gradient @ (v - found.w) >= -1e-6 * constraint.radius
    for v in corners(constraint, table.d, rng, 20):
        for share in (1e-4, 1e-2, 1.0):
            assert risk.value(found.w + share * (v - found.w), table) >= value - found.gap - 1e-14


@pytest.mark.parametrize(
    "loss", [*LOSSES[:4], SmoothedHinge(1.0, 0.2)], ids=str
)  # sharper ones: too slow for plain steps
@pytest.mark.parametrize("constraint", SETS[:3], ids=str)
def test_against_a_long_plain_descent_over_explicit_pairs(loss, constraint, rng) -> None:
    table = table_of(rng, n=25, d=3)
    risk = MetricRisk(loss, 0.05, constraint)
    found = minimise_projected(risk, table, 1e-10)
    other = plainly(risk, table, 3000)
    assert found.steps <= 600
    assert risk.value(found.w, table) <= risk.value(other, table) + 1e-13
    np.testing.assert_allclose(found.w, other, atol=1e-5)


@pytest.mark.parametrize("loss", [Logistic(), SmoothedHinge(), Squared()], ids=str)
@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
@pytest.mark.parametrize("radius", [0.3, 2.0])
def test_other_pair_risks_agree_with_newtons_method(loss, adjacency, radius, rng) -> None:
    positive = rng.random(80) < 0.4
    X = rng.normal(size=(80, 4)) + positive[:, None]
    table = PairTable(X / np.linalg.norm(X, axis=1).max(), positive)
    risk = RankingRisk(loss, 0.01, L2Ball(radius), adjacency)
    found = minimise_projected(risk, table, 1e-10)
    assert found.converged
    np.testing.assert_allclose(found.w, minimise(risk, table, 1e-10).w, atol=1e-7)


@losses
@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_gap_is_honest_when_stopped_early(loss, most, rng) -> None:
    table = table_of(rng)
    risk = MetricRisk(loss, constraint=PSDFrobeniusBall(20.0))
    best, early = minimise_projected(risk, table, 1e-9), minimise_projected(risk, table, 1e-9, most)
    assert not early.converged
    assert early.residual > 1e-9
    assert early.steps <= most + len(projected_module.WIDTHS)
    excess = risk.value(early.w, table) - risk.value(best.w, table)
    assert 0.0 < excess <= early.gap


@pytest.mark.parametrize("n", [3, 5, 10, 40])
def test_a_hinge_on_few_records_is_settled_or_says_by_how_much_not(n, rng, monkeypatch) -> None:
    """Each optimum lies on kinks, along which a descent that knows only the sharp ones gets nowhere."""
    codes = rng.integers(3, size=n)
    X = np.sign(rng.normal(size=(n, 3)) + codes[:, None] * (np.arange(3) == 0))
    table = MetricTable((X + 0.1 * rng.normal(size=X.shape)) / 2.5, codes)
    risk = MetricRisk(Hinge(), constraint=PSDFrobeniusBall(20.0))
    found = minimise_projected(risk, table, 1e-9, 3000)
    assert found.gap <= 1e-3
    assert found.converged == (found.residual <= 1e-9)
    assert found.steps <= 3000
    monkeypatch.setattr(projected_module, "WIDTHS", ())
    direct = minimise_projected(risk, table, 1e-9, found.steps)
    assert risk.value(found.w, table) <= risk.value(direct.w, table) + found.gap


def test_the_wide_start_is_what_settles_a_sharp_hinge(monkeypatch) -> None:
    """Three records on which sharp kinks alone get nowhere."""
    rng = np.random.default_rng(1)
    rng.normal(size=(2, 2)), rng.integers(3, size=2)
    X, codes = rng.normal(size=(3, 5)), rng.integers(3, size=3)
    table = MetricTable(X / np.linalg.norm(X, axis=1).max(), codes)
    risk = MetricRisk(Hinge())
    assert minimise_projected(risk, table, 1e-9, 1000).converged
    monkeypatch.setattr(projected_module, "WIDTHS", ())
    assert not minimise_projected(risk, table, 1e-9, 1000).converged


def test_rows_of_one_class_draw_together_and_equal_rows_tell_nothing(rng) -> None:
    table = table_of(rng, classes=1)
    found = minimise_projected(MetricRisk(Logistic(), 0.1), table, 1e-9)
    np.testing.assert_allclose(found.w, 0.0, atol=1e-8)
    equal = MetricTable(np.tile([0.6, 0.2], (10, 1)), np.arange(10) % 2)
    still = minimise_projected(MetricRisk(Logistic()), equal, 1e-9)
    assert still.converged
    assert still.steps == 1
    np.testing.assert_allclose(still.w, MetricRisk(Logistic()).start(2), atol=1e-15)


@pytest.mark.parametrize("constraint", [PSDFrobeniusBall(1e-3), PSDTraceBall(1e-3)], ids=str)
def test_a_loss_that_does_not_bend_fills_the_set_along_what_tells_classes_apart(constraint) -> None:
    """Near pairs differ by (0, 0.2), far ones by (1, 0) or (1, 0.2): what the second axis adds cancels out."""
    X = np.array([[0.5, 0.1], [0.5, -0.1], [-0.5, 0.1], [-0.5, -0.1]])
    risk = MetricRisk(SmoothedHinge(5.0), constraint=constraint)
    found = minimise_projected(risk, MetricTable(X, np.array([0, 0, 1, 1])), 1e-9)
    assert found.converged
    np.testing.assert_allclose(unpack(found.w), np.diag([1e-3, 0.0]), atol=1e-11)


@pytest.mark.parametrize(
    ("risk", "tolerance", "message"),
    [
        (RankingRisk(Logistic(), 0.1), 1e-9, "constraint must be a bounded set"),
        (RankingRisk(Hinge(), 0.1, L2Ball(1.0)), 1e-9, "has a kink; minimise a smoothed-hinge instead"),
        (RankingRisk(Logistic(), 0.1, L2Ball(1.0)), 0.0, "tolerance must be above 0"),
    ],
)
def test_what_cannot_be_minimised_is_refused(risk, tolerance, message, rng) -> None:
    with pytest.raises(ValueError, match=message):
        minimise_projected(risk, PairTable(rng.normal(size=(6, 2)), np.arange(6) < 3), tolerance)
