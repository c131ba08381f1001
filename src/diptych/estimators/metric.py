"""``MetricLearner``: a private Mahalanobis metric, near within a class and far across, as a linear map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from diptych.algorithms import (
    METRICS,
    Algorithm,
    Directions,
    GDOutput,
    NoisyGD,
    SGDOutput,
    algorithms_named,
    exact_release,
    suitable,
)
from diptych.estimators.mahalanobis import MahalanobisTransformer
from diptych.estimators.settings import (
    check_components,
    need_records,
    own_up,
    read_bounds,
    read_budget,
    read_regularization,
)
from diptych.estimators.validation import read_classes, read_codes, read_rows, remember_features
from diptych.losses import Loss, loss_named
from diptych.noise import bit_source
from diptych.preprocessing import BallScaler
from diptych.risks import MetricRisk, MetricTable
from diptych.sets import PSDFrobeniusBall, PSDTraceBall, root
from diptych.spec import Adjacency, Bounds, Budget

CONSTRAINTS: dict[str, type[PSDFrobeniusBall] | type[PSDTraceBall]] = {
    "frobenius": PSDFrobeniusBall,
    "trace": PSDTraceBall,
}


class MetricLearner(MahalanobisTransformer):
    """Mahalanobis metric learning with a differential-privacy guarantee.

    Learns a positive semidefinite matrix W for which the squared distance (x - x')' W (x - x') is below ``offset`` for
    records of one class and above it across classes: it minimises the mean over all pairs of the loss of
    (offset - squared distance) within a class and of (squared distance - offset) across. ``transform`` maps rows so
    that the Euclidean distance between them is the learned one.

    **What is protected.** The guarantee covers the released matrix, hence ``components_`` and whatever is computed
    from it and public rows. It does NOT cover the records that a k-nearest-neighbour classifier behind this
    transformer stores, nor that classifier's predictions: those are the private table itself. Publish the
    metric, not the pipeline, or let it store public records.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0; infinity learns without privacy: with ``algorithm="auto"`` the exact optimum.
    delta : float or "auto", default="auto"
        In [0, 1). 0 is pure differential privacy, "auto" is 1/n^2 with the public n.
    algorithm : {"auto", "directions", "gd-output", "noisy-gd", "epoch-gd", "online-output", "sgd-output", "dp-sgd"} \
or algorithm object, default="auto"
        How to release. "auto" is "directions": the Euclidean metric, stretched along directions in which classes
        differ, learned by a private ranking with the same loss (``offset`` then plays no role, and ``constraint`` and
        ``radius`` only scale); "sgd-output" for the hinge where delta is 0. The others learn all of W, whose noise
        small tables do not bear. With ``constants="paper"`` "auto" is "noisy-gd" where delta is above 0, else
        "gd-output".
    loss : {"logistic", "hinge", "smoothed-hinge", "squared-hinge", "q-norm-hinge"} or loss object, default="logistic"
        The pair loss; an object such as ``Logistic(margin=1, temperature=0.5)`` sets margin and temperature.
    constraint : {"frobenius", "trace"}, default="frobenius"
        Which norm of W is bounded. The trace favours matrices of low rank.
    radius : float, default=1.0
        The bound on that norm, on rows in the unit ball.
    offset : float, default=1.0
        The squared distance, on rows in the unit ball, that separates near from far.
    regularization : float or "auto", default="auto"
        lambda in (mean pair loss) + (lambda/2) ||W||^2; "auto" is 0: the set and few steps regularise.
    n_components : int or None, default=None
        How many dimensions to map to: those of the largest eigenvalues of W. None keeps all.
    adjacency : {"replace", "replace-within-class"}, default="replace"
        Which tables are neighbours: any one record replaced (labels private), or its features only (labels public).
    bounds : Bounds, required
        Public bounds of the features: ``Bounds(norm=...)`` or ``Bounds(low=..., high=...)``.
    classes : sequence of labels or None, default=None
        The public labels, two or more. None reads them off y, which the guarantee names as an assumption.
    constants : {"defended", "paper"}, default="defended"
        Noise that this library can prove to be enough, or the paper's formula.
    random_state : int, NumPy generator or None, default=None
        None draws private noise; anything else is reproducible and therefore not private.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The map in the caller's units, the scaling by the bounds folded in; rows by falling eigenvalue of W.
    guarantee_ : Guarantee
        What was promised; print it.
    release_ : Release
        W in internal units, packed (``diptych.sets.unpack``), and the public trace.
    classes_ : array of shape (n_classes,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from diptych import Bounds, MetricLearner
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_samples=1000, n_informative=4, n_classes=3, random_state=0)
    >>> learner = MetricLearner(epsilon=2.0, bounds=Bounds(norm=8.0), classes=(0, 1, 2), n_components=3)
    >>> learner.fit_transform(X, y).shape
    (1000, 3)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | str = "auto",
        *,
        algorithm: str | Algorithm[Any, Any] = "auto",
        loss: str | Loss = "logistic",
        constraint: str = "frobenius",
        radius: float = 1.0,
        offset: float = 1.0,
        regularization: float | str = "auto",
        n_components: int | None = None,
        adjacency: str = "replace",
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
        constants: str = "defended",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.algorithm = algorithm
        self.loss = loss
        self.constraint = constraint
        self.radius = radius
        self.offset = offset
        self.regularization = regularization
        self.n_components = n_components
        self.adjacency = adjacency
        self.bounds = bounds
        self.classes = classes
        self.constants = constants
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on a private table; everything about the settings is checked before the table is read."""
        risk, source = self._risk(), bit_source(self.random_state)
        algorithm = self._algorithm(risk, read_budget(self.epsilon, self.delta))
        bounds, known = read_bounds(self.bounds), read_classes(self.classes, most=None)
        check_components(self.n_components)
        rows = read_rows(X)
        classes, codes = read_codes(y, known, len(rows))
        need_records(len(rows))
        if risk.adjacency is Adjacency.REPLACE_WITHIN_CLASS and np.all(codes == codes[0]):
            raise ValueError(
                "y holds one class only, which public labels (adjacency='replace-within-class') do not allow; add "
                "records of another class, or keep labels private (adjacency='replace')."
            )
        scaler = BallScaler(bounds, rows.shape[1])
        check_components(self.n_components, rows.shape[1])
        table, risk = MetricTable(scaler.transform(rows), codes, len(classes)), replace(risk, diameter=scaler.diameter)
        if algorithm is None:
            release = exact_release(risk, table)
        else:
            budget = read_budget(self.epsilon, self.delta, table.n)
            release = own_up(algorithm.run(risk, table, budget, source, self.constants), self.classes)
        remember_features(self, X)
        self.release_, self.guarantee_, self.classes_ = release, release.guarantee, classes
        self.components_ = root(release.coef)[: self.n_components] / scaler.scales
        return self

    def _risk(self) -> MetricRisk:
        if not (isinstance(self.constraint, str) and self.constraint in CONSTRAINTS):
            raise ValueError(f"constraint must be 'frobenius' or 'trace'; got {self.constraint!r}.")
        lam = read_regularization(self.regularization)
        return MetricRisk(
            loss_named(self.loss),
            0.0 if lam is None else lam,
            CONSTRAINTS[self.constraint](self.radius),
            Adjacency.parse(self.adjacency),
            offset=self.offset,
        )

    def _algorithm(self, draft: MetricRisk, budget: Budget) -> Algorithm[MetricRisk, MetricTable] | None:
        """Return the algorithm to run, or None for the exact optimum; refuse what the settings do not allow."""
        auto, pure = isinstance(self.algorithm, str) and self.algorithm == "auto", budget.private and budget.pure
        published = GDOutput.name if pure else NoisyGD.name
        ours = SGDOutput.name if pure and not draft.loss.smooth else Directions.name
        named = algorithms_named(self.algorithm, METRICS, (published if self.constants == "paper" else ours,))
        (algorithm,) = suitable(named, draft, budget, self.constants)
        return None if auto and not budget.private else algorithm
