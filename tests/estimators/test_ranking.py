"""``AUCClassifier`` as a user meets it: the contract, the units, pandas, and a dozen mistakes."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diptych import (
    AUCClassifier,
    Bounds,
    Hinge,
    Logistic,
    OutputPerturbation,
    SGDOutput,
    SmoothedHinge,
)
from diptych.losses import LOSSES
from diptych.risks import PairTable, RankingRisk

BALL = Bounds(norm=5.0)


@pytest.fixture
def data(rng):
    y = rng.random(600) < 0.4
    X = rng.normal(size=(600, 4)) + 1.2 * y[:, None] * np.array([1.0, -0.5, 0.0, 0.2])
    return X, y.astype(int)


def test_the_signature_is_the_contract() -> None:
    names = list(inspect.signature(AUCClassifier).parameters)
    assert names == [
        "epsilon",
        "delta",
        "algorithm",
        "loss",
        "regularization",
        "radius",
        "adjacency",
        "bounds",
        "classes",
        "threshold",
        "constants",
        "random_state",
    ]


@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("delta", [0, "auto", 1e-4])
def test_every_setting_fits_and_ranks(data, adjacency, loss, delta) -> None:
    X, y = data
    model = AUCClassifier(8.0, delta, loss=loss, adjacency=adjacency, bounds=BALL, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.score(X, y) == roc_auc_score(y, model.decision_function(X))
    gaussian = "Gaussian" in model.guarantee_.mechanism
    assert model.guarantee_.delta == ({"auto": 1 / 600**2}.get(delta, delta) if gaussian else 0)
    assert model.guarantee_.epsilon == 8.0
    assert str(model.guarantee_.adjacency) == adjacency


@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
@pytest.mark.parametrize(
    "algorithm", ["gd-output", "noisy-gd", "epoch-gd", "online-output", SGDOutput(50_000)], ids=str
)
@pytest.mark.parametrize(("loss", "radius"), [("logistic", None), ("squared", 1.0), ("smoothed-hinge", 5.0)])
@pytest.mark.parametrize("regularization", ["auto", 0.1])
def test_descending_algorithms_fit_and_rank(data, adjacency, algorithm, loss, radius, regularization) -> None:
    X, y = data
    settings = {"loss": loss, "radius": radius, "adjacency": adjacency, "regularization": regularization}
    model = AUCClassifier(20.0, 1e-3, algorithm=algorithm, bounds=BALL, random_state=0, **settings).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.guarantee_.delta in (0.0, 1e-3)
    exact = AUCClassifier(math.inf, algorithm=algorithm, bounds=BALL, **settings).fit(X, y)
    assert exact.score(X, y) > 0.75
    assert "gradient descent" in exact.guarantee_.mechanism


def test_attributes_and_shapes(data) -> None:
    X, y = data
    model = AUCClassifier(bounds=BALL).fit(X, y)
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.n_features_in_ == 4
    assert model.release_.coef.shape == (4,)
    assert model.guarantee_ is model.release_.guarantee
    assert set(model.predict(X)) <= {0, 1}
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.parametrize("bounds", [BALL, Bounds(low=-6.0, high=[6.0, 7.0, 8.0, 9.0])])
def test_units_are_the_callers_and_prediction_does_not_clip(data, bounds) -> None:
    X, y = data
    model = AUCClassifier(bounds=bounds, random_state=1).fit(X, y)
    centre = np.zeros(4) if bounds.norm else 0.5 * (np.broadcast_to(-6.0, 4) + np.array([6.0, 7.0, 8.0, 9.0]))
    assert model.decision_function(centre[None])[0] == pytest.approx(0.0, abs=1e-12)
    far = np.array([[100.0, 0, 0, 0]])
    assert model.decision_function(far)[0] == pytest.approx(100 * model.coef_[0, 0] + model.intercept_[0])


def test_without_privacy_it_is_the_optimum_of_the_stated_objective(data) -> None:
    X, y = data
    model = AUCClassifier(math.inf, regularization=0.01, bounds=BALL, adjacency="replace-within-class").fit(X, y)
    rows = X / np.maximum(5.0, np.linalg.norm(X, axis=1))[:, None]
    risk = RankingRisk(Logistic(), 0.01, adjacency=model.guarantee_.adjacency)
    gradient = risk.gradient(model.coef_[0] * 5.0, PairTable(rows, y == 1))
    assert np.linalg.norm(gradient) <= 2e-9


def test_error_shrinks_as_the_budget_grows(data) -> None:
    X, y = data
    errors = []
    exact = AUCClassifier(math.inf, regularization=1.0, bounds=BALL).fit(X, y).coef_
    for epsilon in (0.1, 1.0, 10.0, 100.0):
        fits = [AUCClassifier(epsilon, regularization=1.0, bounds=BALL, random_state=k).fit(X, y) for k in range(20)]
        errors.append(np.mean([np.linalg.norm(fit.coef_ - exact) for fit in fits]))
    assert np.all(np.diff(errors) < 0)


def test_only_a_seed_repeats_and_says_so(data) -> None:
    X, y = data
    one, two = (AUCClassifier(bounds=BALL, random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.guarantee_.seeded
    assert not one.guarantee_.private
    one, two = (AUCClassifier(bounds=BALL).fit(X, y) for _ in range(2))
    assert not np.array_equal(one.coef_, two.coef_)
    assert one.guarantee_.private


def test_the_radius_holds_the_noiseless_model(data) -> None:
    X, y = data
    model = AUCClassifier(math.inf, radius=0.5, bounds=BALL).fit(X, y)
    assert np.linalg.norm(model.release_.coef) == pytest.approx(0.5)


def test_objects_as_settings(data) -> None:
    X, y = data
    model = AUCClassifier(
        4.0, 0, algorithm=OutputPerturbation("laplace"), loss=SmoothedHinge(1.0, 0.5), bounds=BALL
    ).fit(X, y)
    assert model.guarantee_.events[0].noise == "Laplace noise"


def test_private_labels_of_one_class_fit_like_any_other(data) -> None:
    X, _ = data
    model = AUCClassifier(bounds=BALL, classes=(0, 1)).fit(X, np.ones(600, dtype=int))
    assert np.linalg.norm(model.coef_) > 0  # noise around zero
    np.testing.assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("classes", [("healthy", "ill"), ("ill", "healthy"), None])
def test_the_class_that_sorts_last_is_positive_as_everywhere_in_scikit_learn(data, classes) -> None:
    X, y = data
    labels = np.where(y == 1, "ill", "healthy")
    model = AUCClassifier(math.inf, bounds=BALL, classes=classes).fit(X, labels)
    assert list(model.classes_) == ["healthy", "ill"]
    assert model.score(X, labels) > 0.8
    assert cross_val_score(model, X, labels, cv=3, scoring="roc_auc").mean() > 0.8
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, labels)
    assert roc_auc_score(labels, calibrated.predict_proba(X)[:, 1]) > 0.8
    text = str(AUCClassifier(bounds=BALL, classes=classes).fit(X, labels).guarantee_)
    assert ("the set of classes" in text) == (classes is None)


def test_settings_are_refused_before_the_table_is_read(data) -> None:
    """A table that is refused too must not come first: its refusal would say something about it."""
    X, y = data
    spoilt = X.copy()
    spoilt[0, 0] = np.nan
    for settings, message in MISTAKES:
        if "X has 4" in message or "y holds" in message or "so large" in message:
            continue
        with pytest.raises(ValueError, match=message):
            AUCClassifier(**{"bounds": BALL, **settings}).fit(spoilt, y)


def test_a_failed_fit_leaves_the_last_one_whole(data) -> None:
    X, y = data
    model = AUCClassifier(bounds=BALL).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(np.hstack((X, X)), np.zeros(600))
    assert model.n_features_in_ == 4
    assert model.predict(X).shape == (600,)


def test_frames_keep_their_names(data) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "height"])
    model = AUCClassifier(bounds=BALL).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == ["age", "dose", "weight", "height"]
    with pytest.raises(ValueError, match="dose"):
        model.predict(frame.drop(columns="dose"))


def test_pipelines_clones_pickles_and_cross_validation(data) -> None:
    X, y = data
    model = AUCClassifier(8.0, bounds=BALL, random_state=0)
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows), model)
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7
    fitted = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert str(copy.guarantee_) == str(fitted.guarantee_)


def test_papers_constants_are_noisier(data) -> None:
    X, y = data
    common = {"bounds": BALL, "adjacency": "replace-within-class", "regularization": 0.1, "random_state": 0}
    paper = AUCClassifier(0.5, constants="paper", **common).fit(X, y).guarantee_
    ours = AUCClassifier(0.5, **common).fit(X, y).guarantee_
    assert paper.noise_scale > 2 * ours.noise_scale


MISTAKES = [
    ({"epsilon": 0}, "epsilon must be a number above 0"),
    ({"epsilon": -1}, "epsilon must be a number above 0"),
    ({"epsilon": math.nan}, "epsilon must be a number above 0"),
    ({"epsilon": "1"}, "epsilon must be a number above 0"),
    ({"epsilon": 1e13, "regularization": 1e-4}, "epsilon is so large"),
    ({"delta": 1.5}, r"delta must be a number in \[0, 1\)"),
    ({"delta": "small"}, r"delta must be a number in \[0, 1\) or 'auto'"),
    ({"bounds": None}, r"bounds is required: .* Bounds\(norm=...\)"),
    ({"bounds": (0, 1)}, "bounds is required"),
    ({"bounds": Bounds(low=[0.0, 0.0], high=1.0)}, "bounds names 2 features but X has 4"),
    ({"loss": Hinge(), "epsilon": math.inf}, "loss='hinge' does not suit output-perturbation"),
    ({"loss": "hinge", "algorithm": "gd-output"}, "loss='hinge' has a kink.* or algorithm='noisy-gd'"),
    ({"algorithm": "noisy-gd", "delta": 0}, "delta=0 does not suit noisy-gd.* set delta above 0"),
    ({"algorithm": "noisy-gd", "loss": "squared", "regularization": 0}, "radius is needed for noisy-gd"),
    ({"algorithm": "online-output", "constants": "paper"}, "rebuilt from descriptions; use 'defended'"),
    ({"algorithm": "gd-output", "constants": "paper", "adjacency": "replace-within-class"}, "adjacency='replace'"),
    ({"loss": "cosine"}, "loss must be one of 'logistic'"),
    ({"algorithm": "magic"}, "algorithm must be one of 'auto'"),
    ({"algorithm": OutputPerturbation("gaussian"), "delta": 0}, "noise='gaussian' cannot give delta = 0"),
    ({"regularization": 0, "delta": 0}, "regularization must be above 0 for output-perturbation"),
    ({"regularization": -1}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": "best"}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": math.inf}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": math.nan}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": 1e-300}, "regularization must be 0, or between 1e-9 and 1e9"),
    ({"radius": -1.0}, "radius must be a number above 0"),
    ({"radius": "wide"}, "radius must be a number above 0"),
    (
        {"adjacency": "replace-within-class", "constants": "paper", "algorithm": OutputPerturbation("laplace")},
        "paper's own noise",
    ),
    ({"adjacency": "add"}, "adjacency must be one of 'replace'"),
    ({"constants": "sharp"}, "constants must be one of 'defended', 'paper'"),
    ({"constants": "paper"}, "constants='paper' needs the paper's own setting"),
    ({"threshold": "median"}, "threshold must be 'centre'"),
    ({"random_state": "seed"}, "random_state must be None"),
    ({"classes": (0, 0)}, "classes must hold two different labels"),
    ({"classes": (0, 1, 2)}, "classes must hold two different labels"),
    ({"classes": (0, 7)}, "y holds a label that is not in classes"),
]


@pytest.mark.parametrize(("settings", "message"), MISTAKES, ids=lambda value: str(value)[:50])
def test_mistaken_settings_get_one_clear_sentence_and_leave_nothing_behind(data, settings, message) -> None:
    X, y = data
    model = AUCClassifier(**{"bounds": BALL, **settings})
    with pytest.raises(ValueError, match=message) as refusal:
        model.fit(X, y)
    assert len(str(refusal.value)) < 300
    assert str(refusal.value).endswith((".", "'", "]", ")"))
    assert not hasattr(model, "coef_")


SECRET = 123456.789


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X), y), "X contains NaN"),
        (lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.inf, X), y), "X contains NaN or infinity"),
        (
            lambda X, y: (pd.DataFrame(X).astype(object).where(X != X[0, 0], "secret diagnosis"), y),
            "X must hold numbers",
        ),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 3, np.nan, y)), "y contains NaN"),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 3, None, y)), "y contains missing labels"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y * 0), "y holds one class only; name both with classes="),
        (lambda X, y: (X, np.arange(len(y)) % 3), "Only binary classification is supported"),
        (lambda X, y: (X, y + SECRET / 1e9), "Unknown label type"),
        (lambda X, y: (X[:1], y[:1] * 0), "one class only"),
        (lambda X, y: (X[0], y), "X must have two dimensions"),
        (lambda X, y: (X, None), "requires y to be passed"),
        (lambda X, y: (X + 0j, y), "Complex data not supported"),
        (lambda X, y: (X, y + 123j), "Complex data not supported"),
        (lambda X, y: (X[:, :, None], y), "X must have two dimensions"),
        (lambda X, y: (np.where(X == X[0, 0], 10**400, X.astype(object)), y), "X must hold numbers only"),
        (lambda X, y: (np.ma.masked_greater(X, 2.0), y), "X has a mask"),
        (lambda X, y: (X, pd.Series(y).astype("Int64").where(y == 0)), "y contains"),
        (lambda X, y: (X, np.c_[y, y]), "y should be a 1d array"),
        (lambda X, y: (pd.DataFrame(X).assign(day="2020-01-01 12:34:56"), y), "X must hold numbers only"),
    ],
)
def test_mistaken_tables_get_a_clear_sentence_that_tells_no_private_value(data, spoil, message) -> None:
    X, y = data
    X = X.copy()
    X[0, 0] = SECRET
    model = AUCClassifier(bounds=BALL)
    bad_X, bad_y = spoil(X, y)
    with pytest.raises(ValueError, match=message) as refusal:
        model.fit(bad_X, bad_y)
    text = "".join(str(error) for error in (refusal.value, refusal.value.__cause__) if error is not None)
    assert "secret" not in text
    assert "123" not in text
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "n_features_in_")


def test_sample_weights_are_refused(data) -> None:
    X, y = data
    with pytest.raises(TypeError, match="sample_weight"):
        AUCClassifier(bounds=BALL).fit(X, y, sample_weight=np.ones(600))


def test_public_labels_of_one_class_are_refused(data) -> None:
    X, _ = data
    model = AUCClassifier(bounds=BALL, classes=(0, 1), adjacency="replace-within-class")
    with pytest.raises(ValueError, match="both classes must occur"):
        model.fit(X, np.ones(600, dtype=int))


def test_a_single_record_is_refused(data) -> None:
    X, y = data
    with pytest.raises(ValueError, match="too few"):
        AUCClassifier(bounds=BALL, classes=(0, 1)).fit(X[:1], y[:1])


def test_score_needs_both_classes(data) -> None:
    X, y = data
    model = AUCClassifier(bounds=BALL).fit(X, y)
    with pytest.raises(ValueError, match="y must hold both classes for an AUC"):
        model.score(X[:5], np.ones(5, dtype=int))
