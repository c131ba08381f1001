"""All pair kernels against explicit pairs, at every spread, with ties, with a single positive."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.kernels import pair_sums
from diptych.kernels.exponential import ExponentialSums
from diptych.kernels.grid import GridSums
from diptych.kernels.pairs import MomentSums
from diptych.kernels.sorted import SortedSums
from diptych.losses import Hinge, Logistic, Loss, PiecewiseLoss, SmoothedHinge, Squared, SquaredHinge

LOSSES = [Logistic(), Logistic(1.0, 0.5), Squared(), Hinge(), SquaredHinge(), SmoothedHinge(), SmoothedHinge(1.0, 0.1)]
SPREADS = [1e-3, 0.3, 1.0, 30.0, 1e3, 1e4]
CASES = ["normal", "ties", "one positive", "one negative", "two clusters"]
KERNEL_ERROR = 1e-11


def scores_of(case: str, spread: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    if case == "ties":
        s = np.round(s * 4) / 4 + 0.1
    if case == "two clusters":
        s = np.where(rng.random(n) < 0.5, 0.0, 1.0) + 1e-9 * rng.normal(size=n)
    positive = rng.random(n) < 0.3
    if case.startswith("one"):
        positive[:] = False
        positive[n // 2] = True
    return s * spread / max(np.ptp(s), 1e-9), ~positive if case == "one negative" else positive


def explicit(loss: Loss, s, positive, order, q=None) -> np.ndarray:
    gaps = s[positive][:, None] - s[~positive][None, :]
    if order == 2 and isinstance(loss, PiecewiseLoss):  # a jump: decided by the comparison, not by its rounding
        table = sum((piece.coefficient * (gaps < piece.knot) for piece in loss.pieces(2)), np.zeros_like(gaps))
    else:
        table = (loss.value, loss.slope, loss.curvature)[order](gaps)
    q = np.ones(s.size) if q is None else q
    out = np.empty(s.size)
    out[positive] = table @ q[~positive]
    out[~positive] = q[positive] @ table
    return out


def evaluators(loss: Loss, s, positive):
    yield pair_sums(loss, s, positive)
    if isinstance(loss, Logistic):
        yield ExponentialSums(loss, s, positive)
        if np.ptp(s) / loss.temperature <= 1e4:
            yield GridSums(loss, s, positive, s.min(), s.max())


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("case", CASES)
def test_against_explicit_pairs(loss, spread, case) -> None:
    s, positive = scores_of(case, spread * loss.temperature, 400, 7)
    partners = np.where(positive, (~positive).sum(), positive.sum())
    slope = loss.slope_bound(float(np.ptp(s)))
    scale = loss.value(np.array([-np.ptp(s)]))[0]
    q = np.random.default_rng(3).normal(size=s.size)
    for sums in evaluators(loss, s, positive):
        pairs = positive.sum() * (~positive).sum()
        assert abs(sums.total() - explicit(loss, s, positive, 0)[positive].sum()) <= KERNEL_ERROR * scale * pairs
        error = np.abs(sums.sums(1) - explicit(loss, s, positive, 1)) / partners
        assert error.max() <= KERNEL_ERROR * slope
        if loss.differentiable:
            curvature = max(float(loss.curvature(np.linspace(-np.ptp(s), np.ptp(s), 999)).max()), 1 / loss.temperature)
            error = np.abs(sums.sums(2) - explicit(loss, s, positive, 2)) / partners
            assert error.max() <= 10 * KERNEL_ERROR * curvature
            error = np.abs(sums.sums(2, q) - explicit(loss, s, positive, 2, q)) / partners
            assert error.max() <= 10 * KERNEL_ERROR * curvature * np.abs(q).max()


@pytest.mark.parametrize("margin", [1.0, 0.3, 0.7])
def test_ties_at_the_kink_fall_as_explicit_pairs_do(margin) -> None:
    """Differences that equal the margin but for rounding are decided by the same comparison."""
    rng = np.random.default_rng(0)
    s = rng.integers(-20, 20, size=500) * 0.1
    positive = rng.random(500) < 0.5
    loss = Hinge(margin)
    np.testing.assert_array_equal(pair_sums(loss, s, positive).sums(1), explicit(loss, s, positive, 1))


def test_many_equal_scores_stay_fast_and_right() -> None:
    s = np.repeat([0.0, 1.0, 2.0], 50_000)
    positive = np.arange(s.size) % 3 == 0
    sums = pair_sums(Hinge(), s, positive).sums(1)
    below = np.array([(~positive[s > x - 1.0]).sum() for x in (0.0, 1.0, 2.0)])
    above = np.array([(positive[s < x + 1.0]).sum() for x in (0.0, 1.0, 2.0)])
    np.testing.assert_array_equal(sums, -np.where(positive, below[s.astype(int)], above[s.astype(int)]))


def test_the_choice_of_kernel() -> None:
    rng = np.random.default_rng(0)
    s, positive = rng.normal(size=1000), rng.random(1000) < 0.5
    assert isinstance(pair_sums(Logistic(), s, positive), GridSums)
    assert isinstance(pair_sums(Logistic(), 1e9 * s, positive), ExponentialSums)
    assert isinstance(pair_sums(Logistic(temperature=1e-6), s, positive), ExponentialSums)
    assert isinstance(pair_sums(Squared(), s, positive), MomentSums)
    assert isinstance(pair_sums(SmoothedHinge(), s, positive), SortedSums)


def test_spreads_beyond_all_measure() -> None:
    s = np.concatenate(([-1e300, 1e300], np.random.default_rng(0).normal(size=98)))
    positive = np.arange(100) % 2 == 0
    np.testing.assert_allclose(
        pair_sums(Logistic(), s, positive).sums(1), explicit(Logistic(), s, positive, 1), atol=1e-9
    )


def test_large_tables_agree_across_threads_and_repeat_exactly(monkeypatch) -> None:
    rng = np.random.default_rng(5)
    n = 220_000
    s, positive = rng.normal(size=n), rng.random(n) < 0.02
    q = rng.normal(size=n)
    for loss in (Logistic(), Logistic(0.0, 1e-4), SmoothedHinge()):
        results = {}
        for threads in ("1", "2", "3"):
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
            first, second = (pair_sums(loss, s, positive) for _ in range(2))
            results[threads] = (first.sums(1), first.sums(2, q))
            np.testing.assert_array_equal(results[threads][0], second.sums(1))
            np.testing.assert_array_equal(results[threads][1], second.sums(2, q))
        for threads in ("2", "3"):
            np.testing.assert_allclose(results["1"][0], results[threads][0], rtol=1e-9, atol=1e-9)
            scale = np.abs(results["1"][1]).max()
            np.testing.assert_allclose(results["1"][1], results[threads][1], rtol=0, atol=1e-10 * scale)
        some = rng.choice(n, 200, replace=False)
        for k in some:
            gaps = s[k] - s[~positive] if positive[k] else s[positive] - s[k]
            mean = loss.slope(gaps).mean()
            assert abs(results["1"][0][k] / gaps.size - mean) <= 1e-11


def test_a_loss_without_a_kernel_is_refused() -> None:
    class Odd(Loss):
        name = "odd"

        def _phi(self, u):
            return u

        _dphi = _d2phi = _phi

        def curvature_bound(self, reach):
            return 0.0

        def pull(self):
            return 0.0

    with pytest.raises(TypeError, match="no pair kernel suits Odd"):
        pair_sums(Odd(), np.zeros(2), np.array([True, False]))


def test_only_curvatures_take_weights() -> None:
    s, positive = np.array([0.0, 1.0, 2.0]), np.array([True, False, True])
    for loss in (Squared(), SmoothedHinge()):
        with pytest.raises(ValueError, match=r"weights|order"):
            pair_sums(loss, s, positive).sums(1, np.ones(3))
