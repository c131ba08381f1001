"""Exact coins and dice against their laws."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from diptych.noise import SecureBits, SeededBits
from diptych.selection.coins import below, coin, decay, shuffled
from tests.statistics import ALARM

RUNS = 20_000


@pytest.mark.parametrize("source", [SeededBits(1), SecureBits()], ids=["seeded", "secure"])
def test_dice_are_uniform(source) -> None:
    counts = np.bincount([below(12, source) for _ in range(RUNS)], minlength=12)
    assert counts.size == 12
    assert stats.chisquare(counts).pvalue > ALARM
    assert below(1, source) == 0


def test_dice_of_more_faces_than_a_word_holds() -> None:
    m = 3 * 2**130
    drawn = np.array([below(m, SeededBits(seed)) / m for seed in range(3000)])
    assert stats.kstest(drawn, "uniform").pvalue > ALARM


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(0.1) / 10**30])
def test_coins_decay(x) -> None:
    source = SeededBits(2)
    heads = sum(decay(x, source) for _ in range(RUNS))
    assert stats.binomtest(heads, RUNS, math.exp(-x)).pvalue > ALARM
    if x >= Fraction(1, 3):
        assert stats.binomtest(heads, RUNS, math.exp(-0.8 * x)).pvalue < ALARM


def test_a_very_rare_head_is_not_waited_for() -> None:
    assert not decay(Fraction(10**12), SeededBits(0))


def test_coins_show_their_probability() -> None:
    source = SeededBits(3)
    heads = sum(coin(Fraction(0.3), source) for _ in range(RUNS))
    assert stats.binomtest(heads, RUNS, 0.3).pvalue > ALARM


def test_shuffles_are_uniform() -> None:
    source = SeededBits(4)
    counts = Counter(tuple(shuffled(4, source)) for _ in range(24_000))
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > ALARM
