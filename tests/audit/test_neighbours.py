from __future__ import annotations

import numpy as np
import pytest

from diptych import Adjacency
from diptych.audit import Neighbours
from diptych.audit.neighbours import into_ball


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
def test_neighbours_differ_in_one_record_only_and_stay_in_bounds(adjacency) -> None:
    rng = np.random.default_rng(0)
    pairs = Neighbours.random(rng, 200, 6, 3, 2.0, adjacency, 2)
    for _ in range(20):
        pairs = pairs.moved(rng, np.full(200, 0.3), 2.0, adjacency)
        (X, positive), (other, labels) = pairs.sides()
        assert np.array_equal(X[:, :-1], other[:, :-1])
        assert np.array_equal(positive[:, :-1], labels[:, :-1])
        assert np.linalg.norm(X, axis=2).max() <= 1 + 1e-12
        assert np.linalg.norm(pairs.w, axis=1).max() <= 2.0 + 1e-12
        if adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            assert np.array_equal(positive[:, -1], labels[:, -1])
            assert set(positive.sum(axis=1)) == {2}
            assert 0 < positive[:, -1].mean() < 1
        else:
            assert np.any(positive[:, -1] != labels[:, -1])


def test_projection() -> None:
    np.testing.assert_allclose(into_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0), [[0.6, 0.8], [0.3, 0.4]])
