"""What generalised linear models share: the way from settings and a private table to coefficients."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from diptych.algorithms import (
    EXACT_REGULARIZATION,
    JL,
    MINIMISING,
    POINTWISE,
    Algorithm,
    NoisyGD,
    OutputPerturbation,
    Release,
    UnsuitableError,
    algorithms_named,
    choose,
    exact_release,
    suitable,
)
from diptych.estimators.settings import (
    need_records,
    read_bounds,
    read_budget,
    read_declared,
    read_regularization,
    read_scaling,
)
from diptych.estimators.validation import read_any_rows, remember_features
from diptych.losses import Loss, loss_named
from diptych.noise import bit_source
from diptych.preprocessing import BallScaler
from diptych.risks import PointRisk, PointTable, SparseTable
from diptych.sets import ConvexSet, Free, L2Ball
from diptych.spec import Adjacency, Bounds, Budget

Array = NDArray[np.float64]
ROUNDED = 1e-6  # of the reach: the width over which an exact optimum rounds off a jump of the slope


class GeneralisedLinearModel(BaseEstimator, ABC):  # type: ignore[misc]
    """A linear score of each record, fitted by the mean loss of single records under differential privacy."""

    losses: ClassVar[dict[str, type[Loss]]]

    epsilon: float
    delta: float | str
    algorithm: Any
    loss: Any
    regularization: float | str
    radius: float | None
    adjacency: str
    bounds: Bounds | None
    fit_intercept: bool
    intercept_scaling: float
    n_public: int | None
    random_state: Any

    @abstractmethod
    def _read_settings(self) -> Any:
        """Check the settings that speak of labels, and return what ``_read_labels`` needs of them."""

    @abstractmethod
    def _read_labels(self, y: Any, settings: Any, n: int) -> Array:
        """Return a number in [-1, 1] for each record."""

    @abstractmethod
    def _keep(self, release: Release, coef: Array, intercept: float, settings: Any) -> None:
        """Set the attributes of a fitted model."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on a private table; everything about the settings is checked before the table is read."""
        lam, source = read_regularization(self.regularization), bit_source(self.random_state)
        risk, settings = self._risk(1.0 if lam is None else lam), self._read_settings()
        scale = read_scaling(self.fit_intercept, self.intercept_scaling)
        declared = read_declared(self.n_public, risk.adjacency)
        candidates = self._candidates(risk, read_budget(self.epsilon, self.delta))
        bounds = read_bounds(self.bounds)
        if issparse(X):
            _check_sparse(candidates, bounds)
        rows = read_any_rows(X)
        numbers = self._read_labels(y, settings, rows.shape[0])
        if declared is None:
            need_records(rows.shape[0])
        scaler = BallScaler(bounds, rows.shape[1])
        table: Any
        if issparse(rows):
            table = SparseTable(rows, scaler.factors(rows), scale, numbers, declared)
        else:
            table = PointTable(_with_constant(scaler.transform(rows), scale), numbers, declared)
        norm = math.hypot(0.5 * scaler.diameter, scale)
        release = self._release(replace(risk, norm=norm, diameter=scaler.diameter), table, candidates, lam, source)
        remember_features(self, X)
        coef, intercept = scaler.unfold(release.coef[: rows.shape[1]])
        self._keep(release, coef, intercept + scale * float(release.coef[-1]) * (scale > 0), settings)
        return self

    def _release(
        self,
        risk: PointRisk,
        table: Any,
        candidates: tuple[Algorithm[PointRisk, PointTable], ...],
        lam: float | None,
        source: Any,
    ) -> Release:
        size = table.size(risk.adjacency)
        if not candidates:
            risk = risk if lam is not None else replace(risk, regularization=EXACT_REGULARIZATION)
            risk = risk.confined(size, math.inf)
            width = ROUNDED * max(1.0, risk.reach(risk.constraint.radius))
            return exact_release(replace(risk, loss=risk.loss.rounded(width)), table)
        budget = read_budget(self.epsilon, self.delta, size.n)
        algorithm, risk = choose(risk, size, table.d, budget, candidates, auto=lam is None)
        return algorithm.run(risk, table, budget, source)

    def _risk(self, lam: float) -> PointRisk:
        loss = loss_named(self.loss, self.losses)
        if loss.residual != next(iter(self.losses.values())).residual:
            raise ValueError(
                f"loss={loss.name!r} does not suit {type(self).__name__}; use one of "
                f"{', '.join(map(repr, self.losses))}."
            )
        constraint: ConvexSet = Free() if self.radius is None else L2Ball(self.radius)
        return PointRisk(loss, lam, constraint, Adjacency.parse(self.adjacency))

    def _candidates(self, draft: PointRisk, budget: Budget) -> tuple[Algorithm[PointRisk, PointTable], ...]:
        """Return the algorithms that the settings allow; none for the exact optimum of what no algorithm minimises."""
        smooth = draft.loss.smooth
        automatic: tuple[str, ...] = (NoisyGD.name,)
        if isinstance(self.algorithm, str) and self.algorithm == "auto":
            if budget.private and budget.pure and not smooth:
                remedy = "huber" if draft.loss.residual else "smoothed-hinge"
                raise UnsuitableError(
                    f"loss={draft.loss.name!r} is not smooth, and no algorithm takes it with delta=0; use "
                    f"loss={remedy!r}, or a delta above 0."
                )
            if not budget.private and not (smooth and draft.regularization > 0):
                _need_bounded(draft)
                return ()
            if not budget.private:
                automatic = (OutputPerturbation.name,)
            elif budget.pure or (draft.regularization > 0 and _minimised(draft.loss)):
                automatic = tuple(MINIMISING)
        return suitable(algorithms_named(self.algorithm, POINTWISE, automatic), draft, budget, "defended")

    def __sklearn_tags__(self) -> Tags:
        """Sparse tables suit ``jl`` only."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.algorithm, JL) or self.algorithm == JL.name
        return tags


def _check_sparse(candidates: tuple[Algorithm[PointRisk, PointTable], ...], bounds: Bounds) -> None:
    """Refuse a sparse table where rows would have to be filled."""
    if not all(isinstance(one, JL) for one in candidates or (None,)):
        raise TypeError(
            "Sparse data was passed for X, which only algorithm='jl' takes without filling it; use that, or "
            "X.toarray()."
        )
    if bounds.norm is None:
        raise ValueError(
            "bounds of a sparse X must be Bounds(norm=...): low and high would be moved to their centre, which fills "
            "every zero."
        )


def _minimised(loss: Loss) -> bool:
    """Whether minimisers did better than noisy gradients on public data (``docs/theory/regularization.md``)."""
    return loss.smooth and not loss.residual and math.isfinite(loss.slope_bound(math.inf))


def _need_bounded(draft: PointRisk) -> None:
    if draft.regularization == 0 and math.isinf(draft.constraint.radius):
        raise UnsuitableError(
            "regularization=0 needs a radius for the exact optimum, which may not exist otherwise; give either."
        )


def _with_constant(rows: Array, scale: float) -> Array:
    """Return the rows with a column of the intercept's scale, if there is one."""
    return np.column_stack((rows, np.full(len(rows), scale))) if scale > 0 else rows
