from __future__ import annotations

import math

import numpy as np
import pytest

from diptych.preprocessing import LabelScaler


def test_labels_are_clipped_and_mapped_and_models_mapped_back(rng) -> None:
    scaler = LabelScaler(-2, 6)
    y = np.array([-100.0, -2.0, 0.0, 2.0, 6.0, 7.0])
    np.testing.assert_allclose(scaler.transform(y), [-1, -1, -0.5, 0, 1, 1])
    coef, intercept = scaler.unfold(np.array([0.5, -1.0]), 0.25)
    X = rng.normal(size=(5, 2))
    np.testing.assert_allclose(scaler.transform(X @ coef + intercept), np.clip(X @ [0.5, -1.0] + 0.25, -1, 1))


def test_extreme_bounds_and_labels_overflow_in_silence() -> None:
    for scaler in (LabelScaler(-1e100, 1e100), LabelScaler(0.0, 1e-100)):
        np.testing.assert_array_equal(np.abs(scaler.transform(np.array([-1.7e308, 1.7e308]))), 1.0)


@pytest.mark.parametrize(
    "ends", [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf), ("0", 1.0), (None, 1.0), (True, 2.0)]
)
def test_what_is_no_range_is_refused(ends) -> None:
    with pytest.raises(ValueError, match="label_bounds must"):
        LabelScaler(*ends)
