"""The mean of the iterates of stochastic descent on a risk, along a given sequence of records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.metric_sgd import metric_mean
from diptych.kernels.ranking_sgd import ranking_mean
from diptych.kernels.slopes import curve_of
from diptych.risks.base import PairRisk, Rows
from diptych.risks.metric import MetricRisk
from diptych.risks.ranking import RankingRisk
from diptych.sets import PSDTraceBall, pack, unpack

Array = NDArray[np.float64]


def stochastic_mean(risk: PairRisk[Any], table: Any, draws: Rows, step: float, ridge: float) -> Array:
    """Return the mean of w_1, ..., w_T, w_1 the risk's start and w_(t+1) a projected step from w_t.

    The step descends on record ``draws[t]`` (from 0) against draws 0 ... t-1, each pair with weight 1/t, plus
    (ridge/2) ||w||^2.
    """
    if isinstance(risk, RankingRisk):
        radius = risk.constraint.radius
        return ranking_mean(table.X, table.positive, draws, step, ridge, radius, curve_of(risk.loss))
    if isinstance(risk, MetricRisk):
        mean = metric_mean(
            table.X,
            table.codes,
            draws,
            unpack(risk.start(table.d)),
            step,
            ridge,
            risk.constraint.radius,
            traced=isinstance(risk.constraint, PSDTraceBall),
            offset=risk.offset,
            curve=curve_of(risk.curve),
        )
        return pack(mean)
    raise TypeError(f"stochastic descent knows no {type(risk).__name__}.")
