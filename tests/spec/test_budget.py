from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Budget


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), "1", None, True])
def test_epsilon_that_makes_no_sense_is_refused(epsilon) -> None:
    with pytest.raises(ValueError, match=r"epsilon must be a number above 0"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, float("nan"), "auto", None])
def test_delta_that_makes_no_sense_is_refused(delta) -> None:
    with pytest.raises(ValueError, match=r"delta must be a number in \[0, 1\)"):
        Budget(1.0, delta)


def test_what_a_budget_says() -> None:
    assert Budget(1.0).pure
    assert not Budget(1.0, 1e-6).pure
    assert Budget(1.0).private
    assert not Budget(math.inf).private
    assert type(Budget(np.int64(1)).epsilon) is float
    assert str(Budget(0.5)) == "epsilon = 0.5"
    assert str(Budget(0.5, 1e-6)) == "epsilon = 0.5, delta = 1e-06"
