"""Gradient descent within experiments: rankings and metrics, with what cells share computed once.

The result of a descent without noise depends on neither epsilon nor the notion of privacy; it is kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.algorithms import METRICS, GDOutput
from diptych.algorithms.descent import Descent
from diptych.algorithms.output_descent import result
from diptych.experiments.series import EUCLIDEAN, METRIC, Series
from diptych.experiments.workbench import Split
from diptych.noise import BitSource
from diptych.risks import MetricTable, PairRisk
from diptych.sets import unpack
from diptych.spec import Adjacency, Budget

Array = NDArray[np.float64]

DESCENTS = (*METRICS, EUCLIDEAN)


@dataclass
class Descents:
    """Descends, and keeps what ``gd-output`` arrives at."""

    results: dict[Hashable, Array] = field(default_factory=dict)

    def fit(self, series: Series, split: Split, lam: float, budget: Budget, source: BitSource) -> Array:
        """Return one released model: what ``Algorithm.run`` would return."""
        risk: PairRisk[Any] = series.metric_risk(lam) if series.task == METRIC else series.risk(lam)
        if series.algorithm == EUCLIDEAN:
            return risk.start(split.train.d)
        algorithm = series.how or METRICS[series.algorithm]()
        table: Any = split.train
        if series.task == METRIC:
            table = MetricTable(split.train.X, split.train.codes)
        if not isinstance(algorithm, GDOutput):
            return np.asarray(algorithm.run(risk, table, budget, source, series.constants).coef)
        plan = algorithm.plan(risk, table.size(risk.adjacency), table.d, budget, series.constants)
        w = self._result(split.name, plan, table, source)
        return w if plan.noise is None else np.asarray(risk.constraint.project(plan.noise.add(w, source)))

    def _result(self, part: str, plan: Descent, table: Any, source: BitSource) -> Array:
        """Return the result of the descent: for small tables, which take part whole, it depends on nothing drawn."""
        if plan.schedule.parts > 1:
            return result(plan, table, source)
        risk = plan.risk
        if isinstance(table, MetricTable):  # the mean over all pairs, whatever a neighbour is
            risk = replace(risk, adjacency=Adjacency.REPLACE)
        key = (part, risk, plan.schedule)
        if key not in self.results:
            self.results[key] = result(plan, table, source)
        return self.results[key]


def components(w: Array) -> Array:
    """Return the matrix by which rows are multiplied, so that their Euclidean distance is that of a packed metric."""
    values, vectors = np.linalg.eigh(unpack(w))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
