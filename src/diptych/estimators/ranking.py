"""``AUCClassifier``: a private linear model that ranks positives above negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags

from diptych.algorithms import (
    MINIMISING,
    Algorithm,
    NoisyGD,
    PrivateScore,
    SGDOutput,
    algorithms_named,
    choose,
    private_auc,
    suitable,
)
from diptych.estimators.settings import need_records, own_up, read_bounds, read_budget, read_regularization
from diptych.estimators.validation import linear_scores, read_classes, read_labels, read_rows, remember_features
from diptych.losses import Loss, loss_named
from diptych.noise import bit_source
from diptych.preprocessing import BallScaler
from diptych.risks import PairTable, RankingRisk
from diptych.sets import ConvexSet, Free, L2Ball
from diptych.spec import Adjacency, Bounds, Budget

Array = NDArray[np.float64]


class AUCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear ranking model (AUC maximisation) with a differential-privacy guarantee.

    Minimises the mean loss of all (positive, negative) pairs, regularised, and releases a noisy minimiser.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0; infinity gives the exact optimum without privacy.
    delta : float or "auto", default="auto"
        In [0, 1). 0 is pure differential privacy, "auto" is 1/n^2 with the public n.
    algorithm : {"auto", "output-perturbation", "objective-perturbation", "gd-output", "noisy-gd", "epoch-gd", \
"online-output", "sgd-output", "dp-sgd"} or algorithm object, default="auto"
        How to release. "auto" takes the one of the first two that needs less regularisation, from public facts; for
        the hinge and the q-norm hinge, which they refuse, "noisy-gd", or "sgd-output" where delta is 0.
    loss : {"logistic", "squared", "hinge", "squared-hinge", "smoothed-hinge", "q-norm-hinge"} or loss object, \
default="logistic"
        The pair loss; an object such as ``Logistic(margin=1, temperature=0.5)`` sets margin and temperature. Pairs of
        the q-norm hinge are visited one by one: it is for thousands of records, not for millions.
    regularization : float or "auto", default="auto"
        lambda in (mean pair loss) + (lambda/2) ||w||^2, on rows in the unit ball. "auto" is a rule of public facts,
        0 for gradient descent in few steps.
    radius : float or None, default=None
        Radius of the ball that holds w, in internal units.
    adjacency : {"replace", "replace-within-class"}, default="replace"
        Which tables are neighbours: any one record replaced (labels private), or its features only (labels public).
    bounds : Bounds, required
        Public bounds of the features: ``Bounds(norm=...)`` or ``Bounds(low=..., high=...)``.
    classes : pair of labels or None, default=None
        The two public labels. None reads them off y, which the guarantee names as an assumption. As everywhere in
        scikit-learn, the one that sorts last is the positive class.
    threshold : {"centre"}, default="centre"
        Where ``predict`` changes its mind: at the score of the centre of the bounds.
    constants : {"defended", "paper"}, default="defended"
        Noise that this library can prove to be enough, or the paper's formula.
    random_state : int, NumPy generator or None, default=None
        None draws private noise; anything else is reproducible and therefore not private.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    guarantee_ : Guarantee
        What was promised; print it.
    release_ : Release
        Parameters in internal units and the public trace.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from diptych import AUCClassifier, Bounds
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = AUCClassifier(epsilon=1.0, bounds=Bounds(norm=8.0), classes=(0, 1)).fit(X, y)
    >>> model.guarantee_.epsilon
    1.0
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | str = "auto",
        *,
        algorithm: str | Algorithm[Any, Any] = "auto",
        loss: str | Loss = "logistic",
        regularization: float | str = "auto",
        radius: float | None = None,
        adjacency: str = "replace",
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
        threshold: str = "centre",
        constants: str = "defended",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.algorithm = algorithm
        self.loss = loss
        self.regularization = regularization
        self.radius = radius
        self.adjacency = adjacency
        self.bounds = bounds
        self.classes = classes
        self.threshold = threshold
        self.constants = constants
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on a private table; everything about the settings is checked before the table is read."""
        lam = read_regularization(self.regularization)
        risk, source = self._risk(1.0 if lam is None else lam), bit_source(self.random_state)
        candidates = self._candidates(risk, read_budget(self.epsilon, self.delta))
        bounds, known = read_bounds(self.bounds), read_classes(self.classes)
        rows = read_rows(X)
        classes, positive = read_labels(y, known, len(rows))
        need_records(len(rows))
        scaler = BallScaler(bounds, rows.shape[1])
        table = PairTable(scaler.transform(rows), positive)
        budget, size = read_budget(self.epsilon, self.delta, table.n), table.size(risk.adjacency)
        risk = replace(risk, diameter=scaler.diameter)
        algorithm, risk = choose(risk, size, table.d, budget, candidates, auto=lam is None)
        release = own_up(algorithm.run(risk, table, budget, source, self.constants), self.classes)
        coef, intercept = scaler.unfold(release.coef)
        remember_features(self, X)
        self.release_, self.guarantee_, self.classes_ = release, release.guarantee, classes
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])
        return self

    def decision_function(self, X: Any) -> Array:
        """Score records: the higher, the more likely positive. Scores rank; they are no probabilities."""
        return linear_scores(self, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the positive class where the score is above 0."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Area under the ROC curve on a test table, which this does NOT keep private."""
        scores, positive = self._scored(X, y)
        _need_both(positive)
        return float(roc_auc_score(positive, scores, sample_weight=sample_weight))

    def private_score(self, X: Any, y: Any, epsilon: float = 1.0, *, random_state: Any = None) -> PrivateScore:
        """Area under the ROC curve on a private test table, with pure differential privacy for its records.

        Neighbouring tables are those of ``adjacency``. The test table must not be the one that was fitted, or the
        two budgets add up; so do those of repeated calls.

        Parameters
        ----------
        X, y
            The test table.
        epsilon
            What this one answer may spend.
        random_state
            As in the constructor.

        Returns
        -------
        PrivateScore
            With ``value`` and ``guarantee``.
        """
        budget, source = Budget(epsilon), bit_source(random_state)
        if not budget.private:
            raise ValueError("epsilon must be finite for a private score; score() is the one without privacy.")
        adjacency = Adjacency.parse(self.adjacency)
        scores, positive = self._scored(X, y)
        need_records(len(scores))
        if adjacency is Adjacency.REPLACE_WITHIN_CLASS:
            _need_both(positive)
        return private_auc(scores, positive, adjacency, budget, source)

    def _scored(self, X: Any, y: Any) -> tuple[Array, NDArray[np.bool_]]:
        scores = self.decision_function(X)
        return scores, read_labels(y, self.classes_, len(scores))[1]

    def __sklearn_tags__(self) -> Tags:
        """Binary classifier; privacy makes scores on tiny tables poor."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _candidates(self, draft: RankingRisk, budget: Budget) -> tuple[Algorithm[RankingRisk, PairTable], ...]:
        """Return the algorithms that the settings allow; no minimiser can be certified across a kink."""
        kinked = not draft.loss.smooth and budget.private and self.constants == "defended"
        descending = (SGDOutput.name if budget.pure else NoisyGD.name,)
        automatic = descending if kinked else tuple(MINIMISING)
        return suitable(algorithms_named(self.algorithm, automatic=automatic), draft, budget, self.constants)

    def _risk(self, lam: float) -> RankingRisk:
        if self.threshold != "centre":
            raise ValueError(f"threshold must be 'centre'; got {self.threshold!r}.")
        constraint: ConvexSet = Free() if self.radius is None else L2Ball(self.radius)
        return RankingRisk(loss_named(self.loss), lam, constraint, Adjacency.parse(self.adjacency))


def _need_both(positive: NDArray[np.bool_]) -> None:
    if positive.all() or not positive.any():
        raise ValueError("y must hold both classes for an AUC; add records of the missing one.")
