from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from diptych.noise import SecureBits, SeededBits, norm_laplace
from diptych.noise.floating import gaussian, uniform
from tests.statistics import ALARM


def test_uniform_numbers_stay_inside_and_are_uniform() -> None:
    u = uniform(200_000, SecureBits())
    assert 0 < u.min()
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > ALARM


class Extreme:
    seeded = True

    def __init__(self, word: int) -> None:
        self.word = word

    def words(self, count: int) -> np.ndarray:
        return np.full(count, self.word, dtype=np.uint64)


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_no_word_gives_zero_or_one(word) -> None:
    assert np.all((uniform(3, Extreme(word)) > 0) & (uniform(3, Extreme(word)) < 1))


@pytest.mark.parametrize("dimension", [1, 2, 5, 40])
def test_norm_is_gamma_and_direction_uniform(dimension) -> None:
    source = SeededBits(8)
    sample = np.array([norm_laplace(dimension, 0.7, source) for _ in range(20_000)])
    norms = np.linalg.norm(sample, axis=1)
    assert stats.kstest(norms, stats.gamma(dimension, scale=0.7).cdf).pvalue > ALARM
    assert stats.kstest(norms, stats.gamma(dimension, scale=0.7 * 1.05).cdf).pvalue < ALARM
    if dimension == 1:
        assert stats.kstest(sample[:, 0], stats.laplace(scale=0.7).cdf).pvalue > ALARM
    else:
        cosine = sample[:, 0] / norms  # (1 + cosine)/2 has a Beta law
        half = 0.5 * (dimension - 1)
        assert stats.kstest(0.5 * (1 + cosine), stats.beta(half, half).cdf).pvalue > ALARM


class Listed:
    """Words as listed, then the middle one for ever."""

    seeded = True

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        return np.array([self.left.pop(0) if self.left else 2**63 - 1 for _ in range(count)], dtype=np.uint64)


@pytest.mark.parametrize("zeros", [1, 2, 5, 15, 30])
def test_gaussian_tails_go_on_as_long_as_the_words_are_zero(zeros) -> None:
    """A grid of uniform numbers would end at 8.2 deviations, whatever the words are."""
    (low,), (high,) = gaussian(1, Listed(*[0] * zeros)), gaussian(1, Listed(2**63, *[0] * (zeros - 1)))
    assert low == -high
    assert stats.norm.logsf(abs(low)) / np.log(2.0) == pytest.approx(-min(64 * zeros + 1, 1025), abs=0.1)


def test_the_tail_of_a_gaussian_has_its_law() -> None:
    """Words whose first 20 bits after the sign are 0: the law given that it is beyond the quantile of 2^-21."""
    words = SeededBits(3).words(20_000) >> np.uint64(21)
    drawn = gaussian(20_000, Listed(*map(int, words)))
    tails = stats.norm.cdf(-np.abs(drawn)) * 2.0**21
    assert stats.kstest(tails, "uniform").pvalue > ALARM
    assert stats.kstest(tails**1.1, "uniform").pvalue < ALARM


def test_gaussian_numbers_follow_their_law() -> None:
    drawn = gaussian(200_000, SeededBits(11))
    assert stats.kstest(drawn, "norm").pvalue > ALARM
    assert stats.kstest(1.04 * drawn, "norm").pvalue < ALARM
