from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych import Bounds
from diptych.preprocessing import BallScaler
from diptych.preprocessing.scaling import all_finite

BOUNDS = [Bounds(norm=1.0), Bounds(norm=7.0), Bounds(low=-2.0, high=3.0), Bounds(low=[-1, 0, 5], high=[1, 10, 6])]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3, 1e200])
def test_rows_land_in_the_unit_ball(bounds, spread, rng) -> None:
    scaler = BallScaler(bounds, 3)
    Z = scaler.transform(spread * rng.normal(size=(500, 3)))
    assert np.linalg.norm(Z, axis=1).max() <= 0.5 * scaler.diameter
    assert scaler.diameter <= 2 * (1 + 1e-11)


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_scores_in_the_callers_units_are_those_inside(bounds, rng) -> None:
    scaler = BallScaler(bounds, 3)
    inside = (
        np.array([0.1, 0.2, -0.3]) if bounds.norm else 0.5 * (np.add(bounds.low, bounds.high)) + 0.4 * rng.random(3)
    )
    rows = np.atleast_2d(np.broadcast_to(inside, (4, 3)) + 0.05 * rng.normal(size=(4, 3)))
    w = rng.normal(size=3)
    coef, intercept = scaler.unfold(w)
    np.testing.assert_allclose(rows @ coef + intercept, scaler.transform(rows) @ w, atol=1e-12)


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_differences_are_divided_by_the_scales(bounds, rng) -> None:
    scaler = BallScaler(bounds, 3)
    centre = np.zeros(3) if bounds.norm else 0.5 * np.add(bounds.low, bounds.high)
    rows = centre + 0.1 * rng.random((2, 3))
    inside = scaler.transform(rows)
    np.testing.assert_allclose((rows[1] - rows[0]) / scaler.scales, inside[1] - inside[0], atol=1e-14)


def test_what_lies_outside_is_clipped() -> None:
    ball = BallScaler(Bounds(norm=2.0), 2).transform(np.array([[30.0, 40.0], [0.6, 0.8], [0.0, 0.0]]))
    np.testing.assert_allclose(ball, [[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]])
    box = BallScaler(Bounds(low=0.0, high=[1.0, 2.0]), 2).transform(np.array([[9.0, 1.0], [-9.0, 0.5]]))
    np.testing.assert_allclose(box, np.array([[1.0, 0.0], [-1.0, -0.5]]) / math.sqrt(2))


def test_rows_that_fit_are_not_copied(rng) -> None:
    X = rng.normal(size=(100, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert BallScaler(Bounds(norm=1.0), 3).transform(X) is X


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3))
def test_extreme_rows_keep_their_direction(values) -> None:
    row = np.array([values])
    clipped = BallScaler(Bounds(norm=1.0), 3).transform(row)
    assert np.all(np.isfinite(clipped))
    assert np.linalg.norm(clipped) <= 1 + 1e-11
    assert np.all(np.sign(clipped) * np.sign(row) >= 0)


def test_finite_means_finite() -> None:
    X = np.zeros((200, 3))
    assert all_finite(X)
    assert all_finite(np.full((2, 2), 1e300))
    for bad in (np.nan, np.inf, -np.inf):
        X[150, 1] = bad
        assert not all_finite(X)


def test_bounds_must_name_as_many_features_as_there_are() -> None:
    with pytest.raises(ValueError, match="bounds names 3 features but X has 4"):
        BallScaler(BOUNDS[3], 4)


def test_what_becomes_of_a_row_does_not_depend_on_other_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4))
    X *= ((1.0 + 4e-13) / np.linalg.norm(X, axis=1))[:, None]
    longer = X.copy()
    longer[7] *= 2.0
    here, there = (BallScaler(Bounds(norm=1.0), 4).transform(rows) for rows in (X, longer))
    np.testing.assert_array_equal(np.delete(here, 7, axis=0), np.delete(there, 7, axis=0))
    assert np.linalg.norm(there[7]) <= 1.0 + 1e-15
