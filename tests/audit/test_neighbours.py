from __future__ import annotations

import numpy as np
import pytest

from diptych import Adjacency
from diptych.audit import Neighbours
from diptych.audit.neighbours import into_ball
from diptych.risks import MetricTable
from diptych.spec import OF_PAIRS


@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
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


@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
def test_tables_of_three_classes(adjacency) -> None:
    """Labels of the changed record differ only where they are private; all classes and packed matrices are met."""
    rng = np.random.default_rng(1)
    pairs = Neighbours.random(rng, 200, 4, 2, 1.0, adjacency, 0, classes=3, dimension=3)
    assert pairs.w.shape == (200, 3)
    for _ in range(10):
        pairs = pairs.moved(rng, np.full(200, 0.3), 1.0, adjacency)
        assert set(np.unique(pairs.codes)) == {0, 1, 2}
        assert np.any(pairs.codes[:, -1] != pairs.codes[:, -2]) == (adjacency is Adjacency.REPLACE)
        alike = (pairs.codes[:, :1] == pairs.codes[:, :-1]).all(axis=1)
        assert 0 < alike.mean() < 1  # some tables hold one class only
    for k in range(200):
        here, there = pairs.tables(k, MetricTable)
        assert (here.n, here.d) == (there.n, there.d) == (4, 2)
        np.testing.assert_array_equal(here.X[:-1], there.X[:-1])
        np.testing.assert_array_equal(here.codes[:-1], there.codes[:-1])


def test_taking_pairs_and_keeping_better_ones() -> None:
    rng = np.random.default_rng(2)
    pairs = Neighbours.random(rng, 5, 3, 2, 1.0, Adjacency.REPLACE, 0, classes=3)
    twice = pairs.taken(np.array([4, 4, 1]))
    np.testing.assert_array_equal(twice.X, pairs.X[[4, 4, 1]])
    np.testing.assert_array_equal(twice.codes, pairs.codes[[4, 4, 1]])
    other = twice.moved(rng, np.ones(3), 1.0, Adjacency.REPLACE)
    twice.keep(np.array([False, True, False]), other)
    np.testing.assert_array_equal(twice.X[[0, 2]], pairs.X[[4, 1]])
    np.testing.assert_array_equal(twice.X[1], other.X[1])
    assert other.classes == twice.classes == 3


def test_projection() -> None:
    np.testing.assert_allclose(into_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0), [[0.6, 0.8], [0.3, 0.4]])
