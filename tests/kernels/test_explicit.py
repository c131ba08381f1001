"""Pair sums pair by pair, against faster kernels where there are any and against loops where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from diptych import Logistic, QNormHinge, SquaredHinge
from diptych.kernels import explicit as module
from diptych.kernels import pair_sums
from diptych.kernels.explicit import ExplicitSums


@pytest.mark.parametrize("block", [5, 1 << 18])
@pytest.mark.parametrize("loss", [Logistic(1.0, 0.5), SquaredHinge()], ids=str)
def test_against_the_fast_kernels(loss, block, monkeypatch, rng) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    s, positive, q = rng.normal(size=90), rng.random(90) < 0.3, rng.normal(size=90)
    fast, slow = pair_sums(loss, s, positive), ExplicitSums(loss, s, positive)
    assert slow.total() == pytest.approx(fast.total())
    for order, weights in ((1, None), (2, None), (2, q)):
        np.testing.assert_allclose(slow.sums(order, weights), fast.sums(order, weights), atol=1e-9)


@pytest.mark.parametrize("n", [2, 60])
def test_a_loss_that_no_kernel_suits_is_summed_pair_by_pair(n, rng) -> None:
    loss, s, positive = QNormHinge(1.0, 0.7, 1.3), rng.normal(size=n), np.arange(n) % 3 == 0
    sums = pair_sums(loss, s, positive)
    assert isinstance(sums, ExplicitSums)
    pairs = s[positive][:, None] - s[~positive]
    assert sums.total() == pytest.approx(loss.value(pairs).sum())
    np.testing.assert_allclose(sums.sums(1)[positive], loss.slope(pairs).sum(axis=1))
    np.testing.assert_allclose(sums.sums(1)[~positive], loss.slope(pairs).sum(axis=0))


def test_threads_change_nothing_but_rounding(monkeypatch, rng) -> None:
    s, positive = rng.normal(size=300), np.arange(300) % 2 == 0
    alone = ExplicitSums(QNormHinge(), s, positive).sums(1)
    monkeypatch.setattr("diptych.kernels.threads.SERIAL_BELOW", 10)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    np.testing.assert_allclose(ExplicitSums(QNormHinge(), s, positive).sums(1), alone, rtol=1e-12)
