from __future__ import annotations

import numpy as np
import pytest

from diptych.experiments.scaling import SCALING_WORDS, SCALINGS, column_scaler, public_scaler


@pytest.mark.parametrize("name", SCALINGS)
def test_rows_end_in_the_unit_ball_and_the_map_is_that_of_the_training_part(name: str, rng) -> None:
    train, other = rng.normal(size=(200, 5)) * 10 + 3, rng.normal(size=(50, 5)) * 1000
    scale = SCALINGS[name](train)
    for rows in (train, other):
        assert np.linalg.norm(scale(rows), axis=1).max() <= 1.0 + 1e-12
    np.testing.assert_array_equal(scale(other)[:7], scale(other[:7]))
    assert name in SCALING_WORDS


def test_public_scaling_is_the_stated_formula() -> None:
    train = np.array([[0.0, 0.0], [2.0, 4.0]])  # means 1 and 2, deviations 1 and 2
    scaled = public_scaler(train)(np.array([[1.1, 2.2], [100.0, 2.0]]))
    np.testing.assert_allclose(scaled, [[0.1 / (0.5 * 2**0.5)] * 2, [1.0, 0.0]], rtol=1e-9)


def test_column_scaling_shortens_only_rows_longer_than_one() -> None:
    scaled = column_scaler(np.array([[-2.0, 0.0], [1.0, 4.0]]))(np.array([[1.0, 2.0], [2.0, 4.0]]))
    np.testing.assert_allclose(scaled, [[0.5, 0.5], [0.5**0.5] * 2], rtol=1e-9)


def test_constant_features_do_no_harm() -> None:
    train = np.zeros((4, 2))
    assert np.isfinite(public_scaler(train)(train)).all()
    assert np.isfinite(column_scaler(train)(train)).all()
