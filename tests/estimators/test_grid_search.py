"""``PrivateGridSearch``: what it promises, what it tells, what it refuses."""

from __future__ import annotations

import math
import pickle
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from diptych import (
    AUCClassifier,
    Bounds,
    GLMClassifier,
    GLMRegressor,
    MetricLearner,
    OutputPerturbation,
    PrivateGridSearch,
)
from diptych.estimators.candidates import gaussian_dimension
from diptych.selection import MECHANISMS
from diptych.spec import Budget

BALL = Bounds(norm=8.0)
GRID = {"radius": [0.5, 1.0, 2.0, 4.0, 8.0]}
RANKING = AUCClassifier(algorithm="noisy-gd", bounds=BALL, classes=(0, 1))
OPEN = (math.inf, 0.0)


@cache
def table(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n_samples=n, n_features=6, random_state=0)


def test_one_guarantee_covers_the_whole_search_and_nothing_claims_less() -> None:
    search = PrivateGridSearch(RANKING, GRID, epsilon=1.0, random_state=0).fit(*table())
    guarantee = search.guarantee_
    assert (guarantee.epsilon, guarantee.delta) == (1.0, 1.0 / 3000**2)
    assert search.best_estimator_.guarantee_ == search.best_estimator_.release_.guarantee == guarantee
    assert guarantee.seeded
    assert guarantee.defended
    text = str(guarantee)
    for words in (
        "private search among 5 candidates, the chosen one by",
        "in the scores of the candidates on the validation part",
        "each of 5 Gaussian candidates is tried with probability 0.7 and only one is told",
        "the grid of candidates was fixed without looking at the table",
        "no other candidate, no score, not how long it took",
    ):
        assert words in text
    assert type(guarantee).from_dict(guarantee.to_dict()) == guarantee


def test_nothing_is_kept_but_the_chosen_model() -> None:
    search = PrivateGridSearch(RANKING, GRID, random_state=0).fit(*table())
    kept = {name for name in vars(search) if name.endswith("_")}
    assert kept == {"best_estimator_", "best_params_", "guarantee_", "n_features_in_"}
    assert search.best_estimator_.radius == search.best_params_["radius"]


@pytest.mark.parametrize("trials", ["auto", "all", "random", "parts"])
@pytest.mark.parametrize("selection", MECHANISMS)
def test_a_good_candidate_is_found(trials, selection) -> None:
    X, y = table(12_000)
    grid = {"algorithm": [OutputPerturbation("gaussian")], "regularization": [1e-7, 1e-7, 0.1, 0.2, 0.3]}
    search = PrivateGridSearch(RANKING, grid, epsilon=3.0, trials=trials, selection=selection, random_state=1).fit(X, y)
    assert search.best_params_["regularization"] >= 0.1
    assert search.score(X, y) > 0.9
    assert roc_auc_score(y, search.decision_function(X)) == search.score(X, y)


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (RANKING, GRID, "accuracy"),
        (GLMClassifier(bounds=BALL), {"radius": [1.0, 4.0]}, "accuracy"),
        (GLMClassifier(bounds=BALL, adjacency="replace-within-class"), {"loss": ["logistic", "hinge"]}, "auc"),
        (GLMClassifier(bounds=BALL), [{"loss": ["logistic"]}, {"intercept_scaling": [0.1, 1.0]}], "loss"),
        (GLMRegressor(bounds=BALL, label_bounds=(0, 1)), {"loss": ["huber", "absolute"]}, "auto"),
        (MetricLearner(bounds=BALL, classes=(0, 1)), {"loss": ["hinge", "logistic"]}, "auto"),
        (MetricLearner(bounds=BALL, adjacency="replace-within-class"), {"radius": [1.0, 2.0]}, "auc"),
    ],
    ids=str,
)
@pytest.mark.parametrize("budget", [(1.0, "auto"), (1.0, 0.0), OPEN], ids=str)
def test_every_estimator_score_and_budget(estimator, grid, scoring, budget) -> None:
    epsilon, delta = budget
    if estimator.algorithm == "noisy-gd" and budget == (1.0, 0.0):
        with pytest.raises(ValueError, match="is refused: delta=0 does not suit noisy-gd"):
            PrivateGridSearch(estimator, grid, epsilon=epsilon, delta=delta).fit(*table())
        return
    if delta == 0.0 and math.isfinite(epsilon) and {"hinge", "absolute"} & set(str(grid).split("'")):
        grid = {"regularization": [0.1, 1.0]}
    if math.isinf(epsilon) and isinstance(estimator, GLMRegressor | GLMClassifier):
        estimator = clone(estimator).set_params(radius=3.0, regularization=0.01)
    X, y = table()
    search = PrivateGridSearch(estimator, grid, epsilon=epsilon, delta=delta, scoring=scoring, random_state=3)
    search.fit(X, y)
    assert search.guarantee_.epsilon == epsilon
    assert search.guarantee_.delta == (0.0 if delta == 0.0 else 1.0 / 3000**2)
    if isinstance(estimator, MetricLearner):
        assert search.transform(X).shape[0] == len(X)
        assert not hasattr(search, "predict")
    else:
        assert search.predict(X).shape == y.shape
        assert math.isfinite(search.score(X, y))


