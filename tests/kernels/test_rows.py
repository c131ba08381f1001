from __future__ import annotations

import numpy as np
import pytest

from diptych.kernels import affine, combine, gram, scores
from diptych.kernels.classes import split


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (1025, 4), (5000, 33), (150_001, 3)])
def test_passes_over_rows(shape) -> None:
    rng = np.random.default_rng(0)
    X, w, c = rng.normal(size=shape), rng.normal(size=shape[1]), rng.normal(size=shape[0])
    np.testing.assert_allclose(scores(X, w), X @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(combine(X, c), X.T @ c, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(gram(X, c, block=100), X.T @ (c[:, None] * X), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_classes_come_apart(share, n) -> None:
    rng = np.random.default_rng(1)
    values, positive = rng.normal(size=n), rng.random(n) < share
    up, down = split(values, positive, int(positive.sum()))
    np.testing.assert_array_equal(up, values[positive])
    np.testing.assert_array_equal(down, values[~positive])
    mapped = affine(values, positive, (1.0, 2.0), (3.0, -1.0))
    np.testing.assert_allclose(mapped, np.where(positive, 1 + 2 * values, 3 - values))
    affine(values, positive, (1.0, 2.0), (3.0, -1.0), out=values)
    np.testing.assert_array_equal(values, mapped)
