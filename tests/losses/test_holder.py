"""Hölder constants, self-bounding constants and losses of residuals, each against a dense search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Absolute, Huber, QNorm, QNormHinge, SquaredError
from diptych.losses import LOSSES, RESIDUAL_LOSSES, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge, loss_named

MARGINS = [
    Logistic(),
    Logistic(1.0, 0.3),
    Squared(0.5, 2.0),
    Hinge(0.7),
    SquaredHinge(2.0, 0.7),
    SmoothedHinge(1.0, 0.4),
    QNormHinge(),
    QNormHinge(0.5, 2.0, 1.2),
    QNormHinge(2.0, 0.3, 1.9),
    QNormHinge(1.0, 0.5, 2.0),
]
RESIDUALS = [
    SquaredError(),
    SquaredError(0.4),
    Huber(),
    Huber(0.2),
    Absolute(),
    QNorm(),
    QNorm(0.5, 1.2),
    QNorm(2.0, 1.8),
    QNorm(1.0, 2.0),
]
EVERY = MARGINS + RESIDUALS
curves = pytest.mark.parametrize("loss", EVERY, ids=str)


def chords(loss, reach, exponent):
    """The largest |l'(s) - l'(t)| / |s - t|^exponent that a dense search finds."""
    special = [loss.margin, loss.margin - loss.temperature, 0.0, reach, -reach]
    t = np.unique(np.clip(np.concatenate((np.linspace(-reach, reach, 1201), special)), -reach, reach))
    t = np.unique(np.concatenate((t, np.clip(loss.margin + np.geomspace(1e-9, reach, 60), -reach, reach))))
    t = np.unique(np.concatenate((t, np.clip(loss.margin - np.geomspace(1e-9, reach, 60), -reach, reach))))
    slopes, apart = loss.slope(t), np.abs(t[:, None] - t)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.abs(slopes[:, None] - slopes) / apart**exponent
    return ratio[apart > 1e-7].max()


@curves
@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0])
def test_holder_constants_are_never_exceeded_and_reached(loss, reach) -> None:
    best, claimed = loss.holder_exponent, loss.holder(reach)
    worst = chords(loss, reach, best)
    assert worst <= claimed * (1 + 1e-6)
    assert worst >= 0.98 * claimed
    assert loss.smooth == (best == 1.0)
    if loss.smooth:
        assert claimed == pytest.approx(loss.curvature_bound(reach))


@curves
@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_smaller_exponents_follow(loss, reach, share) -> None:
    exponent = share * loss.holder_exponent
    worst, claimed = chords(loss, reach, exponent), loss.holder(reach, exponent)
    assert worst <= claimed * (1 + 1e-6)
    assert worst >= 0.5 * claimed  # two bounds that are each reached, though not at one place
    assert loss.modulus(0.01, reach) == pytest.approx(loss.holder(reach) * 0.01**loss.holder_exponent)


@curves
def test_exponents_beyond_the_best_are_refused(loss) -> None:
    for wrong in (-0.1, loss.holder_exponent + 0.1):
        with pytest.raises(ValueError, match=f"exponent of the {loss.name} loss must be from 0 to"):
            loss.holder(1.0, wrong)


def test_a_constant_that_is_too_small_is_refuted() -> None:
    for loss in (QNormHinge(), QNorm()):
        assert chords(loss, 2.0, loss.holder_exponent) > loss.holder(2.0) / 1.03


@curves
def test_slopes_are_bounded_by_the_loss_itself(loss) -> None:
    factor, power = loss.self_bounding()
    t = np.linspace(-60, 60, 120001)
    slope, value = np.abs(loss.slope(t)), loss.value(t)
    assert np.all(slope <= factor * value**power * (1 + 1e-9) + 1e-12)
    seen = value > 1e-9
    assert (slope[seen] / value[seen] ** power).max() >= 0.55 * factor
    assert power == pytest.approx(loss.holder_exponent / (1 + loss.holder_exponent))


@curves
def test_a_jump_is_rounded_off_and_nothing_else(loss) -> None:
    gentle, t = loss.rounded(1e-3), np.linspace(-3, 3, 4001)
    assert (gentle is loss) == loss.differentiable
    assert np.abs(gentle.value(t) - loss.value(t)).max() <= 1e-3
    assert gentle.slope_bound(3.0) == loss.slope_bound(3.0)


# --- residuals


@pytest.mark.parametrize("loss", RESIDUALS, ids=str)
def test_losses_of_residuals_are_even_convex_and_least_at_zero(loss) -> None:
    t = np.linspace(-5, 5, 2001)
    np.testing.assert_allclose(loss.value(t), loss.value(-t))
    np.testing.assert_allclose(loss.slope(t), -loss.slope(-t))
    assert np.all(np.diff(loss.slope(t)) >= -1e-12)
    assert loss.at_zero() == loss.slope_at_zero() == loss.pull() == 0.0
    assert loss.residual
    assert not loss.one_signed(0.1)
    away, h = t[np.abs(np.abs(t) - loss.temperature) > 1e-2], 1e-6
    away = away[np.abs(away) > 1e-2]
    np.testing.assert_allclose((loss.value(away + h) - loss.value(away - h)) / (2 * h), loss.slope(away), atol=1e-6)
    bend = (loss.slope(away + h) - loss.slope(away - h)) / (2 * h)
    np.testing.assert_allclose(bend, loss.curvature(away), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", RESIDUALS, ids=str)
@pytest.mark.parametrize("label", [0.3, 1.0, 4.0])
def test_pull_of_residuals_is_that_of_the_margin_loss_beside(loss, label) -> None:
    """Sup of l'(y - s) s over |y| <= label and all s."""
    y, s = np.linspace(-label, label, 201)[:, None], np.linspace(-20, 20, 40001)
    worst = (loss.slope(y - s) * s).max()
    beside = loss.as_margin(label)
    assert worst <= beside.pull() * (1 + 1e-12)
    assert worst >= 0.996 * beside.pull()
    t = np.linspace(-3, label, 500)
    np.testing.assert_allclose(beside.value(t), loss.value(label - t), atol=1e-12)


