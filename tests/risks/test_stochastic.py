"""Stochastic descent along a sequence, against steps made of explicit gradients and projections."""

from __future__ import annotations

import numpy as np
import pytest

from diptych import Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.noise import SeededBits, draw_indices
from diptych.risks import MetricRisk, RankingRisk, stochastic_mean
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from tests.descents import name_of, table_for

LOSSES = [Hinge(0.3), Logistic(1.0, 0.5), SmoothedHinge(1.0, 0.3), SquaredHinge()]
RISKS = [
    *(RankingRisk(loss, constraint=held) for loss in (*LOSSES, Squared()) for held in (Free(), L2Ball(0.2))),
    *(MetricRisk(loss, constraint=held(0.7)) for loss in LOSSES for held in (PSDFrobeniusBall, PSDTraceBall)),
]


def by_hand(risk, table, draws, step: float, ridge: float):
    """The risk's own gradient of the newest record of the table that the sequence makes."""
    sequence, w = table.take(draws), risk.start(table.d)
    total = w.copy()
    for t in range(1, len(draws)):
        w = risk.constraint.project(w - step * (risk.newest(w, sequence, t) + ridge * w))
        total += w
    return total / len(draws)


@pytest.mark.parametrize("risk", RISKS, ids=name_of)
@pytest.mark.parametrize(("step", "ridge"), [(0.05, 0.0), (0.5, 0.3)])
def test_the_mean_is_that_of_projected_steps(risk, step, ridge) -> None:
    for n, d, steps in ((12, 3, 60), (40, 2, 25), (3, 1, 30)):
        table, draws = table_for(risk, n, d), draw_indices(n, steps, SeededBits(n))
        got = stochastic_mean(risk, table, draws, step, ridge)
        np.testing.assert_allclose(got, by_hand(risk, table, draws, step, ridge), atol=1e-12)


def test_one_draw_gives_the_start() -> None:
    for risk in (RISKS[0], RISKS[-1]):
        table = table_for(risk, 5)
        assert stochastic_mean(risk, table, np.array([2]), 0.1, 0.0) == pytest.approx(risk.start(2))


def test_the_table_is_left_as_it_was_and_other_risks_are_refused() -> None:
    for risk in (RISKS[0], RISKS[-1]):
        table = table_for(risk, 9)
        before = table.X.copy()
        stochastic_mean(risk, table, draw_indices(9, 30, SeededBits(0)), 0.1, 0.0)
        np.testing.assert_array_equal(table.X, before)
    with pytest.raises(TypeError, match="stochastic descent knows no str"):
        stochastic_mean("risk", None, np.array([0]), 0.1, 0.0)
