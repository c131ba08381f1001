"""The candidates of a private grid search: which there are, what they have in common, how one is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from diptych.algorithms import Algorithm, EpochGD, GDOutput, NoisyGD, OutputPerturbation, UnsuitableError
from diptych.algorithms.descent import MOST
from diptych.estimators.linear import GeneralisedLinearModel
from diptych.estimators.metric import MetricLearner
from diptych.estimators.ranking import AUCClassifier
from diptych.estimators.settings import read_bounds, read_label_bounds, read_regularization, read_scaling
from diptych.estimators.validation import read_classes
from diptych.noise import BitSource
from diptych.spec import Adjacency, Budget

Array = NDArray[np.float64]

KINDS = (AUCClassifier, GeneralisedLinearModel, MetricLearner)
COMMON = {  # what all candidates share, and who decides it
    "epsilon": "the search gives each candidate its budget; set epsilon of the search",
    "delta": "the search gives each candidate its budget; set delta of the search",
    "random_state": "the search hands out random bits; set random_state of the search",
    "adjacency": "one guarantee has one adjacency; set it in the estimator",
    "classes": "all candidates are scored on the same classes; set them in the estimator",
    "label_bounds": "all candidates are scored on the same labels; set them in the estimator",
    "n_public": "the number of records must be public",
}
MOST_CANDIDATES = 10_000


def read_estimator(estimator: Any) -> Adjacency:
    """Refuse what is no estimator of this library or no neighbour to protect; return the adjacency."""
    if not isinstance(estimator, KINDS):
        raise ValueError(
            "estimator must be an AUCClassifier, GLMClassifier, GLMRegressor or MetricLearner, whose fit keeps a "
            f"budget; got {type(estimator).__name__}."
        )
    adjacency = Adjacency.parse(estimator.adjacency)
    if adjacency is Adjacency.ADD_REMOVE:
        raise UnsuitableError(
            "adjacency='add-remove' does not suit PrivateGridSearch: the sizes of its parts must be public; "
            "use adjacency='replace'."
        )
    if getattr(estimator, "constants", "defended") != "defended":
        raise UnsuitableError("constants='paper' does not suit PrivateGridSearch; use constants='defended'.")
    return adjacency


def read_grid(estimator: Any, param_grid: Any) -> list[dict[str, Any]]:
    """Return the settings of all candidates, in the order of scikit-learn's ``ParameterGrid``."""
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    if not (isinstance(grids, (list, tuple)) and grids and all(isinstance(grid, Mapping) for grid in grids)):
        raise ValueError(
            "param_grid must be a mapping of parameters to lists of values, or a list of such; got "
            f"{type(param_grid).__name__}."
        )
    settings = [one for grid in grids for one in _expanded(grid, estimator.get_params(deep=False))]
    if len(settings) > MOST_CANDIDATES:
        raise ValueError(f"param_grid holds {len(settings)} candidates, more than {MOST_CANDIDATES}; leave some out.")
    return settings


def _expanded(grid: Mapping[str, Any], known: Mapping[str, Any]) -> list[dict[str, Any]]:
    for name, values in grid.items():
        if name in COMMON:
            raise ValueError(f"param_grid must not hold {name!r}: {COMMON[name]}.")
        if name not in known:
            raise ValueError(f"param_grid holds {name!r}, which is no parameter; known are {', '.join(sorted(known))}.")
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__") or len(values) == 0:
            raise ValueError(f"param_grid must hold a list of at least one value for {name!r}; got {values!r}.")
    names = sorted(grid)
    return [dict(zip(names, values, strict=True)) for values in product(*(list(grid[name]) for name in names))]


def candidates_of(estimator: Any, settings: Sequence[Mapping[str, Any]], budget: Budget) -> list[Any]:
    """Return unfitted candidates; refuse the first whose settings no algorithm takes, whether it is tried or not."""
    candidates = []
    for one in settings:
        candidate = clone(estimator).set_params(**one)
        try:
            if getattr(candidate, "constants", "defended") != "defended":
                raise UnsuitableError("constants='paper' is not defended.")
            algorithms_of(candidate, budget)
        except ValueError as refusal:
            raise type(refusal)(f"the candidate {dict(one)!r} is refused: {refusal}") from None
        candidates.append(candidate)
    return candidates


def algorithms_of(candidate: Any, budget: Budget) -> tuple[Algorithm[Any, Any], ...]:
    """Return the algorithms of which a candidate may run one under such a budget, its settings checked."""
    read_bounds(candidate.bounds)
    if isinstance(candidate, MetricLearner):
        read_classes(candidate.classes, most=None)
        algorithm = candidate._algorithm(candidate._risk(), budget)
        return () if algorithm is None else (algorithm,)
    if isinstance(candidate, GeneralisedLinearModel):
        read_scaling(candidate.fit_intercept, candidate.intercept_scaling)
        if hasattr(candidate, "label_bounds"):
            read_label_bounds(candidate.label_bounds)
    if hasattr(candidate, "classes"):
        read_classes(candidate.classes)
    lam = read_regularization(candidate.regularization)
    return tuple(candidate._candidates(candidate._risk(1.0 if lam is None else lam), budget))


def gaussian_dimension(candidates: Sequence[Any], features: int, budget: Budget) -> int | None:
    """Return how many Gaussian numbers all candidates hold together, at most; None if any may draw other noise."""
    total = 0
    for candidate in candidates:
        numbers = features * (features + 1) // 2 if isinstance(candidate, MetricLearner) else features + 1
        for algorithm in algorithms_of(candidate, budget):
            steps = _gaussian_vectors(algorithm)
            if steps is None:
                return None
            total += steps * numbers
    return total


def _gaussian_vectors(algorithm: Any) -> int | None:
    """Return how many vectors with Gaussian noise a run releases, at most; None for other laws and for samples."""
    if isinstance(algorithm, NoisyGD):
        return MOST if algorithm.steps == "auto" else int(algorithm.steps)
    if isinstance(algorithm, (OutputPerturbation, GDOutput, EpochGD)) and algorithm.noise == "gaussian":
        return 60 if isinstance(algorithm, EpochGD) else 1
    return None


def seeds(count: int, source: BitSource) -> list[int | None]:
    """Return the random state of each candidate: None where noise is private."""
    words = source.words(count) >> np.uint64(1)
    return [int(word) if source.seeded else None for word in words]


def train_candidate(
    candidate: Any, rows: Array, labels: NDArray[Any], classes: NDArray[Any] | None, budget: Budget, seed: int | None
) -> Any:
    """Fit a candidate on its part, with its share of the budget; labels are codes where there are classes."""
    candidate.set_params(epsilon=budget.epsilon, delta=budget.delta, random_state=seed)
    if classes is None:
        return candidate.fit(rows, labels)
    return candidate.set_params(classes=tuple(classes)).fit(rows, classes[labels])
