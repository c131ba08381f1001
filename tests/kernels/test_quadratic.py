"""Sums over pairs of quadratic forms against explicit pairs: any blocks, any classes, any number of threads."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from diptych.kernels import quadratic, threads
from diptych.kernels.quadratic import QuadraticSums
from diptych.losses import Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge

LOSSES = [Logistic(), Logistic(1.0, 0.5), Squared(), Hinge(), SquaredHinge(), SmoothedHinge(), SmoothedHinge(1.0, 0.1)]


def problem(n: int, d: int, classes: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    half = rng.normal(size=(d, d))
    codes = np.sort(rng.integers(classes, size=n)) * 7 - 3  # class codes need not be 0, 1, ...
    return X / np.linalg.norm(X, axis=1).max(), codes, half @ half.T / d


def explicit(loss, offset, X, codes, W) -> tuple[float, np.ndarray]:
    """Value and gradient, one pair after the other."""
    value, gradient = 0.0, np.zeros_like(W)
    for i in range(len(X)):
        for j in range(i):
            u = X[i] - X[j]
            sign = 1.0 if codes[i] == codes[j] else -1.0
            t = np.array([sign * (offset - u @ W @ u)])
            value += float(loss.value(t)[0])
            gradient -= sign * float(loss.slope(t)[0]) * np.outer(u, u)
    return value, gradient


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1.0, 2.5])
@pytest.mark.parametrize(("n", "classes"), [(2, 1), (2, 2), (23, 1), (24, 2), (25, 3), (31, 5)])
def test_against_explicit_pairs(loss, offset, n, classes, monkeypatch) -> None:
    """Blocks of 8: one that is cut short, several, and classes that end inside of blocks."""
    X, codes, W = problem(n, 3, classes, seed=n)
    value, gradient = explicit(loss, offset, X, codes, W)
    for block in (8, quadratic.BLOCK):
        monkeypatch.setattr(quadratic, "BLOCK", block)
        sums = QuadraticSums(loss, offset, X, codes, W)
        assert sums.total() == pytest.approx(value, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(sums.gradient(), gradient, atol=1e-12 * n * n)
        np.testing.assert_array_equal(sums.gradient(), sums.gradient().T)


def test_one_record_has_no_pairs() -> None:
    sums = QuadraticSums(Logistic(), 1.0, *problem(1, 2, 1))
    assert sums.total() == 0.0
    np.testing.assert_array_equal(sums.gradient(), np.zeros((2, 2)))


@pytest.mark.parametrize("block", [64, 100])
def test_results_do_not_depend_on_the_number_of_threads(block, monkeypatch) -> None:
    X, codes, W = problem(700, 6, 3)
    monkeypatch.setattr(quadratic, "BLOCK", block)
    assert len(X) ** 2 // 2 >= threads.SERIAL_BELOW
    results = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        sums = QuadraticSums(Logistic(), 1.0, X, codes, W)
        results.append((sums.total(), sums.gradient()))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def test_nothing_of_size_n_by_n_is_held(monkeypatch) -> None:
    """One number a pair would take 128 MB; a thread holds a few blocks of 1.2 MB."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    n = 4000
    sums = QuadraticSums(Logistic(), 1.0, *problem(n, 20, 4))
    sums.gradient()
    tracemalloc.start()
    try:
        sums.total()
        sums.gradient()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * n * 8 / 5
