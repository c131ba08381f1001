"""How a private grid search scores a fitted candidate on its validation part, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.algorithms.private_auc import concordance
from diptych.estimators.glm import GLMClassifier, GLMRegressor
from diptych.estimators.metric import MetricLearner
from diptych.estimators.ranking import AUCClassifier
from diptych.losses import loss_named
from diptych.selection import clipped_total, largest_move
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]

OFFERED: dict[type[Any], tuple[str, ...]] = {  # the first is "auto"
    AUCClassifier: ("auc", "accuracy"),
    GLMClassifier: ("accuracy", "auc", "loss"),
    GLMRegressor: ("loss",),
    MetricLearner: ("auc",),
}
WORST = 2.0  # times the loss at score 0: where the loss of a classified record is clipped


def read_scoring(estimator: Any, scoring: Any) -> str:
    """Return the kind of score, or say which there are for this estimator."""
    offered = next(kinds for kind, kinds in OFFERED.items() if isinstance(estimator, kind))
    if isinstance(scoring, str) and scoring == "auto":
        return offered[0]
    if isinstance(scoring, str) and scoring in offered:
        return scoring
    names = ", ".join(map(repr, ("auto", *offered)))
    raise ValueError(f"scoring must be one of {names} for {type(estimator).__name__}; got {scoring!r}.")


@dataclass(frozen=True)
class Scorer:
    """A score of candidates on one validation part: the larger the better, moved by ``sensitivity`` at most."""

    score: Callable[[Any], int]
    sensitivity: int


def plan_scorer(estimator: Any, kind: str, rows: Array, y: NDArray[Any], adjacency: Adjacency) -> Scorer:
    """Return the score of that kind on these records (``y``: classes as codes 0, 1, ..., or numbers).

    ``"auc"`` of a metric is that of near pairs over far ones among disjoint pairs of neighbouring rows.
    """
    if isinstance(estimator, MetricLearner):
        return _of_pairs(rows, y)
    if isinstance(estimator, GLMRegressor):
        return _of_residuals(estimator, rows, y)
    positive = y == 1
    within = adjacency is Adjacency.REPLACE_WITHIN_CLASS
    size = TableSize(len(rows), int(positive.sum()) if within else None)
    if kind == "loss":
        return _of_margins(estimator, rows, positive, size)

    def score(model: Any) -> int:
        scores = model.decision_function(rows)
        return concordance(scores, positive) if kind == "auc" else int(np.sum((scores > 0) == positive))

    return Scorer(score, largest_move(kind, size))


def _of_margins(estimator: GLMClassifier, rows: Array, positive: NDArray[np.bool_], size: TableSize) -> Scorer:
    """The estimator's loss, whatever the candidate's, clipped at twice the loss of a model that knows nothing."""
    loss = loss_named(estimator.loss, estimator.losses)
    top = WORST * float(loss.value(np.zeros(1))[0])

    def score(model: Any) -> int:
        scores = model.decision_function(rows)
        with np.errstate(over="ignore"):
            return -clipped_total(loss.value(np.where(positive, scores, -scores)), top)

    return Scorer(score, largest_move("loss", size))


def _of_residuals(estimator: GLMRegressor, rows: Array, y: Array) -> Scorer:
    """The estimator's loss of predictions clipped to the bounds of the labels."""
    from diptych.estimators.settings import read_label_bounds

    loss, scaler = loss_named(estimator.loss, estimator.losses), read_label_bounds(estimator.label_bounds)
    top, labels = float(loss.value(np.array([2.0]))[0]), scaler.transform(y)

    def score(model: Any) -> int:
        return -clipped_total(loss.value(labels - scaler.transform(model.predict(rows))), top)

    return Scorer(score, largest_move("loss", TableSize(len(rows))))


def _of_pairs(rows: Array, codes: NDArray[Any]) -> Scorer:
    """A record is in one pair, so that pairs are to this score what records are to an AUC with private labels."""
    count = len(rows) // 2
    pairs = rows[: 2 * count].reshape(count, 2, -1)
    near = codes[: 2 * count : 2] == codes[1 : 2 * count : 2]

    def score(model: Any) -> int:
        return concordance(model.pair_score(pairs), near)

    return Scorer(score, largest_move("auc", TableSize(max(2, count))))
