"""Compiled slopes against those of the losses themselves."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.kernels.slopes import curve_of, slope_at
from diptych.losses import LOSSES, Hinge, Logistic, Loss, QNormHinge, SmoothedHinge, Squared, SquaredHinge

CURVES = [
    Hinge(0.3),
    Logistic(),
    Logistic(1.0, 0.2),
    SmoothedHinge(1.0, 0.1),
    Squared(0.5, 2.0),
    SquaredHinge(),
    QNormHinge(0.5, 2.0, 1.3),
]


@pytest.mark.parametrize("loss", CURVES, ids=str)
def test_slopes_are_those_of_the_loss(loss) -> None:
    t = np.concatenate((np.linspace(-3, 3, 301), [-1e4, 1e4, loss.margin]))
    got = [slope_at(curve_of(loss), value) for value in t]
    np.testing.assert_allclose(got, loss.slope(t), rtol=1e-14, atol=1e-300)


def test_every_loss_has_a_compiled_slope_and_others_are_refused() -> None:
    for kind in LOSSES.values():
        assert curve_of(kind()).margin == kind().margin

    class Odd(Hinge):
        name = "odd"

    with pytest.raises(NotImplementedError, match="the odd loss has no compiled slope; there are those of 'logistic'"):
        curve_of(Odd())
    assert issubclass(Odd, Loss)