@pytest.mark.parametrize("loss", RESIDUALS, ids=str)
@pytest.mark.parametrize("reach", [0.3, 2.0])
def test_curvature_bounds_of_residuals(loss, reach) -> None:
    t = np.linspace(-reach, reach, 20001)
    worst, claimed = loss.curvature(t).max(), loss.curvature_bound(reach)
    if math.isfinite(claimed):
        assert 0.999 * claimed <= worst <= claimed * (1 + 1e-12)
    else:
        assert not loss.smooth


def test_names_of_both_kinds() -> None:
    assert not set(RESIDUAL_LOSSES.values()) & set(LOSSES.values())
    assert loss_named("huber", RESIDUAL_LOSSES) == Huber()
    assert loss_named("squared", RESIDUAL_LOSSES) == SquaredError() != loss_named("squared")
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'huber', 'absolute', 'q-norm'"):
        loss_named("logistic", RESIDUAL_LOSSES)
    with pytest.raises(ValueError, match="loss must be one of 'logistic'"):
        loss_named("absolute")


@pytest.mark.parametrize("kind", [QNorm, QNormHinge])
@pytest.mark.parametrize("wrong", [1.0, 2.5, 0, math.nan, "2", None, True])
def test_powers_are_checked(kind, wrong) -> None:
    with pytest.raises(ValueError, match="must be a number above 1 and at most 2"):
        kind(q=wrong)


def test_powers_of_two_are_the_squared_losses() -> None:
    t = np.linspace(-3, 3, 101)
    for one, other in ((QNormHinge(1.0, 0.5, 2), SquaredHinge(1.0, 0.5)), (QNorm(0.5, 2), SquaredError(0.5))):
        np.testing.assert_allclose(one.value(t), other.value(t))
        np.testing.assert_allclose(one.slope(t), other.slope(t))
        assert one.holder(1.0) == pytest.approx(other.holder(1.0))
        assert one.curvature_bound(1.0) == other.curvature_bound(1.0)
        assert one.pull() == pytest.approx(other.pull())
