from __future__ import annotations

import numpy as np
import pytest

from diptych.noise import SecureBits, SeededBits, bit_source


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
