"""A fitted linear map as a metric: rows to coordinates, pairs of rows to distances. How it is fitted: ``metric.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diptych.estimators.validation import check_features, read_pairs, read_rows

Array = NDArray[np.float64]


class MahalanobisTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that has learned ``components_``, one row a dimension; method names follow metric-learn."""

    components_: Array

    def transform(self, X: Any) -> Array:
        """Map rows so that their Euclidean distance is the learned one. Rows outside the bounds are not clipped."""
        check_is_fitted(self)
        rows = read_rows(X)
        check_features(self, X)
        return np.asarray(rows @ self.components_.T)

    def pair_distance(self, pairs: Any) -> Array:
        """Return the learned distance, not squared, between the records of each pair.

        Parameters
        ----------
        pairs
            Of shape (n_pairs, 2, n_features), in the caller's units.
        """
        check_is_fitted(self)
        records = read_pairs(pairs, self)
        return np.asarray(np.linalg.norm((records[:, 0] - records[:, 1]) @ self.components_.T, axis=1))

    def pair_score(self, pairs: Any) -> Array:
        """Return how alike the records of each pair are: their distance with a minus."""
        return -self.pair_distance(pairs)

    def get_mahalanobis_matrix(self) -> Array:
        """Return M, in the caller's units, of the squared distance (x - x')' M (x - x')."""
        check_is_fitted(self)
        return np.asarray(self.components_.T @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        """A transformer that needs labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
