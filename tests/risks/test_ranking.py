"""The ranking risk against explicit pairs and finite differences, and its certificate against attack."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Adjacency
from diptych.audit import Neighbours, search_determinant, search_gradient
from diptych.audit.explicit import explicit_gradients
from diptych.losses import Hinge, Logistic, QNormHinge, SmoothedHinge, Squared, SquaredHinge
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.sets import Free, L2Ball
from diptych.spec import OF_PAIRS, TableSize

LOSSES = [
    Logistic(),
    Logistic(1.0, 0.5),
    Squared(),
    Squared(0.5, 2.0),
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(),
    SmoothedHinge(1.0, 0.2),
    QNormHinge(),
]
SMOOTH = [loss for loss in LOSSES if loss.smooth]
losses = pytest.mark.parametrize("loss", LOSSES, ids=str)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)


def table_of(rng, n=120, d=4, share=0.3) -> PairTable:
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1).max()
    return PairTable(X, rng.random(n) < share)


def size_of(adjacency, n, positives) -> TableSize:
    return TableSize(n, positives if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)


@losses
@adjacencies
def test_gradient_against_explicit_pairs(loss, adjacency, rng) -> None:
    table, w = table_of(rng), 3 * rng.normal(size=4)
    risk = RankingRisk(loss, 0.0, adjacency=adjacency)
    scale = 1 / 120**2 if adjacency is Adjacency.REPLACE else 1 / (table.positives * table.negatives)
    want = explicit_gradients(loss, table.X[None], table.positive[None], w[None], scale)[0]
    apart = np.linalg.norm(table.X[table.positive][:, None] - table.X[~table.positive][None], axis=2).mean()
    error = np.linalg.norm(risk.gradient(w, table) - want) / (scale * table.positives * table.negatives)
    assert error <= 1e-11 * loss.slope_bound(2 * np.linalg.norm(w)) * apart


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
@adjacencies
def test_gradient_and_hessian_are_derivatives(loss, adjacency, rng) -> None:
    table, w, v = table_of(rng), rng.normal(size=4), rng.normal(size=4)
    risk, h = RankingRisk(loss, 0.1, adjacency=adjacency), 1e-5
    slope = (risk.value(w + h * v, table) - risk.value(w - h * v, table)) / (2 * h)
    assert slope == pytest.approx(risk.gradient(w, table) @ v, rel=1e-6, abs=1e-8)
    bend = (risk.gradient(w + h * v, table) - risk.gradient(w - h * v, table)) / (2 * h)
    np.testing.assert_allclose(bend, risk.at(w, table).hessian_product(v), rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_a_tilt_adds_a_linear_term_and_nothing_else(loss, rng) -> None:
    table, w, b = table_of(rng), rng.normal(size=4), rng.normal(size=4)
    for one in (table, PairTable(table.X, np.ones(table.n, dtype=bool))):
        plain, tilted = (RankingRisk(loss, 0.1).at(w, one, tilt) for tilt in (None, b))
        assert tilted.value() == pytest.approx(plain.value() + b @ w, rel=1e-12)
        np.testing.assert_allclose(tilted.gradient(), plain.gradient() + b, rtol=1e-12)
        np.testing.assert_array_equal(tilted.hessian_product(b), plain.hessian_product(b))
        assert tilted.magnitude() >= abs(tilted.value()) * (1 - 1e-12)


def test_the_curvature_model_is_exact_for_the_squared_loss_and_positive_for_others(rng) -> None:
    table = table_of(rng)
    for loss in SMOOTH:
        at = RankingRisk(loss, 0.5).at(0.3 * rng.normal(size=4), table)
        model = at.curvature_model()
        assert np.linalg.eigvalsh(model).min() >= -1e-12
        if isinstance(loss, Squared):
            exact = np.array([at.hessian_product(e) for e in np.eye(4)]) - 0.5 * np.eye(4)
            np.testing.assert_allclose(model, exact, atol=1e-12)


@losses
def test_one_class_has_no_pairs(loss, rng) -> None:
    table = PairTable(rng.normal(size=(5, 2)), np.ones(5, dtype=bool))
    risk, w = RankingRisk(loss, 0.5), np.array([1.0, 2.0])
    assert risk.value(w, table) == pytest.approx(0.25 * 5)
    np.testing.assert_allclose(risk.gradient(w, table), 0.5 * w)
    np.testing.assert_allclose(risk.at(w, table).hessian_product(w), 0.5 * w)


@losses
@adjacencies
@pytest.mark.parametrize("regularization", [0.05, 2.0])
@pytest.mark.parametrize(("n", "positives", "d"), [(2, 1, 1), (4, 1, 2), (5, 2, 3)])
def test_gradient_sensitivity_is_tight_and_never_exceeded(loss, adjacency, regularization, n, positives, d) -> None:
    """An adversarial search over neighbours: docs/theory/pair-sensitivity.md, Lemmas 1 to 3."""
    risk = RankingRisk(loss, regularization, adjacency=adjacency)
    found = search_gradient(risk, size_of(adjacency, n, positives), d, seed=n)
    assert found.ratio <= 1 + 1e-12
    assert found.ratio >= 0.99


@losses
@adjacencies
@pytest.mark.parametrize("constraint", [Free(), L2Ball(1.5)], ids=str)
@pytest.mark.parametrize(("n", "positives", "d"), [(2, 1, 1), (5, 2, 3)])
def test_the_gradients_claim_holds_on_all_of_the_set(loss, adjacency, constraint, n, positives, d) -> None:
    """What a linear term in the objective needs: w anywhere in the set, not only where minimisers can be."""
    if math.isinf(loss.slope_bound(2 * constraint.radius)):
        constraint = L2Ball(0.4)  # the slope needs some bound; this one is small enough for it to keep its sign
    risk = RankingRisk(loss, 2.0, constraint, adjacency)
    size = size_of(adjacency, n, positives)
    found = search_gradient(risk, size, d, seed=n, tilt=math.inf)
    assert 0.99 <= found.ratio <= 1 + 1e-12
    assert found.claimed >= risk.certificate(size, d).gradient_sensitivity
    untilted = search_gradient(risk, size, d, seed=n, rounds=20)
    assert untilted.claimed == risk.certificate(size, d).gradient_sensitivity


BENDING = [Logistic(), SmoothedHinge(), SmoothedHinge(1.0, 0.2), Squared(), SquaredHinge(1.0, 2.0)]
bending = pytest.mark.parametrize("loss", BENDING, ids=str)


def curved(loss, adjacency) -> RankingRisk:
    """A risk in a ball where the squared losses have a bounded slope."""
    return RankingRisk(loss, 0.5, Free() if math.isfinite(loss.slope_bound(math.inf)) else L2Ball(1.0), adjacency)


@bending
@adjacencies
@pytest.mark.parametrize("stiffness", [1.0, 10.0])
@pytest.mark.parametrize(("n", "positives", "d"), [(2, 1, 1), (5, 2, 3)])
def test_the_determinants_claim_is_tight_where_the_ridge_is_large(loss, adjacency, stiffness, n, positives, d) -> None:
    """docs/theory/objective-perturbation.md, Lemma 7, for t <= ridge."""
    risk, size = curved(loss, adjacency), size_of(adjacency, n, positives)
    ridge = stiffness * risk.certificate(size, d, tilt=math.inf).curvature_share
    found = search_determinant(risk, size, d, ridge, seed=3, rounds=500)
    print(f"{loss} {adjacency} n={n} d={d} ridge/t={stiffness:g}: {found.ratio:.4f}")
    assert found.claimed == pytest.approx(math.log1p(1.0 / stiffness), rel=1e-3)
    assert 0.99 <= found.ratio <= 1.0


@bending
@adjacencies
@pytest.mark.parametrize("stiffness", [0.05, 0.3])
@pytest.mark.parametrize(("n", "positives", "d"), [(4, 1, 2), (5, 2, 3)])
def test_the_determinants_claim_is_never_exceeded(loss, adjacency, stiffness, n, positives, d) -> None:
    """Where t is above the ridge the worst rows are no longer all in one line."""
    risk, size = curved(loss, adjacency), size_of(adjacency, n, positives)
    ridge = stiffness * risk.certificate(size, d, tilt=math.inf).curvature_share
    found = search_determinant(risk, size, d, ridge, seed=4)
    print(f"{loss} {adjacency} n={n} d={d} ridge/t={stiffness:g}: {found.ratio:.4f}")
    assert (0.9 if adjacency is Adjacency.REPLACE else 0.6) <= found.ratio <= 1.0


@adjacencies
def test_the_search_refutes_a_determinant_claim_that_is_too_small(adjacency) -> None:
    """Negative control: rows in a ball that is 3 % smaller; and a claim that looks along one line only."""
    size = size_of(adjacency, 4, 2)
    small = RankingRisk(SmoothedHinge(), 1.0, adjacency=adjacency, diameter=2.0 / 1.03)
    ridge = small.certificate(size, 2, tilt=math.inf).curvature_share
    assert search_determinant(small, size, 2, ridge, seed=0).ratio > 1.02
    risk = RankingRisk(SmoothedHinge(), 1.0, adjacency=adjacency)
    certificate = risk.certificate(size, 3, tilt=math.inf)
    ridge = 0.02 * certificate.curvature_share
    assert search_determinant(risk, size, 3, ridge, seed=0).reached > 1.05 * certificate.determinant_shift(ridge, 1)


@adjacencies
def test_the_search_refutes_a_claim_that_is_too_small(adjacency) -> None:
    """Negative control: a certificate for rows in a ball that is 3 % smaller must be refuted."""
    risk = RankingRisk(Hinge(), 1.0, adjacency=adjacency, diameter=2.0 / 1.03)
    found = search_gradient(risk, size_of(adjacency, 5, 2), 2, seed=0)
    assert found.ratio > 1.02


def test_what_the_search_found_is_what_the_kernels_give() -> None:
    """The explicit sums of the search and the kernels behind the risk agree on the worst tables."""
    risk = RankingRisk(Logistic(), 0.3)
    found = search_gradient(risk, TableSize(5), 2, seed=1)
    here, there = (risk.gradient(found.w, table) for table in (found.table, found.neighbour))
    assert np.linalg.norm(here - there) == pytest.approx(found.reached, rel=1e-9)


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
@adjacencies
def test_minimisers_stay_inside_the_certified_radius(loss, adjacency) -> None:
    rng = np.random.default_rng(3)
    worst = 0.0
    for regularization in (0.01, 0.3, 5.0):
        for _ in range(30):
            pairs = Neighbours.random(rng, 1, 6, 2, 1.0, adjacency, 3)
            table = pairs.tables(0)[0]
            risk = RankingRisk(loss, regularization, adjacency=adjacency)
            size = size_of(adjacency, 6, table.positives) if not table.one_class else TableSize(6)
            w = minimise(risk, table, 1e-9).w
            worst = max(worst, np.linalg.norm(w) / risk.minimiser_radius(size))
    assert 0.2 <= worst <= 1 + 1e-9


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_radius_is_nearly_reached_by_pairs_at_the_best_margin(loss) -> None:
    """One pair at opposite poles or closer reaches the pull bound: docs/theory/pair-sensitivity.md, Lemma 4."""
    best = 0.0
    risk = RankingRisk(loss, 0.05, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    for gap in np.linspace(0.05, 2.0, 300):
        table = PairTable(np.array([[gap / 2], [-gap / 2]]), np.array([True, False]))
        best = max(best, abs(minimise(risk, table, 1e-9).w[0]) / risk.minimiser_radius(TableSize(2, 1)))
    assert 0.97 <= best <= 1 + 1e-9


@losses
@adjacencies
def test_certificates_bound_gradient_and_curvature(loss, adjacency) -> None:
    rng = np.random.default_rng(4)
    risk = RankingRisk(loss, 0.2, L2Ball(1.5), adjacency)
    for _ in range(40):
        table = Neighbours.random(rng, 1, 8, 3, 1.0, adjacency, 3).tables(0)[0]
        if table.one_class:
            continue
        certificate = risk.certificate(size_of(adjacency, 8, table.positives))
        w = rng.normal(size=3)
        w *= certificate.radius * rng.random() / np.linalg.norm(w)
        at = risk.at(w, table)
        assert np.linalg.norm(at.gradient() - 0.2 * w) <= certificate.lipschitz * (1 + 1e-12)
        v = rng.normal(size=3)
        v /= np.linalg.norm(v)
        assert v @ at.hessian_product(v) <= certificate.smoothness * (1 + 1e-12)
        assert v @ at.hessian_product(v) >= certificate.strong_convexity * (1 - 1e-12)


def test_no_constant_depends_on_private_class_counts() -> None:
    size = TableSize(10)
    assert RankingRisk(Logistic(), 0.1).certificate(size) == RankingRisk(Logistic(), 0.1).certificate(TableSize(10))
    rows = np.zeros((10, 2))
    sizes = {PairTable(rows, np.arange(10) < k).size(Adjacency.REPLACE) for k in range(11)}
    assert sizes == {size}


def test_an_unregularised_squared_loss_has_no_finite_claim() -> None:
    certificate = RankingRisk(Squared()).certificate(TableSize(10))
    assert math.isinf(certificate.gradient_sensitivity)
    assert math.isinf(certificate.minimiser_sensitivity())


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_regularization_that_makes_no_sense_is_refused(value) -> None:
    with pytest.raises(ValueError, match="regularization must be a finite number, 0 or above"):
        RankingRisk(Logistic(), value)


def test_a_wide_common_offset_costs_no_accuracy(rng) -> None:
    """The grid's errors cancel between the classes, so the gradient sees differences of rows only."""
    table = table_of(rng)
    moved = PairTable(table.X + 100.0, table.positive)
    w = 0.02 * rng.normal(size=4)
    risk = RankingRisk(Logistic())
    apart = np.linalg.norm(table.X[table.positive][:, None] - table.X[~table.positive][None], axis=2).mean()
    error = np.linalg.norm(risk.gradient(w, moved) - risk.gradient(w, table)) * 120**2
    assert error / (table.positives * table.negatives) <= 1e-11 * apart


