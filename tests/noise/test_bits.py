from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from diptych.noise import SecureBits, SeededBits, bit_source, draw_indices, permutation
from tests.statistics import ALARM


def test_secure_words_are_fresh_and_fair() -> None:
    words = SecureBits().words(10_000)
    assert words.dtype == np.uint64
    assert np.unique(words).size == words.size
    ones = np.unpackbits(words.view(np.uint8)).sum()
    assert abs(int(ones) - 320_000) < 6 * 400  # six standard deviations: one false alarm in 5e8
    assert not np.array_equal(words, SecureBits().words(10_000))
    assert not SecureBits().seeded


def test_seeded_words_repeat() -> None:
    np.testing.assert_array_equal(SeededBits(3).words(50), SeededBits(3).words(50))
    assert not np.array_equal(SeededBits(3).words(50), SeededBits(4).words(50))
    one = SeededBits(3)
    parts = np.concatenate((one.words(20), one.words(30)))
    np.testing.assert_array_equal(parts, SeededBits(3).words(50))
    assert SeededBits(3).seeded


def test_random_states() -> None:
    assert isinstance(bit_source(None), SecureBits)
    for state in (7, np.int64(7), np.random.default_rng(7), np.random.RandomState(7)):
        assert bit_source(state).seeded
    np.testing.assert_array_equal(bit_source(7).words(5), bit_source(np.int64(7)).words(5))
    for state in (-1, "seed", True, 1.5):
        with pytest.raises(ValueError, match="random_state must be None"):
            bit_source(state)


def orders(count: int, source, draw=permutation) -> np.ndarray:
    """How often each order of four comes up."""
    names = {order: k for k, order in enumerate(permutations(range(4)))}
    return np.bincount([names[tuple(draw(4, source).tolist())] for _ in range(count)], minlength=24)


@pytest.mark.parametrize("source", [SeededBits(11), SecureBits()], ids=["seeded", "secure"])
def test_permutations_are_uniform(source) -> None:
    assert stats.chisquare(orders(24_000, source)).pvalue > ALARM


def test_a_permutation_that_is_not_uniform_is_seen() -> None:
    """Negative control: one order in twelve is turned into another."""

    def loaded(n: int, source) -> np.ndarray:
        order = permutation(n, source)
        return np.arange(n) if order[0] == 3 and source.words(1)[0] % 3 == 0 else order

    assert stats.chisquare(orders(24_000, SeededBits(12), loaded)).pvalue < ALARM


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_permutations_hold_every_place_once(n) -> None:
    order = permutation(n, SecureBits())
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    np.testing.assert_array_equal(permutation(n, SeededBits(3)), permutation(n, SeededBits(3)))


@pytest.mark.parametrize("source", [SeededBits(13), SecureBits()], ids=["seeded", "secure"])
@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_indices_are_drawn_uniformly_and_one_apart_from_the_next(source, n) -> None:
    draws = draw_indices(n, 60_000, source)
    assert draws.min() >= 0
    assert draws.max() < n
    if n > 1:
        assert stats.chisquare(np.bincount(draws, minlength=n)).pvalue > ALARM
        halves = 2 * (2 * draws[:-1:2] // n) + 2 * draws[1::2] // n
        share = np.bincount(2 * np.arange(n) // n, minlength=2) / n
        assert stats.chisquare(np.bincount(halves, minlength=4), 30_000 * np.outer(share, share).ravel()).pvalue > ALARM


def test_indices_of_a_loaded_law_are_seen() -> None:
    """Negative control: one draw in twenty of record 3 goes to record 0."""
    draws, words = draw_indices(7, 200_000, SeededBits(14)), SeededBits(15).words(200_000)
    loaded = np.where((draws == 3) & (words % np.uint64(20) == 0), 0, draws)
    assert stats.chisquare(np.bincount(loaded, minlength=7)).pvalue < ALARM
