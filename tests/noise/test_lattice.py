"""The exact samplers against their laws, against OpenDP and SciPy, with negative controls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from diptych.noise import Lattice, SecureBits, SeededBits, discrete_gaussian, discrete_laplace
from diptych.noise.lattice import _below, _decay
from tests.statistics import ALARM, chi_square, pooled_chi_square

SCALES = [1, 2, 7, 40]
RUNS = 200_000


def laplace_mass(scale):
    return lambda z: math.tanh(0.5 / scale) * np.exp(-np.abs(z) / scale)


def gaussian_mass(scale):
    support = np.arange(-60 * int(scale + 1), 60 * int(scale + 1) + 1)
    total = np.exp(-(support**2) / (2.0 * scale**2)).sum()
    return lambda z: np.exp(-(z.astype(float) ** 2) / (2.0 * scale**2)) / total


LAWS = [(discrete_laplace, laplace_mass), (discrete_gaussian, gaussian_mass)]


@pytest.mark.parametrize(("draw", "mass"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("source", [SeededBits(11), SecureBits()], ids=["seeded", "secure"])
def test_small_scales_follow_the_law_point_by_point(draw, mass, scale, source) -> None:
    sample = draw(scale, RUNS, source)
    assert chi_square(sample, mass(scale)) > ALARM


@pytest.mark.parametrize(("draw", "mass"), LAWS, ids=["laplace", "gaussian"])
def test_negative_control_a_scale_a_few_per_cent_off_is_caught(draw, mass) -> None:
    sample = draw(40, RUNS, SeededBits(12))
    for wrong in (40 * 1.03, 40 * 0.97):
        assert chi_square(sample, mass(wrong)) < ALARM


@pytest.mark.parametrize("scale", [2**23, 2**24 + 12345])
def test_large_scales_follow_the_continuous_law(scale) -> None:
    for draw, law in ((discrete_laplace, stats.laplace), (discrete_gaussian, stats.norm)):
        sample = draw(scale, 300_000, SeededBits(13))
        assert pooled_chi_square(sample, law, scale) > ALARM
        assert pooled_chi_square(sample, law, 1.03 * scale) < ALARM


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_opendp_draws_from_the_same_law(name) -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[name]
    space = (
        dp.vector_domain(dp.atom_domain(T=int)),
        {"laplace": dp.l1_distance(T=int), "gaussian": dp.l2_distance(T=float)}[name],
    )
    theirs = np.array(make(*space, scale=9.0)([0] * 30_000))
    ours = {"laplace": discrete_laplace, "gaussian": discrete_gaussian}[name](9, 30_000, SecureBits())
    off = {"laplace": discrete_laplace, "gaussian": discrete_gaussian}[name](10, 30_000, SecureBits())
    edges = np.concatenate(([-np.inf], np.arange(-15, 16, 2) + 0.5, [np.inf]))

    def p_value(a, b) -> float:
        counts = np.array([np.histogram(a, edges)[0], np.histogram(b, edges)[0]])
        return float(stats.chi2_contingency(counts).pvalue)

    assert p_value(theirs, ours) > ALARM
    assert p_value(theirs, off) < ALARM


class Dripping:
    """The words of a source, a handful at a time: every value runs out of them again and again."""

    seeded = True

    def __init__(self, seed: int) -> None:
        self.stream, self.at = SeededBits(seed).words(400_000), 0

    def words(self, count: int) -> np.ndarray:
        drip = self.stream[self.at : self.at + 5]
        self.at += 5
        return drip


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_running_out_of_words_does_not_change_what_is_drawn(draw) -> None:
    """A value that was cut short is drawn again from the same words: drawing afresh would be biased."""
    np.testing.assert_array_equal(draw(1000, 500, Dripping(5)), draw(1000, 500, SeededBits(5)))


def test_integers_below_a_bound_are_uniform() -> None:
    words = SeededBits(1).words(300_000)
    at, draws = 0, []
    for _ in range(100_000):
        r, at = _below(12, words, at)
        assert isinstance(r, int)  # a float here would have lost the low bits of large bounds
        draws.append(r)
    counts = np.bincount(draws, minlength=12)
    assert counts.size == 12
    assert stats.chisquare(counts).pvalue > ALARM
    assert _below(12, words[:0], 0)[1] == -1


@pytest.mark.parametrize(("a", "b"), [(0, 5), (1, 3), (5, 5), (7, 3), (40, 9)])
def test_coins_decay(a, b) -> None:
    words = SeededBits(2).words(2_000_000)
    at, heads, runs = 0, 0, 60_000
    for _ in range(runs):
        kept, at = _decay(a, b, words, at)
        heads += kept
    assert stats.binomtest(heads, runs, math.exp(-a / b)).pvalue > ALARM


def test_scales_that_the_integers_cannot_hold_are_refused() -> None:
    for scale in (0, 2**26):
        with pytest.raises(ValueError, match="scale must be an integer"):
            discrete_gaussian(scale, 1, SecureBits())


@given(st.floats(1e-12, 1e12))
def test_the_lattice_suits_the_scale(scale) -> None:
    lattice = Lattice.for_scale(scale)
    assert math.frexp(lattice.step)[0] == 0.5
    assert 2**23 <= lattice.steps(scale) <= 2**24
    assert lattice.steps(scale) * lattice.step >= scale


@given(st.floats(-100, 100), st.floats(1e-6, 10))
def test_rounding_moves_by_at_most_half_a_step_and_is_exact(value, scale) -> None:
    lattice = Lattice.for_scale(scale)
    steps = lattice.round(np.array([value]))
    point = lattice.points(steps)[0]
    assert abs(point - value) <= 0.5 * lattice.step
    assert point / lattice.step == steps[0]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scales_without_a_lattice_are_refused(scale) -> None:
    with pytest.raises(ValueError, match="scale must be a finite number above 0"):
        Lattice.for_scale(scale)
