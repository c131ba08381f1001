"""``GLMClassifier`` and ``GLMRegressor``: private generalised linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from diptych.algorithms import Algorithm, Release
from diptych.estimators.linear import GeneralisedLinearModel
from diptych.estimators.settings import admit, own_up, read_label_bounds
from diptych.estimators.validation import linear_scores, read_classes, read_labels, read_numbers
from diptych.losses import LOSSES, RESIDUAL_LOSSES, Logistic, Loss, loss_named
from diptych.preprocessing import LabelScaler
from diptych.spec import Bounds

Array = NDArray[np.float64]

LABEL_BOUNDS = "the bounds of the labels were fixed without looking at the table"


def _logistic(model: GLMClassifier) -> bool:
    """Whether scores can be turned into probabilities."""
    if not isinstance(loss_named(model.loss), Logistic):
        raise AttributeError("predict_proba needs loss='logistic'.")
    return True


class GLMClassifier(ClassifierMixin, GeneralisedLinearModel):  # type: ignore[misc]
    """Linear classifier of two classes with a differential-privacy guarantee.

    Minimises the mean over all records of l(y (w.x + b)), y = 1 or -1, regularised.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0; infinity fits without privacy: with ``algorithm="auto"`` the exact optimum.
    delta : float or "auto", default="auto"
        In [0, 1). 0 is pure differential privacy, "auto" is 1/n^2 with the public n.
    algorithm : {"auto", "output-perturbation", "objective-perturbation", "gd-output", "noisy-gd", "epoch-gd", \
"dp-sgd", "jl"} or algorithm object, default="auto"
        How to release. "jl" is for many features, and takes a sparse X without a dense copy. "auto" is one of both
        perturbations for delta 0 and for losses of classes with a bounded smooth slope, else "noisy-gd".
    loss : {"logistic", "hinge", "squared-hinge", "smoothed-hinge", "q-norm-hinge", "squared"} or loss object, \
default="logistic"
        The loss of a margin; an object such as ``QNormHinge(q=1.5)`` sets its constants.
    regularization : float or "auto", default="auto"
        lambda in (mean loss) + (lambda/2) ||(w, b)||^2, on rows in the unit ball. "auto" is a rule of public facts,
        0 for gradient descent in few steps.
    radius : float or None, default=None
        Radius of the ball that holds (w, b), in internal units. With ``regularization="auto"`` and a slope that has no
        bound (squared losses, q-norms), gradient descent takes 2 (margin + temperature), or 2 for residuals.
    adjacency : {"replace", "replace-within-class", "add-remove"}, default="replace"
        Which tables are neighbours: any one record replaced, its features only (labels public), or a record that comes
        or goes (the number of records private).
    bounds : Bounds, required
        Public bounds of the features: ``Bounds(norm=...)`` or ``Bounds(low=..., high=...)``.
    fit_intercept : bool, default=True
        Whether to fit b; without, the score is 0 at the centre of the bounds.
    intercept_scaling : float, default=1.0
        The constant in each row that b multiplies. It counts as a feature: in the norm, hence the noise, and in the
        regulariser.
    n_public : int or None, default=None
        With "add-remove": the number of records to declare; at least half of the true one.
    classes : pair of labels or None, default=None
        The two public labels. None reads them off y, which the guarantee names as an assumption.
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
        Parameters in internal units (the intercept last) and the public trace.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from diptych import Bounds, GLMClassifier
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_samples=2000, random_state=0)
    >>> model = GLMClassifier(epsilon=1.0, bounds=Bounds(norm=8.0), classes=(0, 1)).fit(X, y)
    >>> model.predict_proba(X).shape
    (2000, 2)
    """

    losses: ClassVar[dict[str, type[Loss]]] = LOSSES

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
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        n_public: int | None = None,
        classes: Sequence[Any] | None = None,
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
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_public = n_public
        self.classes = classes
        self.random_state = random_state

    def decision_function(self, X: Any) -> Array:
        """Score records: positive for the second class."""
        return linear_scores(self, X, sparse=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the second class where the score is above 0."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int)])

    @available_if(_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of both classes for which such scores would be the best: of a logistic loss only.

        At the best score p l'(s) = (1 - p) l'(-s), p the probability of the second class.
        """
        scores, loss = self.decision_function(X), loss_named(self.loss)
        right, wrong = loss.slope(scores), loss.slope(-scores)
        second = wrong / (right + wrong)
        return np.column_stack((right / (right + wrong), second))

    def _read_settings(self) -> dict[str, Any]:
        return {"known": read_classes(self.classes)}

    def _read_labels(self, y: Any, settings: dict[str, Any], n: int) -> Array:
        settings["classes"], positive = read_labels(y, settings["known"], n)
        return np.where(positive, 1.0, -1.0)

    def _keep(self, release: Release, coef: Array, intercept: float, settings: dict[str, Any]) -> None:
        self.release_ = own_up(release, self.classes)
        self.guarantee_, self.classes_ = self.release_.guarantee, settings["classes"]
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])

    def __sklearn_tags__(self) -> Tags:
        """Binary classifier."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class GLMRegressor(RegressorMixin, GeneralisedLinearModel):  # type: ignore[misc]
    """Linear regression with a differential-privacy guarantee.

    Minimises the mean over all records of l(y - w.x - b), regularised, with labels clipped to public bounds.

    Parameters
    ----------
    epsilon, delta, algorithm, regularization, radius, bounds, fit_intercept, intercept_scaling, n_public, random_state
        As for ``GLMClassifier``.
    loss : {"squared", "huber", "absolute", "q-norm"} or loss object, default="squared"
        The loss of a residual, on labels in [-1, 1]; an object such as ``Huber(0.1)`` sets its constants.
    adjacency : {"replace", "add-remove"}, default="replace"
        Which tables are neighbours: any one record replaced, or a record that comes or goes.
    label_bounds : pair of numbers, required
        Public bounds of the labels, mapped to [-1, 1]; labels outside are clipped.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    guarantee_, release_, n_features_in_, feature_names_in_
        As for ``GLMClassifier``.

    Examples
    --------
    >>> from diptych import Bounds, GLMRegressor
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(n_samples=2000, n_features=5, noise=5.0, random_state=0)
    >>> model = GLMRegressor(epsilon=1.0, bounds=Bounds(norm=4.0), label_bounds=(-400, 400)).fit(X, y)
    >>> model.predict(X).shape
    (2000,)
    """

    losses: ClassVar[dict[str, type[Loss]]] = RESIDUAL_LOSSES

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | str = "auto",
        *,
        algorithm: str | Algorithm[Any, Any] = "auto",
        loss: str | Loss = "squared",
        regularization: float | str = "auto",
        radius: float | None = None,
        adjacency: str = "replace",
        bounds: Bounds | None = None,
        label_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        n_public: int | None = None,
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
        self.label_bounds = label_bounds
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_public = n_public
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """Predict labels, which may lie outside their bounds."""
        return linear_scores(self, X, sparse=True)

    def _read_settings(self) -> LabelScaler:
        return read_label_bounds(self.label_bounds)

    def _read_labels(self, y: Any, settings: LabelScaler, n: int) -> Array:
        return settings.transform(read_numbers(y, n))

    def _keep(self, release: Release, coef: Array, intercept: float, settings: LabelScaler) -> None:
        self.release_ = admit(release, LABEL_BOUNDS)
        self.guarantee_ = self.release_.guarantee
        self.coef_, self.intercept_ = settings.unfold(coef, intercept)
