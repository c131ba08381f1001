"""``PrivateGridSearch``: the best of several settings, at the price of one guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from diptych.estimators.candidates import (
    candidates_of,
    gaussian_dimension,
    read_estimator,
    read_grid,
    seeds,
    train_candidate,
)
from diptych.estimators.glm import GLMRegressor
from diptych.estimators.metric import MetricLearner
from diptych.estimators.scoring import plan_scorer, read_scoring
from diptych.estimators.search_promise import promise_search
from diptych.estimators.settings import FEWEST, UNSTATED, need_records, read_budget
from diptych.estimators.validation import (
    read_classes,
    read_codes,
    read_labels,
    read_numbers,
    read_rows,
    remember_features,
)
from diptych.noise import BitSource, bit_source, permutation
from diptych.selection import MECHANISMS, Mechanism, check_sharing, cut, plan_share, search
from diptych.spec import Adjacency, Guarantee
from diptych.spec.budget import is_number

Array = NDArray[np.float64]


def _offers(method: str) -> Any:
    """Whether the estimator, or the one that was chosen, has that method."""

    def offered(search: PrivateGridSearch) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return available_if(offered)


class PrivateGridSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose among settings of an estimator by their score on held-out records, all under one guarantee.

    Candidates are trained on one part of the table and scored on the other. A record is in one of them, so the budget
    serves both in full: for the training part, the candidates together; for the validation part, the choice. What is
    released is the chosen candidate as it was trained. Scores, and the other candidates, stay inside.

    Parameters
    ----------
    estimator : AUCClassifier, GLMClassifier, GLMRegressor or MetricLearner
        Its epsilon, delta and random_state play no role: those of the search do.
    param_grid : mapping of parameters to lists of values, or a list of such
        Any parameters but those that all candidates share.
    epsilon : float, default=1.0
        The budget of the whole search, above 0; infinity searches without privacy.
    delta : float or "auto", default="auto"
        In [0, 1). 0 is pure differential privacy, "auto" is 1/n^2 with the public n.
    scoring : {"auto", "accuracy", "auc", "loss"}, default="auto"
        By what to choose. "auto" is "auc" for ``AUCClassifier`` and for ``MetricLearner`` (near pairs of records over
        far ones), "accuracy" for ``GLMClassifier``, "loss" for ``GLMRegressor``. "loss" is the estimator's loss,
        clipped, whatever the loss of a candidate.
    selection : {"permute-and-flip", "noisy-max", "exponential"}, default="permute-and-flip"
        How to choose by scores.
    trials : {"auto", "all", "random", "parts"}, default="auto"
        How candidates share the budget. "all" trains every one on the same records. "random" trains a random set of
        them, which leaves each a much larger budget where there are many: some 60 per cent of the whole one if all
        candidates release Gaussian noise (``algorithm="noisy-gd"``, or an algorithm object with
        ``noise="gaussian"``), else a third. "parts" trains each on records of its own, at the whole budget. "auto" is
        "random" where it leaves a candidate at least 1.5 times the budget, else "all".
    validation : float, default=0.2
        The share of the records that candidates are scored on.
    random_state : int, NumPy generator or None, default=None
        None draws private noise; anything else is reproducible and therefore not private.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen candidate, fitted. Its ``guarantee_`` is that of the whole search.
    best_params_ : dict
        Its settings.
    guarantee_ : Guarantee
        What was promised by the whole search; print it.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from diptych import AUCClassifier, Bounds, PrivateGridSearch
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_samples=4000, random_state=0)
    >>> model = AUCClassifier(algorithm="noisy-gd", bounds=Bounds(norm=8.0), classes=(0, 1))
    >>> search = PrivateGridSearch(model, {"radius": [1, 2, 4, 8, 16]}, epsilon=1.0).fit(X, y)
    >>> search.guarantee_.epsilon
    1.0
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        epsilon: float = 1.0,
        delta: float | str = "auto",
        scoring: str = "auto",
        selection: str = "permute-and-flip",
        trials: str = "auto",
        validation: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.scoring = scoring
        self.selection = selection
        self.trials = trials
        self.validation = validation
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Search on a private table; everything about the settings is checked before the table is read."""
        adjacency, source = read_estimator(self.estimator), bit_source(self.random_state)
        settings, mechanism = read_grid(self.estimator, self.param_grid), self._mechanism()
        kind, draft = read_scoring(self.estimator, self.scoring), read_budget(self.epsilon, self.delta)
        check_sharing(self.trials)
        candidates = candidates_of(self.estimator, settings, draft)
        rows = read_rows(X)
        labels, classes = self._labels(y, len(rows))
        need_records(len(rows))
        budget = read_budget(self.epsilon, self.delta, len(rows))
        dimension = gaussian_dimension(candidates, rows.shape[1], budget) if budget.private else None
        share = plan_share(budget, len(candidates), self.trials, dimension=dimension)
        within = classes is not None and adjacency is Adjacency.REPLACE_WITHIN_CLASS
        *training, rest = self._cut(len(rows), len(candidates), source, labels if within else None)
        scorer = plan_scorer(self.estimator, kind, rows[rest], labels[rest], adjacency)
        trainers = [
            partial(train_candidate, candidate, rows[part], labels[part], classes, share.budget, seed)
            for candidate, part, seed in zip(candidates, cycle(training), seeds(len(candidates), source))
        ]
        chosen = search(
            trainers,
            scorer.score,
            scorer.sensitivity,
            budget.epsilon,
            source,
            trials=share.trials,
            mechanism=mechanism,
        )
        self._keep(
            X, chosen.model, promise_search(chosen, budget, share, len(settings), source, self._unstated(classes))
        )
        self.best_params_ = settings[chosen.place]
        return self

    @_offers("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the chosen model."""
        return np.asarray(self._best().predict(X))

    @_offers("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Score records with the chosen model."""
        return np.asarray(self._best().decision_function(X))

    @_offers("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of both classes by the chosen model."""
        return np.asarray(self._best().predict_proba(X))

    @_offers("transform")  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Array:
        """Map rows with the chosen metric."""
        return np.asarray(self._best().transform(X))

    @_offers("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """Return the chosen model's own ``score`` on a test table, which this does NOT keep private."""
        return float(self._best().score(X, y))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the chosen model."""
        return np.asarray(self._best().classes_)

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def _mechanism(self) -> Mechanism:
        if not (isinstance(self.selection, str) and self.selection in MECHANISMS):
            names = ", ".join(map(repr, MECHANISMS))
            raise ValueError(f"selection must be one of {names}; got {self.selection!r}.")
        if not (is_number(self.validation) and 0 < self.validation < 1):
            raise ValueError(f"validation must be a number between 0 and 1; got {self.validation!r}.")
        return MECHANISMS[self.selection]

    def _labels(self, y: Any, n: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return numbers, or codes and their classes."""
        if isinstance(self.estimator, GLMRegressor):
            return read_numbers(y, n), None
        if isinstance(self.estimator, MetricLearner):
            classes, codes = read_codes(y, read_classes(self.estimator.classes, most=None), n)
            return codes, classes
        classes, positive = read_labels(y, read_classes(self.estimator.classes), n)
        return positive.astype(np.int64), classes

    def _cut(self, n: int, count: int, source: BitSource, codes: NDArray[Any] | None) -> list[NDArray[np.intp]]:
        """Return the training parts and, last and in random order, the validation part."""
        pieces = count if self.trials == "parts" else 1
        *training, rest = cut(n, [*([(1.0 - self.validation) / pieces] * pieces), self.validation], source, codes)
        if min(len(part) for part in (*training, rest)) < FEWEST:
            raise ValueError(
                f"n_samples={n} is too few for {pieces} training part{'s' if pieces > 1 else ''} and a validation part "
                f"of share {float(self.validation):g}, each of at least {FEWEST} records; add records."
            )
        if codes is not None and any(len(np.unique(codes[part])) < len(np.unique(codes)) for part in (*training, rest)):
            raise ValueError(
                "y holds too few records of a class for public labels (adjacency='replace-within-class'), of which "
                "every part needs some; add records, or keep labels private (adjacency='replace')."
            )
        return [*training, rest[permutation(len(rest), source)]]

    def _unstated(self, classes: NDArray[Any] | None) -> tuple[str, ...]:
        return (UNSTATED,) if classes is not None and self.estimator.classes is None else ()

    def _keep(self, X: Any, model: Any, guarantee: Guarantee) -> None:
        """Keep the model, and let nothing claim that it cost less than the whole search."""
        model.release_, model.guarantee_ = replace(model.release_, guarantee=guarantee), guarantee
        remember_features(model, X)
        remember_features(self, X)
        self.best_estimator_, self.guarantee_ = model, guarantee

    def __sklearn_tags__(self) -> Tags:
        """Whatever the estimator is."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "transformer_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags
