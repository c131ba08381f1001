"""The diameter of the body that gradients of single records fill, against a dense search of its profile."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych.losses import Logistic
from diptych.risks.width import body_diameter
from tests.losses.test_holder import EVERY


def searched(loss, reach: float, label: float, points: int = 1200) -> float:
    """The largest distance of two points of the profile, one of them turned to the other side."""
    t = np.concatenate((np.linspace(-reach, reach, points), reach * np.cos(np.linspace(0, math.pi, points))))
    f = -loss.slope(label - t) if loss.residual else loss.slope(t)
    x = t / reach
    along, away = f * x, np.abs(f) * np.sqrt(np.maximum(0.0, 1.0 - x**2))
    return math.sqrt(((along[:, None] - along) ** 2 + (away[:, None] + away) ** 2).max())


@pytest.mark.parametrize("loss", EVERY, ids=str)
@pytest.mark.parametrize("reach", [0.01, 0.3, 1.0, 2.5, 10.0, 300.0])
def test_it_is_never_exceeded_and_within_a_per_cent(loss, reach) -> None:
    label = 1.0 if loss.residual else 0.0
    found, claimed = searched(loss, reach, label), body_diameter(loss, reach, label)
    assert found <= claimed * (1 + 1e-12)
    assert found >= 0.99 * claimed
    assert claimed <= 2.0 * loss.slope_bound(reach + label)


@pytest.mark.parametrize("loss", EVERY, ids=str)
def test_nothing_beats_it_in_three_dimensions(loss, rng) -> None:
    """Vectors of any length, w of any length, labels of any size: the reductions of the proof, attacked at once."""
    reach, label = 2.0, 1.0
    claimed = body_diameter(loss, reach, label if loss.residual else 0.0)
    rows = rng.normal(size=(2, 200_000, 3))
    rows *= (rng.random((2, 200_000, 1)) ** 0.1) / np.linalg.norm(rows, axis=2, keepdims=True)
    rows[1, ::2] = -rows[0, ::2] + 0.2 * rng.normal(size=(100_000, 3))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=2, keepdims=True))
    w = reach * rng.random((200_000, 1)) ** 0.2 * np.array([1.0, 0.0, 0.0])
    scores = np.einsum("knd,nd->kn", rows, w)
    y = np.sign(rng.normal(size=scores.shape)) * np.where(rng.random(scores.shape) < 0.5, 1.0, rng.random(scores.shape))
    if not loss.residual:
        y = np.sign(y)
    slopes = -loss.slope(y - scores) if loss.residual else y * loss.slope(y * scores)
    worst = np.linalg.norm(slopes[0, :, None] * rows[0] - slopes[1, :, None] * rows[1], axis=1).max()
    assert 0.85 * claimed <= worst <= claimed


def test_extreme_ranges() -> None:
    assert body_diameter(Logistic(), math.inf) == 2.0
    assert body_diameter(Logistic(), 0.0) == 1.0
    for reach in (1e-12, 1e9):
        assert 0.99 <= body_diameter(Logistic(), reach) <= 2.0
