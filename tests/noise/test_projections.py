"""Random maps: what they keep of scalar products, that they can be drawn again, and that they need no table."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import stats

from diptych.noise import MAPS, RandomMap, SecureBits, SeededBits
from tests.statistics import ALARM

maps = pytest.mark.parametrize("kind", MAPS)


def matrix(phi: RandomMap) -> np.ndarray:
    out = np.zeros((phi.features, phi.dimension))
    for start, places, values in phi.blocks():
        for j, row in enumerate(values):
            out[start + j, places[j] if places.size else slice(None)] = row
    return out


@maps
def test_blocks_columns_and_the_way_back_are_one_map(kind, rng) -> None:
    phi = RandomMap.draw(kind, 37, 2500, SeededBits(3))
    whole, w = matrix(phi), rng.normal(size=37)
    np.testing.assert_allclose(phi.back(w), whole @ w, atol=1e-13)
    for feature in (0, 1023, 1024, 2499):
        np.testing.assert_array_equal(phi.column(feature), whole[feature])
    np.testing.assert_array_equal(matrix(RandomMap.draw(kind, 37, 2500, SeededBits(3))), whole)
    assert np.any(matrix(RandomMap.draw(kind, 37, 2500, SeededBits(4))) != whole)
    assert RandomMap.draw(kind, 3, 3, SecureBits()).key != RandomMap.draw(kind, 3, 3, SecureBits()).key
    assert "table" not in inspect.signature(RandomMap.draw).parameters


@maps
@pytest.mark.parametrize("aligned", [True, False])
def test_scalar_products_are_kept_in_the_mean_with_the_stated_variance(kind, aligned) -> None:
    """Lemma 2, over many maps; the alarm is that of a mean of bounded fourth moments, as if Gaussian."""
    k, d, draws = 25, 6, 4000
    rng = np.random.default_rng(0)
    u = rng.normal(size=d)
    v = u if aligned else rng.normal(size=d)
    source = SeededBits(1)
    errors = np.empty(draws)
    for t in range(draws):
        whole = matrix(RandomMap.draw(kind, k, d, source))
        errors[t] = (u @ whole) @ (v @ whole) - u @ v
    bound = 2.0 * (u @ u) * (v @ v) / k
    limit = stats.norm.isf(ALARM / 2)
    assert abs(errors.mean()) <= limit * errors.std() / math.sqrt(draws)
    assert errors.var() <= bound * (1.0 + limit * 2.0 / math.sqrt(draws))
    assert errors.var() >= 0.2 * bound
    assert abs((2.0 * errors + u @ v).mean()) > limit * 2.0 * errors.std() / math.sqrt(draws)  # the control: 2 Phi


@maps
def test_columns_measure_one(kind) -> None:
    squares = (matrix(RandomMap.draw(kind, 64, 3000, SeededBits(0))) ** 2).sum(axis=1)
    if kind == "gaussian":
        assert squares.mean() == pytest.approx(1.0, abs=6 * math.sqrt(2 / 64 / 3000))
    else:
        np.testing.assert_allclose(squares, 1.0)
