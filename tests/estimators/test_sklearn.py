"""scikit-learn's own checks, without noise and with it: all hold, no failure is expected.

Some ask for an accuracy of 0.83 on 200 records that fill a third of these bounds: that takes an epsilon above 1; some
for half of the variance explained by ten features of 200 records: that takes ten times as much.
"""

from __future__ import annotations

import math

from sklearn.utils.estimator_checks import parametrize_with_checks

from diptych import AUCClassifier, Bounds, GLMClassifier, GLMRegressor, MetricLearner

ESTIMATORS = [
    AUCClassifier(math.inf, bounds=Bounds(norm=10.0)),
    AUCClassifier(4.0, bounds=Bounds(norm=10.0), random_state=0),
    AUCClassifier(2.0, 0.0, bounds=Bounds(low=-10.0, high=10.0), loss="squared", adjacency="replace-within-class"),
    MetricLearner(math.inf, bounds=Bounds(norm=10.0)),
    MetricLearner(bounds=Bounds(norm=10.0), loss="hinge", constraint="trace", random_state=0),
    MetricLearner(2.0, 0.0, bounds=Bounds(low=-10.0, high=10.0), adjacency="replace-within-class", n_components=1),
    GLMClassifier(math.inf, bounds=Bounds(norm=10.0)),
    GLMClassifier(4.0, bounds=Bounds(norm=10.0), random_state=0),
    GLMClassifier(4.0, bounds=Bounds(norm=10.0), loss="hinge", adjacency="add-remove", n_public=100, random_state=0),
    GLMClassifier(
        4.0, 0.0, bounds=Bounds(low=-10.0, high=10.0), loss="squared-hinge", adjacency="replace-within-class"
    ),
    GLMClassifier(20.0, algorithm="jl", bounds=Bounds(norm=10.0), random_state=0),
    GLMClassifier(4.0, algorithm="objective-perturbation", bounds=Bounds(norm=10.0), random_state=0),
    GLMRegressor(math.inf, bounds=Bounds(norm=10.0), label_bounds=(-10, 10)),
    GLMRegressor(math.inf, bounds=Bounds(norm=10.0), label_bounds=(-10, 10), loss="absolute"),
    GLMRegressor(50.0, bounds=Bounds(norm=5.0), label_bounds=(-5, 5), loss="huber", random_state=0),
]

EXPECTED_FAILURES: dict[str, str] = {}  # name of the check: reason


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
