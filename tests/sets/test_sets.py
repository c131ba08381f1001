from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.sets import Free, L2Ball, pack, root, unpack

vectors = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3).map(np.array)


@given(vectors, vectors, st.floats(0.01, 100))
def test_projection_is_the_nearest_point(w, other, radius) -> None:
    ball = L2Ball(radius)
    nearest = ball.project(w)
    assert np.linalg.norm(nearest) <= radius * (1 + 1e-12)
    inside = ball.project(other)
    assert (w - nearest) @ (inside - nearest) <= 1e-9 * (1 + np.linalg.norm(w)) * radius


@given(vectors)
def test_free_space_leaves_vectors_alone(w) -> None:
    assert Free().project(w) is w
    assert math.isinf(Free().radius)
    assert math.isinf(Free().diameter)


def test_a_ball_knows_its_size() -> None:
    assert L2Ball(3.0).diameter == 6.0
    for radius in (0.0, -1.0, math.inf, math.nan, 1e-300, "wide", True):
        with pytest.raises(ValueError, match="radius must be a number above 0"):
            L2Ball(radius)


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_a_root_gives_the_matrix_back_by_falling_eigenvalue(rank, rng) -> None:
    half = rng.normal(size=(5, rank))
    matrix = half @ half.T
    found = root(pack(matrix))
    np.testing.assert_allclose(found.T @ found, matrix, atol=1e-12)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths**2, np.linalg.eigvalsh(matrix)[::-1], atol=1e-12)
    np.testing.assert_allclose(found @ found.T, np.diag(lengths**2), atol=1e-12)
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
    assert np.all(largest >= 0.0)


def test_the_root_of_a_matrix_that_is_not_quite_semidefinite_ignores_what_is_below_zero() -> None:
    np.testing.assert_array_equal(root(pack(np.diag([4.0, -1e-17]))), [[2.0, 0.0], [0.0, 0.0]])
    assert unpack(pack(np.eye(3))).tolist() == np.eye(3).tolist()
