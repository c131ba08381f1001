"""Training one cell: lambda by its rule, one release a repeat, test score. Runs inside worker processes.

Output perturbations of one table and lambda share their minimiser, which is kept; that does not change a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diptych.algorithms import ObjectivePerturbation, OutputPerturbation, choose_regularization
from diptych.experiments.descents import DESCENTS, Descents, components
from diptych.experiments.protocol import CROSS_VALIDATED, EXACT, OUTPUT, PUBLIC, Cell, Series
from diptych.experiments.series import METRIC
from diptych.experiments.workbench import Split, Workbench, auc, neighbour_accuracy
from diptych.noise import BitSource, bit_source
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.spec import Budget

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What one cell gave: lambda, the part and score of each repeat; or why it could not be run."""

    regularization: float = math.nan
    splits: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    note: str = ""


@dataclass
class Trainer:
    """Trains cells of one data set and scaling, and keeps minimisers."""

    bench: Workbench
    minimisers: dict[tuple[str, RankingRisk, float], Array] = field(default_factory=dict)
    descents: Descents = field(default_factory=Descents)

    def run(self, cell: Cell, regularization: float | None = None) -> Outcome:
        """Train all repeats of a cell; ``regularization`` is what cross-validation chose."""
        try:
            return self._run(cell, regularization)
        except ValueError as refusal:
            return Outcome(note=str(refusal))

    def _run(self, cell: Cell, chosen: float | None) -> Outcome:
        splits, scores, lam = [], [], math.nan
        for repeat in range(self._repeats(cell)):
            split = self.bench.split(repeat, cell.size)
            budget = cell.notion.budget(cell.epsilon, split.train.n)
            if repeat == 0:  # splits are stratified: all have one public size
                lam = self._regularization(cell, split.train, budget, chosen)
            w = self.fit(cell.series, split, lam, budget, bit_source(cell.seed(repeat)))
            splits.append(split.name)
            scores.append(score(cell.series, split, w))
        return Outcome(lam, tuple(splits), tuple(scores))

    def _repeats(self, cell: Cell) -> int:
        if cell.series.algorithm != EXACT:
            return cell.repeats
        return len({id(self.bench.split(repeat, cell.size)) for repeat in range(cell.repeats)})

    def _regularization(self, cell: Cell, table: PairTable, budget: Budget, chosen: float | None) -> float:
        if cell.rule == CROSS_VALIDATED:
            if chosen is None:
                raise RuntimeError("a cross-validated cell needs the lambda that was chosen.")
            return chosen
        if cell.rule == PUBLIC:
            algorithm = _algorithm(cell.series)
            return choose_regularization(
                cell.series.risk(1.0), table.size(cell.series.adjacency), table.d, budget, algorithm
            )
        assert cell.rule.value is not None
        return cell.rule.value

    def fit(self, series: Series, split: Split, lam: float, budget: Budget, source: BitSource) -> Array:
        """Return one released model: what ``Algorithm.run`` would return."""
        if series.algorithm in DESCENTS:
            return self.descents.fit(series, split, lam, budget, source)
        risk, algorithm = series.risk(lam), _algorithm(series)
        if isinstance(algorithm, ObjectivePerturbation):
            return algorithm.run(risk, split.train, budget, source, series.constants).coef
        algorithm.check(risk, budget, series.constants)
        size = split.train.size(risk.adjacency)
        tolerance = algorithm.tolerance(risk.certificate(size, split.train.d), budget)
        key = (split.name, risk, tolerance)
        if key not in self.minimisers:
            self.minimisers[key] = minimise(risk, split.train, tolerance).w
        if not budget.private:
            return self.minimisers[key]
        plan, _ = algorithm.noise_for(risk, size, split.train.d, budget, series.constants)
        return plan.add(self.minimisers[key], source)

    def tune(self, cell: Cell) -> float:
        """Return the lambda of the best mean AUC over folds, as the paper tunes it: NOT private, and not charged.

        Of equals the larger. At infinite epsilon the optimum without privacy is tuned.
        """
        tuning = cell.tuning
        epsilon = tuning.epsilon if cell.series.algorithm != EXACT else math.inf
        totals = dict.fromkeys(sorted(tuning.grid, reverse=True), 0.0)
        for number, fold in enumerate(self.bench.folds(tuning.folds)):
            budget = cell.notion.budget(epsilon, fold.train.n)
            for k, lam in enumerate(totals):
                source = bit_source(cell.seed(-1 - number * len(totals) - k))
                try:
                    w = self.fit(cell.series, fold, lam, budget, source)
                    totals[lam] += auc(fold.test.scores(w), fold.test.positive)
                except ValueError:
                    totals[lam] = -math.inf
        return max(totals, key=lambda lam: totals[lam])


def _algorithm(series: Series) -> OutputPerturbation | ObjectivePerturbation:
    return OutputPerturbation() if series.algorithm in (OUTPUT, EXACT) else ObjectivePerturbation()


def score(series: Series, split: Split, w: Array) -> float:
    """Return the test score of a model: the AUC of a ranking, the accuracy of neighbours in a metric."""
    if series.task == METRIC:
        return neighbour_accuracy(components(w), split.train, split.test)
    return auc(split.test.scores(w), split.test.positive)
