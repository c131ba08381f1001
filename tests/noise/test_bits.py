from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from diptych.noise import SecureBits, SeededBits, bit_source, permutation
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
