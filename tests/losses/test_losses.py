"""Every loss against its own definition, and every constant against a dense search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.losses import (
    LOSSES,
    Hinge,
    Logistic,
    PiecewiseLoss,
    QNormHinge,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    loss_named,
)
from diptych.losses.smooth import alternating_coefficients

CURVES = [
    Logistic(),
    Logistic(1.0, 0.5),
    Logistic(3.0, 0.1),
    Squared(),
    Squared(0.5, 2.0),
    Hinge(),
    Hinge(0.3),
    SquaredHinge(),
    SquaredHinge(2.0, 0.7),
    SmoothedHinge(),
    SmoothedHinge(1.0, 0.1),
    SmoothedHinge(0.5, 2.0),
    QNormHinge(),
    QNormHinge(0.5, 2.0, 1.2),
]
REACHES = [0.05, 0.4, 1.0, 3.0, 40.0]

curves = pytest.mark.parametrize("loss", CURVES, ids=str)


def kinks(loss) -> list[float]:
    if isinstance(loss, QNormHinge):
        return [loss.margin]
    return [piece.knot for piece in loss.pieces(1)] if isinstance(loss, PiecewiseLoss) else []


@curves
def test_slope_and_curvature_are_derivatives(loss) -> None:
    t = np.linspace(-6, 6, 1201) + 1e-3
    t = t[[all(abs(x - k) > 1e-2 for k in kinks(loss)) for x in t]]
    h = 1e-5
    np.testing.assert_allclose((loss.value(t + h) - loss.value(t - h)) / (2 * h), loss.slope(t), atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(
        (loss.slope(t + h) - loss.slope(t - h)) / (2 * h), loss.curvature(t), atol=1e-5, rtol=1e-5
    )


@curves
def test_the_curve_is_convex_and_not_negative(loss) -> None:
    t = np.linspace(-20, 20, 4001)
    assert np.all(loss.value(t) >= 0)
    assert np.all(np.diff(loss.slope(t)) >= -1e-14)
    assert loss.at_zero() == pytest.approx(float(loss.value(np.array([0.0]))[0]))


@curves
def test_no_overflow_at_extreme_margins(loss) -> None:
    t = np.array([-1e6, 1e6])
    with np.errstate(over="raise", invalid="raise"):
        for derivative in (loss.value, loss.slope, loss.curvature):
            assert np.all(np.isfinite(derivative(t)))


@curves
@pytest.mark.parametrize("reach", REACHES)
def test_slope_bound_is_the_supremum_on_the_range(loss, reach) -> None:
    t = np.linspace(-reach, reach, 20001)
    worst = np.abs(loss.slope(t)).max()
    assert worst <= loss.slope_bound(reach) * (1 + 1e-12)
    assert worst >= 0.999 * loss.slope_bound(reach)


@curves
@pytest.mark.parametrize("reach", REACHES)
def test_curvature_bound_is_the_supremum_on_the_range(loss, reach) -> None:
    t = np.linspace(-reach, reach, 20001)
    worst, claimed = loss.curvature(t).max(), loss.curvature_bound(reach)
    if math.isinf(claimed) and loss.differentiable:
        assert loss.curvature(np.array([loss.margin - 1e-12]))[0] > 1e4
    elif math.isinf(claimed):
        jump = np.diff(loss.slope(t)).max()
        assert jump >= 0.99
    else:
        assert worst <= claimed * (1 + 1e-12)
        assert worst >= 0.999 * claimed


@curves
def test_pull_is_the_supremum(loss) -> None:
    t = np.linspace(-50, 50, 2000001)
    worst = (-loss.slope(t) * t).max()
    assert worst <= loss.pull() * (1 + 1e-12)
    assert worst >= 0.999 * loss.pull()


def test_pull_of_a_very_cold_logistic_is_a_bound() -> None:
    loss = Logistic(10.0, 0.01)
    t = np.linspace(0, 12, 2000001)
    assert 0.99 * loss.pull() <= (-loss.slope(t) * t).max() <= loss.pull()


@curves
@pytest.mark.parametrize("reach", [0.4, 3.0, 40.0])
def test_pair_bound_is_never_exceeded_and_reached(loss, reach) -> None:
    """Attack ||l'(w.u) u - l'(w.v) v|| <= L D with ||u||, ||v||, ||u - v|| <= D, in the plane of u and v and beyond."""
    rng = np.random.default_rng(1)
    diameter = 2.0
    w = np.array([reach / diameter, 0.0, 0.0])
    u = rng.normal(size=(200_000, 3))
    u *= (diameter * rng.random((len(u), 1)) ** 0.2) / np.linalg.norm(u, axis=1, keepdims=True)
    u[0], u[1] = (-diameter, 0, 0), (diameter, 0, 0)
    v = u + diameter * rng.normal(size=u.shape) * rng.random((len(u), 1))
    v[::2] = 0.0
    inside = (np.linalg.norm(v, axis=1) <= diameter) & (np.linalg.norm(u - v, axis=1) <= diameter)
    u, v = u[inside], v[inside]
    change = loss.slope(u @ w)[:, None] * u - loss.slope(v @ w)[:, None] * v
    worst = np.linalg.norm(change, axis=1).max()
    assert worst <= loss.pair_bound(reach) * diameter * (1 + 1e-12)
    assert worst >= 0.999 * loss.pair_bound(reach) * diameter


@pytest.mark.parametrize("loss", [loss for loss in CURVES if isinstance(loss, PiecewiseLoss)], ids=str)
def test_pieces_sum_to_the_derivatives(loss) -> None:
    t = np.linspace(-5, 5, 997)
    for order, derivative in enumerate((loss.value, loss.slope, loss.curvature)):
        total = np.zeros_like(t)
        for piece in loss.pieces(order):
            gap = piece.knot - t
            total += piece.coefficient * np.where(gap > 0, gap, 0.0) ** piece.power * (gap > 0)
        np.testing.assert_allclose(total, derivative(t), atol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(), Logistic(1.0, 0.25), Logistic(0.5, 3.0)], ids=str)
def test_decay_series_are_the_derivatives(loss) -> None:
    t = np.concatenate((np.linspace(-30, 30, 4001), [loss.margin]))
    v = (t - loss.margin) / loss.temperature
    x = np.exp(-np.abs(v))
    for order, derivative in enumerate((loss.value, loss.slope, loss.curvature)):
        c, sign, (p0, p1) = loss.decay(order)
        series = np.polynomial.polynomial.polyval(x, np.concatenate(([0.0], c)))
        total = np.where(v >= 0, series, sign * series + p0 + p1 * v)
        np.testing.assert_allclose(
            total, derivative(t), rtol=0, atol=1e-14 * (1 + np.abs(v).max()) / min(1, loss.temperature)
        )


def test_alternating_polynomial_meets_its_error() -> None:
    x = np.linspace(0, 1, 1001)
    for terms in (4, 8, 12):
        error = np.abs(np.polynomial.polynomial.polyval(x, alternating_coefficients(terms)) - 1 / (1 + x)).max()
        assert error <= 2 * (3 + math.sqrt(8)) ** -terms


@given(st.floats(0.1, 5), st.floats(0.05, 5), st.floats(-10, 10))
def test_temperature_leaves_the_slope_at_the_margin_alone(margin, temperature, t) -> None:
    base, loss = Logistic(margin, 1.0), Logistic(margin, temperature)
    stretched = margin + (t - margin) * temperature
    assert loss.slope(np.array([stretched]))[0] == pytest.approx(base.slope(np.array([t]))[0], rel=1e-6, abs=1e-9)


def test_the_natural_logarithm_is_meant() -> None:
    assert Logistic().at_zero() == pytest.approx(math.log(2))
    assert Logistic().slope_at_zero() == pytest.approx(0.5)
    assert Logistic().slope_bound(1e9) == 1.0


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Logistic, (-1.0,), "margin of the logistic loss"),
        (Hinge, (0.0,), "above 0"),
        (Squared, (float("nan"),), "margin"),
        (SmoothedHinge, (1.0, 0.0), "temperature of the smoothed-hinge loss"),
        (SquaredHinge, (1.0, float("inf")), "temperature"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(kind, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        kind(*arguments)


def test_names() -> None:
    assert {type(loss_named(name)) for name in LOSSES} == set(LOSSES.values())
    assert loss_named(Hinge(2.0)) == Hinge(2.0)
    with pytest.raises(ValueError, match="loss must be one of 'logistic'"):
        loss_named("cosine")


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.float16, np.float32, int])
@pytest.mark.parametrize("loss", [Logistic, SmoothedHinge, SquaredHinge, Squared, Hinge])
def test_constants_are_computed_in_doubles_whatever_the_type_of_the_settings(loss, kind) -> None:
    narrow, wide = loss(kind(100), kind(2)), loss(100.0, 2.0)
    assert narrow == wide
    assert type(narrow.margin) is type(narrow.temperature) is float
    assert narrow.pull() == wide.pull()


@pytest.mark.parametrize("wrong", ["x", None, 1j, True, np.ones(2)])
def test_margins_and_temperatures_are_numbers(wrong) -> None:
    for settings in ({"margin": wrong}, {"temperature": wrong}):
        with pytest.raises(ValueError, match="of the logistic loss must be a number"):
            Logistic(**settings)
