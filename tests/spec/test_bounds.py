from __future__ import annotations

import numpy as np
import pytest

from diptych import Bounds


def test_arrays_become_plain_numbers() -> None:
    bounds = Bounds(low=np.array([0, 1]), high=np.float32(5))
    assert bounds == Bounds(low=(0.0, 1.0), high=5.0)
    assert bounds.features == 2
    assert repr(bounds) == "Bounds(low=(0.0, 1.0), high=5.0)"
    assert Bounds(norm=2).features is None
    assert eval(repr(Bounds(norm=2))) == Bounds(norm=2.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs either norm, or both low and high"),
        ({"low": 0.0}, "needs either norm, or both low and high"),
        ({"norm": 1.0, "low": 0.0}, "not both"),
        ({"norm": 0.0}, "norm must be above 0"),
        ({"norm": float("inf")}, "norm must be finite"),
        ({"norm": "big"}, "norm must be finite"),
        ({"low": 1.0, "high": 0.0}, "low must be below high"),
        ({"low": [0.0, 1.0], "high": [1.0, 1.0]}, "low must be below high"),
        ({"low": [0.0, 1.0], "high": [1.0, 2.0, 3.0]}, "low has 2 numbers and high has 3"),
        ({"low": 0.0, "high": float("nan")}, "high must be finite"),
        ({"low": "ab", "high": 1.0}, "low must be finite"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        Bounds(**arguments)
