"""Compiled steps against plain ones, for every loss that there is compiled code for."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.kernels.slopes import CURVES, compiled
from diptych.kernels.steps import Rule, point_steps, ranking_steps
from diptych.losses import LOSSES, RESIDUAL_LOSSES, Logistic, QNorm, QNormHinge
from diptych.losses.base import Loss

MARGINS = [kind(temperature=tau) for kind in LOSSES.values() for tau in (0.3, 2.0)] + [QNormHinge(1.0, 0.5, 1.2)]
RESIDUALS = [kind(temperature=tau) for kind in RESIDUAL_LOSSES.values() for tau in (0.3, 2.0)] + [QNorm(0.5, 1.2)]


def rule(loss: Loss, **changes: float) -> Rule:
    settings = {"weight": 0.01, "size": 20, "shrink": 0.1, "length": 0.5, "radius": 1.5}
    return Rule.of(loss, **{**settings, **changes})


def draw(rng: np.random.Generator, n: int, d: int, sizes: list[int]):
    rows = np.concatenate([rng.choice(n, size, replace=False) for size in sizes]).astype(np.int32)
    return rng.normal(size=(n, d)), rows, np.concatenate(([0], np.cumsum(sizes))), rng.normal(size=(len(sizes), d))


def plain(X, rows, starts, noise, setting: Rule, gradient, w):
    path = []
    for k, one in enumerate(noise):
        w = w - setting.length * (gradient(rows[starts[k] : starts[k + 1]], w) + setting.shrink * w + one)
        w = w * min(1.0, setting.radius / np.linalg.norm(w))
        path.append(w)
    return np.array(path)


def test_there_is_compiled_code_for_all_losses() -> None:
    assert set(CURVES) == {*LOSSES.values(), *RESIDUAL_LOSSES.values()}
    assert all(map(compiled, MARGINS))

    class Other(Logistic):
        pass

    assert not compiled(Other())


@pytest.mark.parametrize("loss", MARGINS, ids=str)
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_steps_on_pairs(loss, spread, rng) -> None:
    """Batches of all sizes, with one class, none, and more records than expected; scores up to where exp overflows."""
    X, rows, starts, noise = draw(rng, 60, 3, [20, 2, 0, 1, 40, 7, 20, 60])
    positive, setting = rng.random(60) < 0.3, rule(loss, radius=1.5 * spread, length=0.5 * spread)

    def gradient(batch, w):
        up, down = batch[positive[batch]], batch[~positive[batch]]
        slopes = loss.slope((X[up] @ w)[:, None] - (X[down] @ w)[None, :])
        weight = setting.weight * min(1.0, 20 / max(1, len(batch)))
        return weight * (slopes.sum(axis=1) @ X[up] - slopes.sum(axis=0) @ X[down])

    path = plain(X, rows, starts, noise, setting, gradient, np.ones(3))
    w, total = np.ones(3), np.zeros(3)
    ranking_steps(X, positive, rows, starts, noise, setting, w, total, 3)
    np.testing.assert_allclose(w, path[-1], rtol=1e-7, atol=1e-9 * spread)
    np.testing.assert_allclose(total, path[3:].sum(axis=0), rtol=1e-7, atol=1e-9 * spread)


@pytest.mark.parametrize("loss", [*MARGINS, *RESIDUALS], ids=str)
def test_steps_on_points(loss, rng) -> None:
    X, rows, starts, noise = draw(rng, 60, 3, [20, 2, 0, 1, 40])
    y, setting = (rng.normal(size=60) if loss.residual else rng.choice([-1.0, 1.0], 60)), rule(loss)

    def gradient(batch, w):
        scores = X[batch] @ w
        if loss.residual:
            return -setting.weight * loss.slope(y[batch] - scores) @ X[batch]
        return setting.weight * (y[batch] * loss.slope(y[batch] * scores)) @ X[batch]

    path = plain(X, rows, starts, noise, setting, gradient, np.ones(3))
    w, total = np.ones(3), np.zeros(3)
    point_steps(X, y, rows, starts, noise, setting, w, total, 0)
    np.testing.assert_allclose(w, path[-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(total, path.sum(axis=0), rtol=1e-7, atol=1e-9)
