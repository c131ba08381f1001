"""Mapping rows: against matrix products, row by row alone, and shortening that no rounding undoes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from diptych.kernels.projections import Block, map_rows, row_lengths, shorten


def blocks_of(kind: str, features: int, dimension: int, rng) -> tuple[list[Block], np.ndarray]:
    """Blocks of seven features, and the map that they make."""
    whole, blocks = np.zeros((features, dimension)), []
    for start in range(0, features, 7):
        count = min(7, features - start)
        if kind == "dense":
            values, places = rng.normal(size=(count, dimension)), np.empty((count, 0), dtype=np.int32)
            whole[start : start + count] = values
        else:
            values = rng.normal(size=(count, 3))
            places = np.array([rng.permutation(dimension)[:3] for _ in range(count)], dtype=np.int32)
            for j in range(count):
                whole[start + j, places[j]] = values[j]
        blocks.append(Block(start, places, values))
    return blocks, whole


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_are_mapped_like_a_matrix_product(kind, rng) -> None:
    X = sparse.random(40, 33, 0.3, format="csr", random_state=1)
    blocks, whole = blocks_of(kind, 33, 5, rng)
    for rows in (X, sparse.csr_array(X), X.toarray()):
        np.testing.assert_allclose(map_rows(rows, blocks, 5), X.toarray() @ whole, atol=1e-13)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_image_depends_on_its_own_row_alone_to_the_last_bit(kind, rng, monkeypatch) -> None:
    """Other records, their number, and how many threads share the work change nothing."""
    X = rng.normal(size=(50, 33))
    blocks, _ = blocks_of(kind, 33, 5, rng)
    whole = map_rows(X, blocks, 5)
    for keep in (slice(0, 1), slice(3, 17), slice(10, 50)):
        np.testing.assert_array_equal(map_rows(np.ascontiguousarray(X[keep]), blocks, 5), whole[keep])
        np.testing.assert_array_equal(map_rows(sparse.csr_matrix(X[keep]), blocks, 5), whole[keep])
    monkeypatch.setattr("diptych.kernels.threads.SERIAL_BELOW", 1)
    np.testing.assert_array_equal(map_rows(X, blocks, 5), whole)


@pytest.mark.parametrize("radius", [1.0, 2.0**0.5, 1e-6])
def test_no_row_is_longer_than_asked_afterwards(radius, rng) -> None:
    """In extended precision; short rows stay as they are."""
    rows = rng.normal(size=(400, 30)) * radius * 10.0 ** rng.uniform(-2, 2, size=(400, 1))
    before = rows.copy()
    shorten(rows, radius)
    lengths = np.sqrt((rows.astype(np.longdouble) ** 2).sum(axis=1))
    assert np.all(lengths <= radius)
    short = np.linalg.norm(before, axis=1) < 0.999 * radius
    assert 50 < short.sum() < 350
    np.testing.assert_array_equal(rows[short], before[short])
    assert np.all(lengths[~short] > 0.998 * radius)
    np.testing.assert_allclose(rows, before * (lengths / np.linalg.norm(before, axis=1)).astype(float)[:, None])


def test_lengths_of_sparse_rows(rng) -> None:
    X = sparse.random(30, 20, 0.2, format="csr", random_state=2)
    np.testing.assert_allclose(row_lengths(X), np.linalg.norm(X.toarray(), axis=1), rtol=1e-14)
    assert row_lengths(sparse.csr_matrix(np.array([[1e200, 1e200]])))[0] == pytest.approx(2**0.5 * 1e200)
