"""All pair kernels against explicit pairs, at every spread, with ties, with a single positive."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych.kernels import pair_sums
from diptych.kernels.exponential import ExponentialSums
from diptych.kernels.grid import GridSums
from diptych.kernels.ladder import Ladder
from diptych.kernels.pairs import MomentSums
from diptych.kernels.sorted import SortedSums
from diptych.losses import Hinge, Logistic, Loss, PiecewiseLoss, SmoothedHinge, Squared, SquaredHinge, TruncatedPower

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


def test_only_curvatures_take_weights() -> None:
    s, positive = np.array([0.0, 1.0, 2.0]), np.array([True, False, True])
    for loss in (Squared(), SmoothedHinge()):
        with pytest.raises(ValueError, match=r"weights|order"):
            pair_sums(loss, s, positive).sums(1, np.ones(3))


UNEVEN = {
    "a tight cluster": lambda z: np.where(z < 0.5, 1.0 + 1e-12 * z, 10 * z),
    "mostly one value": lambda z: np.where(np.abs(z) < 2, 0.0, z),
    "heavy tails": lambda z: z**5,
    "far outliers": lambda z: np.where(np.abs(z) > 2.5, 1e12 * z, z),
    "two far outliers": lambda z: np.concatenate(([-1e300, 1e300], z[2:])),
    "beyond the largest double": lambda z: np.where(np.abs(z) > 1, 1.7e308 * np.sign(z), z),
    "subnormal": lambda z: np.round(3 * z) * 5e-324,
    "ascending": np.sort,
    "descending": lambda z: np.sort(z)[::-1],
}


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("case", UNEVEN)
def test_ranks_are_those_of_explicit_comparisons(case, share) -> None:
    """However badly scores fill the buckets, and whichever class is the smaller one."""
    rng = np.random.default_rng(2)
    s, positive = UNEVEN[case](rng.normal(size=1500)), rng.random(1500) < share
    q = rng.integers(-3, 4, size=1500).astype(float)
    with np.errstate(over="ignore"):
        gaps = s[positive][:, None] - s[~positive][None, :]
    for margin in (1e-300, 0.3, 1.0):
        below = gaps < margin
        sums = pair_sums(Hinge(margin), s, positive).sums(1)
        np.testing.assert_array_equal(sums[positive], -below.sum(axis=1))
        np.testing.assert_array_equal(sums[~positive], -below.sum(axis=0))
    sums = pair_sums(SquaredHinge(), s, positive).sums(2, q)
    np.testing.assert_array_equal(sums[positive], 2.0 * (below @ q[~positive]))
    np.testing.assert_array_equal(sums[~positive], 2.0 * (q[positive] @ below))


@pytest.mark.parametrize("share", [0.1, 0.9])
@pytest.mark.parametrize("case", ["a tight cluster", "mostly one value", "heavy tails"])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge(), SmoothedHinge(1.0, 0.1)], ids=str)
def test_uneven_scores_against_explicit_pairs(loss, case, share) -> None:
    rng = np.random.default_rng(4)
    s, positive = UNEVEN[case](rng.normal(size=800)), rng.random(800) < share
    partners = np.where(positive, (~positive).sum(), positive.sum())
    sums, spread = pair_sums(loss, s, positive), float(np.ptp(s))
    error = np.abs(sums.sums(1) - explicit(loss, s, positive, 1)) / partners
    assert error.max() <= KERNEL_ERROR * loss.slope_bound(spread)
    total, pairs = explicit(loss, s, positive, 0)[positive].sum(), positive.sum() * (~positive).sum()
    assert abs(sums.total() - total) <= KERNEL_ERROR * loss.value(np.array([-spread]))[0] * pairs


@pytest.mark.parametrize("share", [0.1, 0.9])
@pytest.mark.parametrize("margin", [0.3, 0.7, 1.1])
def test_ties_at_the_knot_fall_alike_for_either_smaller_class(margin, share) -> None:
    rng = np.random.default_rng(1)
    s = rng.integers(-30, 30, size=700) * 0.1 + rng.integers(0, 3, size=700) * 2.0**-52
    positive, q = rng.random(700) < share, rng.integers(-3, 4, size=700).astype(float)
    for loss in (Hinge(margin), SquaredHinge(margin), SmoothedHinge(margin, 0.25)):
        sums = pair_sums(loss, s, positive)
        order = 2 if loss.differentiable else 1
        np.testing.assert_allclose(sums.sums(order), explicit(loss, s, positive, order), rtol=0, atol=1e-9)
        if loss.differentiable:
            np.testing.assert_allclose(sums.sums(2, q), explicit(loss, s, positive, 2, q), rtol=0, atol=1e-9)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("mirrored", [True, False])
def test_rounding_that_carries_a_partner_across_buckets(mirrored, few) -> None:
    """Here s - t rounds up to the knot for t of several buckets beyond s - knot."""
    rng = np.random.default_rng(3)
    t = 0.01 + rng.integers(-400, 400, size=500 if few else 900) * 2.0**-59
    s = 1.01 + rng.integers(-6, 6, size=900 if few else 500) * 2.0**-52
    positive = np.arange(1400) < s.size
    scores = np.concatenate((s, t))
    if mirrored:
        scores, positive = -scores, ~positive
    below = s[:, None] - t[None, :] < 1.0
    assert np.any(below != (t[None, :] > (s - 1.0)[:, None]))
    expected = np.concatenate((below.sum(axis=1), below.sum(axis=0)))
    np.testing.assert_array_equal(pair_sums(Hinge(1.0), scores, positive).sums(1), -expected)


def test_sums_over_many_records_keep_their_accuracy() -> None:
    """One bin takes hundreds of thousands of records at 10^4 temperatures: sums that are not compensated would fail."""
    rng = np.random.default_rng(6)
    n, loss = 400_000, SmoothedHinge()
    s = np.where(rng.random(n) < 0.5, 9e3 * rng.random(n), rng.choice([0.1, 0.3, 1234.567], size=n))
    for share in (3 / n, 0.5, 1 - 3 / n):
        positive = rng.random(n) < share
        positive[:2] = True, False
        sums = pair_sums(loss, s, positive).sums(1)
        for k in np.concatenate([rng.choice(np.flatnonzero(mask), 8) for mask in (positive, ~positive)]):
            gaps = s[k] - s[~positive] if positive[k] else s[positive] - s[k]
            assert abs(sums[k] - math.fsum(loss.slope(gaps))) <= KERNEL_ERROR * gaps.size


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_sorted_sums_are_the_same_for_any_number_of_threads(monkeypatch, share) -> None:
    rng = np.random.default_rng(8)
    n = 150_000
    s, positive, q = np.round(rng.normal(size=n), 4), rng.random(n) < share, rng.normal(size=n)
    s[: n // 10] = 0.5 + 1e-9 * rng.normal(size=n // 10)  # badly filled buckets
    for loss in (Hinge(), SquaredHinge(), SmoothedHinge(1.0, 0.1)):
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        alone = pair_sums(loss, s, positive)
        for threads in ("2", "5"):
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
            several = pair_sums(loss, s, positive)
            np.testing.assert_array_equal(several.sums(1), alone.sums(1))
            np.testing.assert_array_equal(several.sums(2, q), alone.sums(2, q))
            assert several.total() == alone.total()


def test_a_derivative_with_pieces_of_several_powers() -> None:
    class Bent(PiecewiseLoss):
        """(a - t)_+ + (a - t)_+^2 / 2, with a second knot for the square."""

        name = "bent"

        def pieces(self, order):
            step = TruncatedPower((1.0, -1.0, 0.0)[order], 1.0, 1 - order)
            square = TruncatedPower((0.5, -1.0, 1.0)[order], 0.5, 2 - order)
            return (square,) if order == 2 else (square, step)

        def value(self, t):
            return np.maximum(1 - t, 0) + 0.5 * np.maximum(0.5 - t, 0) ** 2

        def slope(self, t):
            return -1.0 * (t < 1) - np.maximum(0.5 - t, 0)

        _phi = _dphi = _d2phi = curvature_bound = pull = None

    rng = np.random.default_rng(9)
    s, positive = rng.normal(size=300), rng.random(300) < 0.4
    sums = pair_sums(Bent(), s, positive)
    np.testing.assert_allclose(sums.sums(1), explicit(Bent(), s, positive, 1), rtol=1e-12)
    np.testing.assert_allclose(sums.total(), explicit(Bent(), s, positive, 0)[positive].sum(), rtol=1e-12)


def test_scores_that_are_not_finite_do_no_harm() -> None:
    """No promise about the ranks, but no search leaves the table."""
    s = np.concatenate((np.random.default_rng(0).normal(size=90), [np.inf] * 4, [-np.inf] * 4, [np.nan] * 2))
    records = np.random.default_rng(1).permutation(100).astype(np.uint32)
    for sign in (1.0, -1.0):
        with np.errstate(invalid="ignore"):
            ranks = Ladder(s, sign, records[:40]).ranks(s, sign, records[40:], 1.0)
        assert ranks.max() <= 40
