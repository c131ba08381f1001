"""Thin scikit-learn shells around private releases."""

from diptych.estimators.glm import GLMClassifier, GLMRegressor
from diptych.estimators.grid_search import PrivateGridSearch
from diptych.estimators.metric import MetricLearner
from diptych.estimators.ranking import AUCClassifier

__all__ = ["AUCClassifier", "GLMClassifier", "GLMRegressor", "MetricLearner", "PrivateGridSearch"]