def test_without_privacy_it_is_a_plain_search_on_a_validation_part() -> None:
    X, y = table()
    search = PrivateGridSearch(RANKING, {"radius": [1e-3, 0.01, 3.0]}, epsilon=math.inf).fit(X, y)
    assert search.best_params_ == {"radius": 3.0}
    assert math.isinf(search.guarantee_.epsilon)
    assert "no privacy guarantee" in str(search.guarantee_)


def test_gaussian_noise_is_counted_on_only_where_it_is_certain() -> None:
    budget = Budget(1.0, 1e-6)
    gaussian = AUCClassifier(algorithm=OutputPerturbation("gaussian"), bounds=BALL)
    assert gaussian_dimension([RANKING, gaussian], 6, budget) == 7 * 100 + 7
    for other in (
        AUCClassifier(bounds=BALL),
        AUCClassifier(algorithm="objective-perturbation", bounds=BALL),
        AUCClassifier(algorithm="output-perturbation", bounds=BALL),
        AUCClassifier(algorithm="dp-sgd", bounds=BALL),
        MetricLearner(bounds=BALL),
    ):
        assert gaussian_dimension([RANKING, other], 6, budget) is None


def test_it_behaves_as_scikit_learn_expects() -> None:
    X, y = table()
    names = [f"x{k}" for k in range(6)]
    frame = pd.DataFrame(X, columns=names)
    search = PrivateGridSearch(clone(RANKING), GRID, random_state=0)
    assert is_classifier(search)
    assert is_regressor(PrivateGridSearch(GLMRegressor(), {}))
    assert "PrivateGridSearch(" in repr(search)
    first = clone(search).fit(frame, y)
    assert list(first.feature_names_in_) == list(first.best_estimator_.feature_names_in_) == names
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.predict(frame), first.predict(frame))
    np.testing.assert_array_equal(search.fit(frame, y).best_estimator_.coef_, first.best_estimator_.coef_)
    assert list(first.classes_) == [0, 1]
    pipeline = make_pipeline(FunctionTransformer(), PrivateGridSearch(GLMClassifier(bounds=BALL), GRID)).fit(X, y)
    assert pipeline.predict_proba(X).shape == (3000, 2)
    assert not hasattr(search, "predict_proba")
    assert RANKING.epsilon == 1.0
    assert not hasattr(RANKING, "coef_")


def test_classes_that_nobody_stated_are_owned_up_to() -> None:
    X, y = table()
    stated = PrivateGridSearch(RANKING, GRID, random_state=0).fit(X, y).guarantee_
    unstated = PrivateGridSearch(clone(RANKING).set_params(classes=None), GRID, random_state=0).fit(X, y).guarantee_
    assert "read off the labels" in str(unstated)
    assert "read off the labels" not in str(stated)


def test_a_single_candidate_is_itself_on_the_training_part() -> None:
    search = PrivateGridSearch(RANKING, {}, random_state=0).fit(*table())
    assert search.best_params_ == {}
    assert search.best_estimator_.epsilon == 1.0


@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
def test_one_class_fits_where_labels_are_private(adjacency) -> None:
    X, _ = table()
    search = PrivateGridSearch(clone(RANKING).set_params(adjacency=adjacency), GRID, random_state=0)
    if adjacency == "replace":
        assert search.fit(X, np.zeros(len(X), dtype=int)).guarantee_.epsilon == 1.0
        return
    y = np.zeros(len(X), dtype=int)
    y[0] = 1
    with pytest.raises(ValueError, match="y holds too few records of a class for public labels"):
        search.fit(X, y)


