from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.sets import Free, L2Ball

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
