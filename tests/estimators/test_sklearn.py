"""scikit-learn's own checks, without noise and with it: all hold, no failure is expected.

Some ask for an accuracy of 0.83 on 200 records that fill a third of these bounds: that takes an epsilon above 1.
"""

from __future__ import annotations

import math

from sklearn.utils.estimator_checks import parametrize_with_checks

from diptych import AUCClassifier, Bounds, MetricLearner

ESTIMATORS = [
    AUCClassifier(math.inf, bounds=Bounds(norm=10.0)),
    AUCClassifier(4.0, bounds=Bounds(norm=10.0), random_state=0),
    AUCClassifier(2.0, 0.0, bounds=Bounds(low=-10.0, high=10.0), loss="squared", adjacency="replace-within-class"),
    MetricLearner(math.inf, bounds=Bounds(norm=10.0)),
    MetricLearner(bounds=Bounds(norm=10.0), loss="hinge", constraint="trace", random_state=0),
    MetricLearner(2.0, 0.0, bounds=Bounds(low=-10.0, high=10.0), adjacency="replace-within-class", n_components=1),
]

EXPECTED_FAILURES: dict[str, str] = {}  # name of the check: reason


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
