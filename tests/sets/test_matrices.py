"""Packed matrices, and the nearest points of two sets of them: by their characterisation and by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import optimize

from diptych.sets import PSDFrobeniusBall, PSDTraceBall, pack, packed_size, unpack
from diptych.sets.matrices import on_simplex

KINDS = [PSDFrobeniusBall, PSDTraceBall]
kinds = pytest.mark.parametrize("kind", KINDS)
orders = st.integers(1, 4)
radii = st.floats(0.01, 100)


@st.composite
def symmetric(draw, order: int | None = None, scale: float = 10.0) -> np.ndarray:
    d = draw(orders) if order is None else order
    square = draw(arrays.arrays(np.float64, (d, d), elements=st.floats(-scale, scale)))
    return square + square.T


@st.composite
def pairs(draw) -> tuple[np.ndarray, np.ndarray]:
    d = draw(orders)
    return draw(symmetric(d)), draw(symmetric(d))


def size_in(kind, matrix: np.ndarray) -> float:
    """The gauge of the set: its norm of a positive semidefinite matrix."""
    return float(np.linalg.norm(matrix)) if kind is PSDFrobeniusBall else float(np.trace(matrix))


# --- packing


@given(pairs())
def test_packing_keeps_norms_and_inner_products(matrices) -> None:
    one, other = matrices
    assert pack(one).shape == (packed_size(len(one)),)
    assert np.linalg.norm(pack(one)) == pytest.approx(np.linalg.norm(one), rel=1e-14)
    scale = np.linalg.norm(one) * np.linalg.norm(other)
    assert pack(one) @ pack(other) == pytest.approx(np.sum(one * other), abs=1e-13 * scale)


@given(symmetric())
def test_unpacking_gives_the_matrix_back(matrix) -> None:
    back = unpack(pack(matrix))
    np.testing.assert_allclose(back, matrix, rtol=1e-15)
    np.testing.assert_array_equal(back, back.T)
    np.testing.assert_allclose(pack(back), pack(matrix), rtol=1e-15)


def test_the_layout_is_public() -> None:
    """Diagonal first, then above it row by row times sqrt(2): releases are published in it."""
    matrix = np.array([[1.0, 4.0, 5.0], [4.0, 2.0, 6.0], [5.0, 6.0, 3.0]])
    np.testing.assert_allclose(pack(matrix), [1, 2, 3, *(math.sqrt(2) * np.array([4, 5, 6]))])


@pytest.mark.parametrize("size", [2, 4, 5, 7])
def test_vectors_of_no_triangular_size_are_refused(size) -> None:
    with pytest.raises(ValueError, match=f"no symmetric matrix packs into {size} numbers"):
        unpack(np.zeros(size))


# --- projections


@kinds
@given(pairs(), radii)
def test_the_projection_is_the_nearest_point(kind, matrices, radius) -> None:
    """By the variational inequality: no point z of the set has <w - p, z - p> > 0."""
    held, (w, other) = kind(radius), (pack(matrix) for matrix in matrices)
    nearest = held.project(w)
    matrix = unpack(nearest)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-13 * radius
    assert size_in(kind, matrix) <= radius * (1 + 1e-12)
    tip, direction = np.zeros_like(w), np.linalg.eigh(unpack(w - nearest))[1][:, -1]
    farthest = pack(radius * np.outer(direction, direction))  # the rank-one point that lies most in that direction
    for z in (held.project(other), tip, farthest, held.project(w + other)):
        assert (w - nearest) @ (z - nearest) <= 1e-11 * (1 + np.linalg.norm(w)) * (radius + 1)


@kinds
@given(pairs(), radii)
def test_projecting_never_carries_points_apart(kind, matrices, radius) -> None:
    held, (one, other) = kind(radius), (pack(matrix) for matrix in matrices)
    apart = np.linalg.norm(held.project(one) - held.project(other))
    assert apart <= np.linalg.norm(one - other) + 1e-12 * (radius + np.linalg.norm(one) + np.linalg.norm(other))


@kinds
@given(symmetric(), radii)
def test_points_of_the_set_stay_where_they_are(kind, matrix, radius) -> None:
    held = kind(radius)
    inside = held.project(pack(matrix)) * (1 - 1e-9)
    inside += pack(1e-11 * radius * np.eye(len(matrix)))  # away from the border, where rounding decides
    assert held.project(inside) is inside


@kinds
@pytest.mark.parametrize("seed", range(8))
def test_projections_in_the_plane_against_an_optimiser(kind, seed) -> None:
    """All W = AA' by SciPy's SLSQP, from several starts, over lower triangular A."""
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(2, 2)) * 2.0
    w, radius = pack(square + square.T), float(rng.uniform(0.3, 3.0))

    def matrix(a: np.ndarray) -> np.ndarray:
        lower = np.array([[a[0], 0.0], [a[1], a[2]]])
        return lower @ lower.T

    limit = {"type": "ineq", "fun": lambda a: radius - size_in(kind, matrix(a))}
    found = min(
        (
            optimize.minimize(
                lambda a: np.sum((pack(matrix(a)) - w) ** 2),
                rng.normal(size=3) * 0.5,
                constraints=limit,
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            for _ in range(6)
        ),
        key=lambda one: one.fun if size_in(kind, matrix(one.x)) <= radius * (1 + 1e-9) else math.inf,
    )
    assert np.sum((kind(radius).project(w) - w) ** 2) == pytest.approx(found.fun, abs=1e-6)
    np.testing.assert_allclose(unpack(kind(radius).project(w)), matrix(found.x), atol=1e-3)


@given(arrays.arrays(np.float64, st.integers(1, 6), elements=st.floats(-50, 50)), radii)
def test_the_simplex_by_bisection(values, total) -> None:
    """max(v - c, 0) with the c at which the entries sum to the total."""
    found = on_simplex(values, total)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(total, rel=1e-9, abs=1e-12)
    low, high = values.min() - total, values.max()
    for _ in range(200):
        c = 0.5 * (low + high)
        low, high = (c, high) if np.maximum(values - c, 0.0).sum() > total else (low, c)
    np.testing.assert_allclose(found, np.maximum(values - low, 0.0), atol=1e-9 * (total + 100))


# --- sizes


@kinds
@given(pairs(), radii)
def test_no_point_and_no_two_points_lie_farther_than_stated(kind, matrices, radius) -> None:
    held = kind(radius)
    one, other = (held.project(pack(matrix)) for matrix in matrices)
    assert held.radius == radius
    assert max(np.linalg.norm(one), np.linalg.norm(other)) <= radius * (1 + 1e-12)
    assert np.linalg.norm(one - other) <= held.diameter * (1 + 1e-12)


@kinds
def test_radius_and_diameter_are_reached(kind) -> None:
    held = kind(3.0)
    one, other = (pack(3.0 * np.diag(row)) for row in np.eye(2))
    for w in (one, other):
        np.testing.assert_allclose(held.project(w), w, atol=1e-15)
        assert np.linalg.norm(w) == pytest.approx(held.radius)
    assert np.linalg.norm(one - other) == pytest.approx(held.diameter, rel=1e-14)


@kinds
@pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan, "wide", True])
def test_what_is_no_radius_is_refused(kind, radius) -> None:
    with pytest.raises(ValueError, match="radius must be a number above 0"):
        kind(radius)
