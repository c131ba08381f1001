"""The auditor is audited: it must find what is there, and nothing where nothing is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from diptych.accounting import gaussian_delta
from diptych.audit import clopper_pearson, distinguish

ERROR = 1e-8
RUNS = 4000


def gaussian(shift: float, seed: int):
    draws = np.random.default_rng(seed).normal(shift, 1.0, size=(2 * RUNS, 1))
    return lambda k: draws[k]


def laplace(shift: float, seed: int):
    draws = np.random.default_rng(seed).laplace(shift, 1.0, size=(2 * RUNS, 1))
    return lambda k: draws[k]


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_clopper_pearson_is_scipys(hits, runs) -> None:
    low, high = clopper_pearson(hits, runs, 0.01)
    want = stats.binomtest(hits, runs).proportion_ci(0.98, method="exact")
    assert low == pytest.approx(want.low, abs=1e-12)
    assert high == pytest.approx(want.high, abs=1e-12)


@pytest.mark.parametrize("draw", [gaussian, laplace])
def test_null(draw) -> None:
    """The same law on both sides: an auditor that sees a difference is broken."""
    for seed in range(20):
        found = distinguish(draw(0.0, seed), draw(0.0, 1000 + seed), RUNS, 1e-5, ERROR)
        assert found.epsilon == 0.0
        assert found.mu == 0.0


@pytest.mark.parametrize("mu", [0.7, 1.0, 2.0])
def test_gaussian_mechanisms_are_seen_nearly_whole_and_never_more(mu) -> None:
    for seed in range(5):
        found = distinguish(gaussian(mu, seed), gaussian(0.0, 100 + seed), RUNS, 1e-2, ERROR)
        assert 0.6 * mu - 0.15 < found.mu <= mu
        assert gaussian_delta(mu, found.epsilon) >= 1e-2 if found.epsilon > 0 else mu <= 0.5


def test_laplace_mechanisms_are_seen_nearly_whole_and_never_more() -> None:
    for seed in range(5):
        found = distinguish(laplace(1.0, seed), laplace(0.0, 100 + seed), RUNS, 0.0, ERROR)
        assert 0.6 <= found.epsilon <= 1.0


def test_vectors_are_told_apart_along_their_difference() -> None:
    rng = np.random.default_rng(0)
    here, there = rng.normal(size=(2, 2 * RUNS, 5))
    here[:, 3] += 1.5
    found = distinguish(lambda k: here[k], lambda k: there[k], RUNS, 1e-2, ERROR)
    assert 0.9 <= found.mu <= 1.5
    assert found.confidence == 1 - ERROR


def test_a_release_without_noise_has_no_finite_epsilon_to_find() -> None:
    found = distinguish(lambda k: np.ones(1), lambda k: np.zeros(1), 200, 0.0, ERROR)
    assert found.epsilon > math.log(5)