@pytest.mark.parametrize(
    "loss", [SmoothedHinge(10.0, 1e-6), SmoothedHinge(1e5, 1e-2), SmoothedHinge(1.0, 1e-3)], ids=str
)
@pytest.mark.parametrize("radius", [1e-3, 1.0])
def test_rounding_stays_within_the_certified_error_for_wide_margins(loss, radius) -> None:
    rng = np.random.default_rng(5)
    X, positive = rng.normal(size=(300, 3)), np.arange(300) < 90
    X /= np.linalg.norm(X, axis=1).max()
    w = rng.normal(size=3)
    w *= radius / np.linalg.norm(w)
    risk = RankingRisk(loss, 1e-3, L2Ball(radius))
    computed = RankingRisk(loss, 0.0, L2Ball(radius)).gradient(w, PairTable(X, positive))
    Xl, wl = X.astype(np.longdouble), w.astype(np.longdouble)
    apart = Xl[positive][:, None] - Xl[~positive][None]
    slopes = -np.clip((np.longdouble(loss.margin) - apart @ wl) / np.longdouble(loss.temperature), 0, 1)
    exact = np.einsum("ij,ijd->d", slopes, apart) / 300**2
    error = float(np.linalg.norm(computed - exact))
    assert error <= risk.certificate(TableSize(300), 3).gradient_error