REFUSED = [
    ({"estimator": object()}, "estimator must be an AUCClassifier"),
    ({"estimator": GLMClassifier(bounds=BALL, adjacency="add-remove", n_public=9)}, "adjacency='add-remove' does not"),
    ({"estimator": AUCClassifier(bounds=BALL, constants="paper")}, "constants='paper' does not suit"),
    ({"param_grid": {"epsilon": [1.0]}}, "param_grid must not hold 'epsilon': the search gives each candidate"),
    ({"param_grid": {"random_state": [1]}}, "param_grid must not hold 'random_state'"),
    ({"param_grid": {"adjacency": ["replace"]}}, "param_grid must not hold 'adjacency'"),
    ({"param_grid": {"wings": [2]}}, "param_grid holds 'wings', which is no parameter; known are"),
    ({"param_grid": {"radius": []}}, "param_grid must hold a list of at least one value for 'radius'"),
    ({"param_grid": {"radius": 3.0}}, "param_grid must hold a list of at least one value for 'radius'"),
    ({"param_grid": {"loss": "hinge"}}, "param_grid must hold a list of at least one value for 'loss'"),
    ({"param_grid": []}, "param_grid must be a mapping"),
    ({"param_grid": 3}, "param_grid must be a mapping"),
    ({"param_grid": {"radius": [1.0] * 101, "loss": ["logistic"] * 100}}, "more than 10000"),
    ({"param_grid": {"radius": [1.0, -1.0]}}, "the candidate {'radius': -1.0} is refused: "),
    ({"param_grid": {"constants": ["defended", "paper"]}}, "the candidate {'constants': 'paper'} is refused"),
    ({"param_grid": {"algorithm": ["noisy-gd", "epoch"]}}, "is refused: algorithm must be one of"),
    ({"estimator": AUCClassifier(algorithm="noisy-gd")}, "is refused: bounds is required"),
    ({"scoring": "f1"}, "scoring must be one of 'auto', 'auc', 'accuracy' for AUCClassifier; got 'f1'"),
    ({"scoring": "loss"}, "scoring must be one of 'auto', 'auc', 'accuracy' for AUCClassifier"),
    ({"selection": "best"}, "selection must be one of 'permute-and-flip', 'noisy-max', 'exponential'; got 'best'"),
    ({"trials": "some"}, "trials must be one of"),
    ({"validation": 0}, "validation must be a number between 0 and 1"),
    ({"validation": "half"}, "validation must be a number between 0 and 1"),
    ({"epsilon": -1.0}, "epsilon must be a number above 0"),
    ({"delta": "tiny"}, "delta must be"),
    ({"random_state": -1}, "random_state must be"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_settings_are_refused_before_the_table_is_read(settings, words) -> None:
    search = PrivateGridSearch(**{"estimator": RANKING, "param_grid": GRID, **settings})
    with pytest.raises(ValueError, match=re.escape(words)):
        search.fit(object(), object())


def test_tables_too_small_are_refused() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="n_samples=5 is too few for 1 training part and a validation part"):
        PrivateGridSearch(RANKING, GRID).fit(X[:5], y[:5])
    with pytest.raises(ValueError, match="too few for 5 training parts"):
        PrivateGridSearch(RANKING, GRID, trials="parts").fit(X[:9], y[:9])


CHECKED = [
    PrivateGridSearch(
        GLMClassifier(bounds=Bounds(norm=10.0)), {"radius": [4.0, 8.0]}, epsilon=30.0, random_state=0, validation=0.3
    ),
    PrivateGridSearch(
        AUCClassifier(bounds=Bounds(norm=10.0)), {"regularization": [0.1, 1e-3]}, epsilon=math.inf, random_state=0
    ),
    PrivateGridSearch(
        GLMRegressor(bounds=Bounds(norm=5.0), label_bounds=(-5, 5)), {"loss": ["huber"]}, epsilon=200.0, random_state=0
    ),
]
EXPECTED_FAILURES: dict[str, str] = {}  # name of the check: reason


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
