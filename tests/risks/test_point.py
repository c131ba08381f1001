"""The risk of points against explicit records and finite differences, and its certificate against attack."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from diptych import (
    Absolute,
    Adjacency,
    Hinge,
    Huber,
    Logistic,
    QNorm,
    QNormHinge,
    SmoothedHinge,
    Squared,
    SquaredError,
    SquaredHinge,
)
from diptych.audit import search_gradient, search_minimiser, search_output
from diptych.audit.explicit import explicit_point_gradients
from diptych.losses import LOSSES, RESIDUAL_LOSSES
from diptych.risks import MetricRisk, PairRisk, PointRisk, PointTable, RankingRisk, minimise, minimise_projected
from diptych.risks.base import CurvedRisk
from diptych.sets import Free, L2Ball
from diptych.spec import TableSize

REPLACE, WITHIN, COMING = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS, Adjacency.ADD_REMOVE
CLASSES = [
    Logistic(),
    Logistic(1.0, 0.3),
    Squared(),
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(1.0, 0.3),
    QNormHinge(),
    QNormHinge(1.0, 0.5, 1.2),
]
NUMBERS = [SquaredError(), Huber(0.3), Absolute(), QNorm(), QNorm(0.5, 1.2)]
EVERY = [(loss, adjacency) for loss in CLASSES for adjacency in Adjacency]
EVERY += [(loss, adjacency) for loss in NUMBERS for adjacency in (REPLACE, COMING)]
every = pytest.mark.parametrize(("loss", "adjacency"), EVERY, ids=str)


def table_of(loss, rng, n=80, d=4, declared=100) -> PointTable:
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1).max()
    y = rng.uniform(-1, 1, n) if loss.residual else np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return PointTable(X, y, declared)


def size_of(adjacency, n, positives) -> TableSize:
    return TableSize(n, positives if adjacency is WITHIN else None)


@every
def test_value_gradient_and_hessian_are_those_of_the_records(loss, adjacency, rng) -> None:
    table, w, v, h = table_of(loss, rng), rng.normal(size=4), rng.normal(size=4), 1e-6
    risk, n = PointRisk(loss, 0.1, adjacency=adjacency), 100 if adjacency is COMING else 80
    scores = table.X @ w
    terms = loss.value(table.y - scores if loss.residual else table.y * scores)
    assert risk.value(w, table) == pytest.approx(terms.sum() / n + 0.05 * w @ w)
    one = (risk.value(w + h * v, table) - risk.value(w - h * v, table)) / (2 * h)
    assert risk.gradient(w, table) @ v == pytest.approx(one, rel=1e-5, abs=1e-6)
    if loss.smooth:
        two = (risk.gradient(w + h * v, table) - risk.gradient(w - h * v, table)) / (2 * h)
        local = risk.at(w, table)
        np.testing.assert_allclose(local.hessian_product(v), two, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(local.curvature_model() @ v + 0.1 * v, local.hessian_product(v), atol=1e-12)


def test_explicit_gradients_are_the_risks_own(rng) -> None:
    for loss in (Logistic(), Huber()):
        risk, w, codes = PointRisk(loss), rng.normal(size=(1, 2)), rng.integers(3 if loss.residual else 2, size=7)
        X = rng.normal(size=(7, 2)) / 4
        table = PointTable(X, codes - 1.0 if loss.residual else 2.0 * codes - 1.0)
        found = explicit_point_gradients(risk, TableSize(7), X[None], codes[None], w)[0]
        np.testing.assert_allclose(found, risk.gradient(w[0], table), atol=1e-14)


# --- sensitivities, attacked


@every
@pytest.mark.parametrize(("lam", "held"), [(0.0, L2Ball(0.3)), (0.0, L2Ball(3.0)), (0.1, Free())], ids=str)
def test_gradient_sensitivity_is_tight_and_never_exceeded(loss, adjacency, lam, held) -> None:
    risk = PointRisk(loss, lam, held, adjacency)
    found = search_gradient(risk, size_of(adjacency, 4, 2), 2, seed=0, batch=64, rounds=150)
    print(f"{loss} {adjacency} {lam} {held}: {found.ratio:.4f}")
    assert 0.99 <= found.ratio <= 1 + 1e-12


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
def test_a_claim_that_is_too_small_is_refuted(adjacency, monkeypatch) -> None:
    risk = PointRisk(Logistic(), 0.0, L2Ball(1.0), adjacency)
    honest = type(risk).record_bound
    monkeypatch.setattr(PointRisk, "record_bound", lambda self, radius: honest(self, radius) / 1.03)
    assert search_gradient(risk, size_of(adjacency, 4, 2), 2, seed=0, batch=64, rounds=150).ratio > 1.02


@pytest.mark.parametrize(
    "loss", [Logistic(), Logistic(1.0, 0.25), Hinge(), Squared(), SmoothedHinge(1.0, 0.3)], ids=str
)
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_with_an_intercept_kept_labels_cost_less(loss, adjacency, scale) -> None:
    """Rows end with a constant: the search meets only those, at several w in the ball."""
    norm = math.hypot(1.0, scale)
    risk = PointRisk(loss, 0.0, L2Ball(1.0), adjacency, norm)
    size, rng = size_of(adjacency, 3, 1), np.random.default_rng(0)
    claimed = risk.certificate(size, 3).gradient_sensitivity
    worst = 0.0
    for drawn in [np.zeros(3), *rng.normal(size=(5, 3)) / 3]:
        w = risk.constraint.project(drawn)

        def gradient(table, w=w):
            rows = np.column_stack((table.X, np.full(table.n, scale)))
            return risk.gradient(w, PointTable(rows, table.y, table.n_public))

        worst = max(worst, search_output(gradient, risk, size, 2, claimed, seed=1, batch=16, rounds=60).ratio)
    print(f"{loss} {adjacency} {scale}: {worst:.3f}")
    assert worst <= 1 + 1e-12
    whole = replace(risk, adjacency=REPLACE).certificate(TableSize(3), 3).gradient_sensitivity
    if adjacency is WITHIN and risk.loss.one_signed(norm):
        assert claimed == pytest.approx(min(whole, loss.slope_bound(norm) * max(2.0, norm) / 3))
        if isinstance(loss, Hinge | SmoothedHinge):
            assert worst >= 0.99


@pytest.mark.parametrize(("loss", "adjacency"), [one for one in EVERY if one[0].smooth], ids=str)
@pytest.mark.parametrize(("lam", "held"), [(0.3, Free()), (2.0, Free()), (0.3, L2Ball(0.2))], ids=str)
def test_minimisers_never_move_farther_than_claimed(loss, adjacency, lam, held) -> None:
    risk = PointRisk(loss, lam, held, adjacency)
    found = search_minimiser(risk, size_of(adjacency, 3, 1), 1, seed=0, batch=6, rounds=15)
    print(f"{loss} {adjacency} {lam} {held}: {found.ratio:.3f}")
    assert found.ratio <= 1.0


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
def test_minimisers_move_nearly_as_far_as_claimed(adjacency) -> None:
    """Where the slope is at its bound over all of the ball nothing in the proof is loose."""
    risk = PointRisk(SmoothedHinge(1.0, 0.3), 3.0, adjacency=adjacency)
    assert search_minimiser(risk, size_of(adjacency, 3, 1), 1, seed=0, batch=8, rounds=40).ratio >= 0.99


@every
def test_one_record_bends_the_hessian_by_no_more_than_its_share(loss, adjacency, rng) -> None:
    risk = PointRisk(loss, 0.5, L2Ball(1.2), adjacency)
    certificate = risk.certificate(size_of(adjacency, 5, 2), 2)
    if math.isinf(certificate.curvature_share):
        assert not loss.smooth
        return
    for _ in range(200):
        X, w = rng.normal(size=(5, 2)), risk.constraint.project(rng.normal(size=2))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
        y = rng.uniform(-1, 1, 5) if loss.residual else np.array([1.0, 1.0, -1.0, -1.0, -1.0])
        other = X.copy()
        other[-1] = -rng.random() * X[-1][::-1]
        ridges = [
            np.linalg.slogdet(risk.at(w, PointTable(rows, y, 5)).curvature_model() + 0.5 * np.eye(2))[1]
            for rows in (X, other)
        ]
        assert abs(ridges[0] - ridges[1]) <= certificate.determinant_shift(0.5, 2) + 1e-12


# --- where minimisers are


@pytest.mark.parametrize("loss", [*CLASSES, *NUMBERS], ids=str)
@pytest.mark.parametrize("lam", [0.03, 0.5])
def test_minimisers_stay_inside_the_certified_radius(loss, lam, rng) -> None:
    """The worst is a single row with the label 1: the minimiser then lies on it."""
    risk = PointRisk(loss, lam)
    radius, worst = risk.certificate(TableSize(9)).radius, 0.0
    for length in np.linspace(0.02, 1.0, 30):
        found = optimize.minimize_scalar(
            lambda s, t=length: (
                float(loss.value(np.array([1.0 - s * t if loss.residual else s * t]))[0]) + lam * s * s / 2
            ),
            bounds=(0.0, 60.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        worst = max(worst, found.x)
    assert worst <= radius * (1 + 1e-6)
    assert worst >= 0.9 * radius


def scipy_optimum(risk, table):
    """The minimiser over the ball by SciPy, from values and gradients of explicit records."""
    n = 1 / table.weight(risk.adjacency)

    def value(w):
        t = table.X @ w
        return (
            risk.loss.value(table.y - t if risk.loss.residual else table.y * t).sum() / n
            + risk.regularization / 2 * w @ w
        )

    ball = {"type": "ineq", "fun": lambda w: risk.constraint.radius**2 - w @ w}
    held = [] if math.isinf(risk.constraint.radius) else [ball]
    start, options = 0.01 * np.ones(table.d), {"ftol": 1e-15, "maxiter": 500}
    return optimize.minimize(value, start, method="SLSQP", constraints=held, options=options).x


@pytest.mark.parametrize(("loss", "adjacency"), [one for one in EVERY if one[0].smooth], ids=str)
@pytest.mark.parametrize("held", [Free(), L2Ball(0.3)], ids=str)
def test_minimise_finds_the_optimum(loss, adjacency, held, rng) -> None:
    risk, table = PointRisk(loss, 0.05, held, adjacency), table_of(loss, rng)
    assert isinstance(risk, CurvedRisk)
    found = minimise(risk, table, 1e-9)
    assert found.residual <= 1e-9
    np.testing.assert_allclose(found.w, scipy_optimum(risk, table), atol=2e-5)
    if isinstance(held, Free):
        assert np.linalg.norm(risk.gradient(found.w, table)) <= 2e-9


def test_minimise_thins_large_tables_first(monkeypatch, rng) -> None:
    monkeypatch.setattr("diptych.risks.minimiser.COARSE_CLASS", 5)
    for adjacency in Adjacency:
        risk, table = PointRisk(Logistic(), 0.01, adjacency=adjacency), table_of(Logistic(), rng)
        assert np.linalg.norm(risk.gradient(minimise(risk, table, 1e-9).w, table)) <= 2e-9


@pytest.mark.parametrize(
    "loss", [QNormHinge(), QNorm(), QNormHinge(1.0, 0.5, 1.2), Huber(1e-5), SmoothedHinge(1.0, 1e-5)], ids=str
)
def test_projected_gradients_minimise_losses_with_hoelder_slopes(loss, rng) -> None:
    risk, table = PointRisk(loss, 0.05, L2Ball(2.0)), table_of(loss, rng)
    found = minimise_projected(risk, table, 1e-9)
    best = risk.value(scipy_optimum(risk, table), table)
    assert risk.value(found.w, table) <= best + 1e-8
    assert found.gap <= 1e-4


def test_a_table_without_records_has_its_minimiser_at_zero() -> None:
    table = PointTable(np.zeros((0, 2)), np.zeros(0), 10)
    risk = PointRisk(Logistic(), 0.1, adjacency=COMING)
    assert np.all(minimise(risk, table, 1e-9).w == 0)
    assert risk.value(np.ones(2), table) == pytest.approx(0.1)
    np.testing.assert_allclose(risk.gradient(np.ones(2), table), [0.1, 0.1])


# --- certificates and refusals


@every
def test_certificates_hold_where_searched(loss, adjacency, rng) -> None:
    risk = PointRisk(loss, 0.0, L2Ball(1.5), adjacency, norm=1.0)
    certificate = risk.certificate(size_of(adjacency, 100, 40), 4)
    table = table_of(loss, rng)
    for _ in range(50):
        w, v = (risk.constraint.project(rng.normal(size=4)) for _ in range(2))
        here, there = risk.gradient(w, table), risk.gradient(v, table)
        assert np.linalg.norm(here) <= certificate.lipschitz
        assert np.linalg.norm(here - there) <= certificate.smoothness * np.linalg.norm(w - v) * (1 + 1e-12)
        apart = np.linalg.norm(w - v) ** certificate.holder_exponent
        assert np.linalg.norm(here - there) <= certificate.holder * risk.mass(TableSize(100)) * apart * (1 + 1e-12)
    assert certificate.partners == 0
    assert certificate.one_signed == (not loss.residual and loss.one_signed(1.5))


def test_computed_gradients_miss_exact_ones_by_less_than_stated(rng) -> None:
    for loss in (Logistic(), QNormHinge(), SquaredError()):
        table, w = table_of(loss, rng, n=5000, d=30, declared=None), rng.normal(size=30) / 3
        risk = PointRisk(loss, 0.0, L2Ball(3.0))
        X, y, wide = (part.astype(np.longdouble) for part in (table.X, table.y, w))
        t = y - X @ wide if loss.residual else y * (X @ wide)
        slope = -loss.slope(t) if loss.residual else y * loss.slope(t)
        exact = slope @ X / 5000
        error = float(np.linalg.norm(risk.gradient(w, table) - exact))
        assert 0 < error <= risk.certificate(TableSize(5000), 30).gradient_error


def test_what_points_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="'replace-within-class' does not suit loss='huber'.* use 'replace'"):
        PointRisk(Huber(), adjacency=WITHIN)
    for name in ("norm", "diameter", "labels"):
        with pytest.raises(ValueError, match=f"{name} must be a number from 1e-9 to 1e9"):
            PointRisk(Logistic(), **{name: 0.0})
    with pytest.raises(ValueError, match="regularization must be a finite number"):
        PointRisk(Logistic(), -1.0)
    with pytest.raises(ValueError, match="n_public must be declared"):
        PointTable(np.zeros((3, 1)), np.ones(3)).size(COMING)
    with pytest.raises(ValueError, match="n_public is less than half of the number of records"):
        PointTable(np.zeros((7, 1)), np.ones(7), 3)


@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
def test_pairs_refuse_what_only_points_can_do(kind) -> None:
    for loss in RESIDUAL_LOSSES.values():
        with pytest.raises(ValueError, match="is a loss of residuals, which pairs do not have; use a loss of margins"):
            kind(loss())
    with pytest.raises(ValueError, match="adjacency='add-remove' does not suit pairs.* use 'replace' or"):
        kind(Logistic(), adjacency=COMING)
    assert isinstance(kind(Logistic()), PairRisk)
    assert not isinstance(PointRisk(Logistic()), PairRisk)


def test_every_loss_of_margins_is_a_loss_of_points() -> None:
    for loss in LOSSES.values():
        assert PointRisk(loss(), 0.1).certificate(TableSize(10)).gradient_sensitivity > 0
