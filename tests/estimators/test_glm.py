"""``GLMClassifier`` and ``GLMRegressor`` as a user meets them: the contract, the units, and mistakes."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csc_array, csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diptych import JL, Absolute, Bounds, GLMClassifier, GLMRegressor, Hinge, Huber, Logistic, OutputPerturbation
from diptych.algorithms import MINIMISING
from diptych.losses import LOSSES, RESIDUAL_LOSSES
from diptych.risks import PointRisk, PointTable

BALL = Bounds(norm=5.0)
LABELS = (-8.0, 12.0)
NEEDED = {GLMClassifier: {"bounds": BALL}, GLMRegressor: {"bounds": BALL, "label_bounds": LABELS}}
both = pytest.mark.parametrize("kind", list(NEEDED))


@pytest.fixture
def data(rng):
    """Rows, labels of two classes, and numbers."""
    y = rng.random(600) < 0.4
    X = rng.normal(size=(600, 4)) + 1.5 * y[:, None] * np.array([1.0, -0.5, 0.0, 0.2])
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1)[:, None] / 5.0)
    return X, y.astype(int), 2.0 + X @ [1.0, -0.5, 0.3, 0.0] + 0.3 * rng.normal(size=600)


def target(kind, data):
    return data[1] if kind is GLMClassifier else data[2]


def test_the_signatures_are_the_contract() -> None:
    common = ["epsilon", "delta", "algorithm", "loss", "regularization", "radius", "adjacency", "bounds"]
    rest = ["fit_intercept", "intercept_scaling", "n_public"]
    assert list(inspect.signature(GLMClassifier).parameters) == [*common, *rest, "classes", "random_state"]
    assert list(inspect.signature(GLMRegressor).parameters) == [*common, "label_bounds", *rest, "random_state"]


@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class", "add-remove"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("delta", [0, "auto"])
def test_every_setting_fits_and_classifies(data, adjacency, loss, delta) -> None:
    X, y, _ = data
    settings = {"loss": loss, "adjacency": adjacency, "n_public": 500 if adjacency == "add-remove" else None}
    model = GLMClassifier(8.0, delta, bounds=BALL, random_state=0, **settings)
    if loss in ("hinge", "q-norm-hinge") and delta == 0:
        with pytest.raises(ValueError, match=f"loss='{loss}' is not smooth.* use loss='smoothed-hinge', or a delta"):
            model.fit(X, y)
        return
    assert model.fit(X, y).score(X, y) > 0.7
    assert model.score(X, y) == accuracy_score(y, model.predict(X))
    n = 500 if adjacency == "add-remove" else 600
    pure = delta == 0 or "Laplace" in model.guarantee_.mechanism  # the quieter law may promise more than was asked
    assert model.guarantee_.delta == (0 if pure else 1 / n**2)
    assert str(model.guarantee_.adjacency) == adjacency
    assert ("twice the declared n_public" in str(model.guarantee_)) == (adjacency == "add-remove")


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", RESIDUAL_LOSSES)
def test_every_setting_fits_and_regresses(data, adjacency, loss) -> None:
    X, _, y = data
    declared = 700 if adjacency == "add-remove" else None
    settings = {"loss": loss, "adjacency": adjacency, "n_public": declared, "bounds": BALL, "label_bounds": LABELS}
    model = GLMRegressor(8.0, random_state=0, **settings).fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.score(X, y) == r2_score(y, model.predict(X))
    assert "bounds of the labels were fixed" in str(model.guarantee_)
    assert GLMRegressor(math.inf, **settings).fit(X, y).score(X, y) > 0.93


@both
@pytest.mark.parametrize(
    "algorithm", ["output-perturbation", "objective-perturbation", "gd-output", "noisy-gd", "epoch-gd"]
)
@pytest.mark.parametrize("regularization", ["auto", 0.03])
@pytest.mark.parametrize("radius", [None, 2.0])
def test_every_algorithm_fits(data, kind, algorithm, regularization, radius) -> None:
    X, y = data[0], target(kind, data)
    settings = {"algorithm": algorithm, "regularization": regularization, "radius": radius, **NEEDED[kind]}
    model = kind(100.0, 1e-3, random_state=0, **settings).fit(X, y)
    exact = kind(math.inf, random_state=0, **settings).fit(X, y)
    assert exact.score(X, y) > (0.7 if kind is GLMClassifier else 0.4)
    assert model.score(X, y) > exact.score(X, y) - 0.4
    if radius and algorithm not in MINIMISING:
        assert np.linalg.norm(model.release_.coef) <= 2.0 + 1e-9


@both
@pytest.mark.parametrize("sparse", [csr_matrix, csc_array, coo_matrix])
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_tables_are_fitted_and_predicted_like_dense_ones(data, kind, sparse, intercept) -> None:
    """The seed gives both the same map; without privacy both take the same steps."""
    X, y = data[0] * (np.abs(data[0]) > 0.5), target(kind, data)
    settings = {"algorithm": JL(9, "gaussian"), "fit_intercept": intercept, "random_state": 0, **NEEDED[kind]}
    dense, filled = (kind(math.inf, **settings).fit(rows, y) for rows in (X, sparse(X)))
    np.testing.assert_allclose(filled.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(filled.predict(sparse(X)), dense.predict(X), rtol=1e-6, atol=1e-9)
    assert filled.score(sparse(X), y) > (0.6 if kind is GLMClassifier else 0.2)
    private = kind(4.0, 1e-3, **settings).fit(sparse(X), y)
    assert private.guarantee_.mechanism.startswith(
        "random projection to 4" if not intercept else "random projection to 5"
    )
    assert private.n_features_in_ == 4


def test_a_sparse_table_is_neither_filled_nor_changed(rng) -> None:
    """Entries given twice are added in a copy; long rows are clipped, whatever the scale of their entries."""
    rows = csr_matrix((np.array([1.0, 2.0, 4e3, 1.0]), np.array([0, 0, 1, 70]), np.array([0, 2, 3, 4])), (3, 90_000))
    before, y = rows.copy(), [0, 1, 1]
    settings = {"algorithm": JL(3), "bounds": Bounds(norm=5.0), "classes": (0, 1), "random_state": 0}
    model = GLMClassifier(math.inf, 0.1, **settings).fit(rows, y)
    np.testing.assert_array_equal(rows.data, before.data)
    assert rows.nnz == 4
    single = csr_matrix((np.array([3.0, 5.0, 1.0]), np.array([0, 1, 70]), np.array([0, 1, 2, 3])), (3, 90_000))
    np.testing.assert_allclose(GLMClassifier(math.inf, 0.1, **settings).fit(single, y).coef_, model.coef_, atol=1e-9)


@both
def test_sparse_tables_are_refused_with_the_remedy_where_they_would_be_filled(data, kind) -> None:
    X, y = csr_matrix(data[0]), target(kind, data)
    for algorithm in ("auto", "noisy-gd", OutputPerturbation(), "objective-perturbation", "dp-sgd"):
        with pytest.raises(TypeError, match="Sparse data was passed for X, which only algorithm='jl' takes"):
            kind(algorithm=algorithm, **NEEDED[kind]).fit(X, y)
    box = {**NEEDED[kind], "bounds": Bounds(low=-5.0, high=5.0)}
    with pytest.raises(ValueError, match=r"bounds of a sparse X must be Bounds\(norm=\.\.\.\)"):
        kind(algorithm="jl", **box).fit(X, y)
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        kind(algorithm="jl", **NEEDED[kind]).fit(X, y)


@both
def test_attributes_and_shapes(data, kind) -> None:
    X, y = data[0], target(kind, data)
    model = kind(**NEEDED[kind]).fit(X, y)
    assert model.coef_.shape == ((1, 4) if kind is GLMClassifier else (4,))
    assert np.shape(model.intercept_) == ((1,) if kind is GLMClassifier else ())
    assert model.release_.coef.shape == (5,)
    assert model.n_features_in_ == 4
    assert model.guarantee_ is model.release_.guarantee
    assert model.guarantee_.private
    assert not kind(random_state=1, **NEEDED[kind]).fit(X, y).guarantee_.private
    plain = kind(fit_intercept=False, **NEEDED[kind]).fit(X, y)
    assert plain.release_.coef.shape == (4,)
    assert np.ravel(plain.intercept_)[0] == (0.0 if kind is GLMClassifier else 2.0)  # the centre of the labels


def test_without_privacy_it_is_scikit_learns_optimum(data) -> None:
    """The same objective: lambda/2 ||w||^2 + mean loss, the constant column among the features."""
    X, y, z = data
    rows = np.column_stack((X / 5.0, np.full(600, 0.5)))
    settings = {"regularization": 0.01, "bounds": BALL, "intercept_scaling": 0.5}
    ours = GLMClassifier(math.inf, **settings).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.01 * 600), fit_intercept=False, tol=1e-12).fit(rows, y)
    np.testing.assert_allclose(ours.release_.coef, theirs.coef_[0], atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(rows), atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(rows), atol=1e-5)
    ours = GLMRegressor(math.inf, label_bounds=LABELS, **settings).fit(X, z)
    theirs = Ridge(0.01 * 600 / 2, fit_intercept=False).fit(rows, (z - 2.0) / 10.0)
    np.testing.assert_allclose(ours.release_.coef, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X), 2.0 + 10.0 * theirs.predict(rows), atol=1e-6)


@pytest.mark.parametrize(("loss", "rounded"), [("hinge", Hinge().rounded(1e-6)), ("q-norm-hinge", None)])
@pytest.mark.parametrize("settings", [{"regularization": 0.05}, {"regularization": 0, "radius": 2.0}], ids=str)
def test_without_privacy_losses_with_kinks_have_their_optimum_too(data, loss, rounded, settings) -> None:
    X, y, _ = data
    model = GLMClassifier(math.inf, loss=loss, bounds=BALL, **settings).fit(X, y)
    assert model.release_.trace["gap"] <= 1e-3
    risk = PointRisk(rounded or LOSSES[loss](), settings["regularization"])
    table = PointTable(np.column_stack((X / 5.0, np.ones(600))), 2.0 * y - 1.0)
    best, rng = risk.value(model.release_.coef, table), np.random.default_rng(0)
    for _ in range(300):
        step = 10.0 ** rng.uniform(-4, 0) * rng.normal(size=5)
        other = model.release_.coef + step
        other *= min(1.0, settings.get("radius", math.inf) / np.linalg.norm(other))
        assert risk.value(other, table) >= best - 1e-5


def test_error_shrinks_as_the_budget_grows(data) -> None:
    X, _, y = data
    errors = []
    exact = GLMRegressor(math.inf, algorithm="noisy-gd", bounds=BALL, label_bounds=LABELS, loss="huber").fit(X, y)
    for epsilon in (0.1, 1.0, 10.0, 100.0):
        fits = [
            GLMRegressor(epsilon, 1e-6, loss="huber", bounds=BALL, label_bounds=LABELS, random_state=k).fit(X, y)
            for k in range(10)
        ]
        errors.append(np.mean([np.linalg.norm(fit.coef_ - exact.coef_) for fit in fits]))
    assert np.all(np.diff(errors) < 0)


def test_probabilities_are_those_at_which_the_scores_are_best(data) -> None:
    X, y, _ = data
    for loss in (Logistic(), Logistic(1.0, 0.5)):
        model = GLMClassifier(math.inf, loss=loss, bounds=BALL).fit(X, y)
        chances = model.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        np.testing.assert_array_equal(chances.argmax(axis=1), model.predict(X))
        assert abs(chances[:, 1].mean() - y.mean()) < 0.05
    assert not hasattr(GLMClassifier(loss="hinge", bounds=BALL), "predict_proba")


def test_labels_outside_their_bounds_are_clipped(data) -> None:
    X, _, y = data
    wild = np.where(np.arange(600) == 5, 1e9, np.clip(y, *LABELS))
    tame = np.clip(wild, *LABELS)
    one, two = (GLMRegressor(bounds=BALL, label_bounds=LABELS, random_state=0).fit(X, z) for z in (wild, tame))
    np.testing.assert_array_equal(one.coef_, two.coef_)


@both
def test_boxes_frames_clones_pickles_and_pipelines(data, kind) -> None:
    X, y = data[0], target(kind, data)
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "height"])
    settings = {**NEEDED[kind], "bounds": Bounds(low=-5.0, high=[5.0, 6.0, 5.0, 5.0])}
    model = clone(kind(50.0, random_state=0, **settings)).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == ["age", "dose", "weight", "height"]
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows), kind(50.0, random_state=0, **settings))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.4


def test_more_than_two_classes_get_one_clear_refusal(data) -> None:
    X, _, _ = data
    with pytest.raises(ValueError, match="Only binary classification is supported.* Pass y with two classes"):
        GLMClassifier(bounds=BALL).fit(X, np.arange(600) % 3)


@pytest.mark.parametrize("algorithm", ["auto", "noisy-gd"])
def test_tables_under_add_remove_may_hold_any_number_up_to_twice_the_declared(data, algorithm) -> None:
    X, y, _ = data
    settings = {"adjacency": "add-remove", "n_public": 100, "classes": (0, 1), "bounds": BALL, "random_state": 0}
    model, traces = GLMClassifier(algorithm=algorithm, **settings), []
    for n in (1, 2, 150, 200):
        fitted = model.fit(X[:n], y[:n])
        assert fitted.guarantee_.delta in (0.0, 1e-4)
        traces.append((fitted.release_.trace, fitted.guarantee_))
    assert all(one == traces[0] for one in traces)  # nothing that is released depends on the private number
    with pytest.raises(ValueError, match="n_public is less than half"):
        model.fit(X[:201], y[:201])


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({}, "perturbation"),
        ({"delta": 0}, "perturbation"),
        ({"loss": "smoothed-hinge"}, "perturbation"),
        ({"regularization": 0}, "gradient descent"),
        ({"loss": "squared"}, "gradient descent"),
        ({"loss": "hinge"}, "gradient descent"),
    ],
    ids=str,
)
def test_auto_takes_minimisers_where_they_did_better(data, settings, chosen) -> None:
    X, y, z = data
    assert chosen in GLMClassifier(bounds=BALL, classes=(0, 1), **settings).fit(X, y).guarantee_.mechanism
    regressor = GLMRegressor(bounds=BALL, label_bounds=LABELS, delta=settings.get("delta", "auto")).fit(X, z)
    assert ("perturbation" if settings.get("delta") == 0 else "gradient descent") in regressor.guarantee_.mechanism


MISTAKES = [
    ({"epsilon": 0}, "epsilon must be a number above 0"),
    ({"delta": 1.5}, r"delta must be a number in \[0, 1\)"),
    ({"bounds": None}, "bounds is required"),
    ({"algorithm": "online-output"}, "algorithm must be one of 'auto', 'output-perturbation'"),
    ({"algorithm": "magic"}, "algorithm must be one of 'auto'"),
    ({"algorithm": OutputPerturbation("gaussian"), "delta": 0}, "noise='gaussian' cannot give delta = 0"),
    ({"algorithm": "epoch-gd", "adjacency": "add-remove", "n_public": 500}, "does not suit epoch-gd.* use 'replace'"),
    ({"adjacency": "add-remove"}, "n_public must be declared for adjacency='add-remove'"),
    ({"adjacency": "add-remove", "n_public": 1.5}, "n_public must be declared"),
    ({"n_public": 500}, "n_public goes with adjacency='add-remove' only"),
    ({"adjacency": "swap"}, "adjacency must be one of"),
    ({"regularization": -1}, "regularization must be a number of at least 0"),
    ({"regularization": 0, "delta": 0}, "regularization must be above 0 for output-perturbation"),
    ({"regularization": 0, "epsilon": math.inf}, "regularization=0 needs a radius for the exact optimum"),
    ({"radius": -1.0}, "radius must be a number above 0"),
    ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
    ({"intercept_scaling": 0}, "intercept_scaling must be a number from 0.001 to 1000"),
    ({"intercept_scaling": None}, "intercept_scaling must be a number"),
    ({"random_state": "seed"}, "random_state must be None"),
    ({"loss": "cosine"}, "loss must be one of"),
    ({"algorithm": "jl", "delta": 0}, "delta=0 does not suit jl"),
]
CLASSIFYING = [
    ({"loss": "huber"}, "loss must be one of 'logistic'"),
    ({"loss": Absolute()}, "loss='absolute' does not suit GLMClassifier; use one of 'logistic'"),
    ({"loss": "hinge", "algorithm": "gd-output"}, "has a kink.* use loss='smoothed-hinge', or algorithm='noisy-gd'"),
    ({"loss": "q-norm-hinge", "algorithm": "output-perturbation"}, "has a slope that is not Lipschitz"),
    (
        {"loss": "hinge", "algorithm": "objective-perturbation"},
        "loss='hinge' does not suit .*use loss='smoothed-hinge'",
    ),
    ({"classes": (0, 0)}, "classes must hold two different labels"),
    ({"classes": (0, 7)}, "y holds a label that is not in classes"),
    ({"loss": "squared", "algorithm": "noisy-gd", "regularization": 0}, "radius is needed for noisy-gd"),
]
REGRESSING = [
    ({"loss": "logistic"}, "loss must be one of 'squared', 'huber', 'absolute', 'q-norm'"),
    ({"loss": Logistic()}, "loss='logistic' does not suit GLMRegressor; use one of 'squared'"),
    ({"loss": "absolute", "algorithm": "gd-output"}, "has a kink.* use loss='huber', or algorithm='noisy-gd'"),
    ({"loss": "absolute", "delta": 0}, "loss='absolute' is not smooth.* use loss='huber', or a delta above 0"),
    ({"adjacency": "replace-within-class"}, "'replace-within-class' does not suit loss='squared'.* use 'replace'"),
    ({"loss": "absolute", "algorithm": "objective-perturbation"}, "loss='absolute' does not suit .*use loss='huber'"),
    ({"label_bounds": None}, "label_bounds is required"),
    ({"label_bounds": 3.0}, "label_bounds is required"),
    ({"label_bounds": (1.0, 1.0)}, r"label_bounds must be \(low, high\) with low below high"),
]


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        *((kind, *one) for kind in NEEDED for one in MISTAKES),
        *((GLMClassifier, *one) for one in CLASSIFYING),
        *((GLMRegressor, *one) for one in REGRESSING),
    ],
    ids=lambda value: str(value)[:50],
)
def test_mistaken_settings_get_one_clear_sentence_before_the_table_is_read(data, kind, settings, message) -> None:
    X, y = data[0].copy(), target(kind, data)
    if "y holds" not in message:
        X[0, 0] = np.nan  # a table that is refused, too, must not come first
    model = kind(**{**NEEDED[kind], **settings})
    with pytest.raises(ValueError, match=message) as refusal:
        model.fit(X, y)
    assert len(str(refusal.value)) < 300
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda y: np.where(np.arange(len(y)) == 3, np.nan, y), "Input y contains NaN"),
        (lambda y: np.where(np.arange(len(y)) == 3, np.inf, y), "Input y contains NaN or infinity"),
        (lambda y: np.where(np.arange(len(y)) == 3, "secret 123", y.astype(object)), "y must hold numbers only"),
        (lambda y: np.where(np.arange(len(y)) == 3, 10**400, y.astype(object)), "y must hold numbers only"),
        (lambda y: y.astype("datetime64[s]"), "y holds dates or times"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
        (lambda y: y + 1j, "Complex data not supported"),
        (lambda y: np.c_[y, y], "y should be a 1d array"),
        (lambda y: None, "requires y to be passed"),
    ],
)
def test_mistaken_labels_get_a_clear_sentence_that_tells_no_private_value(data, labels, message) -> None:
    X, _, y = data
    model = GLMRegressor(bounds=BALL, label_bounds=LABELS)
    with pytest.raises(ValueError, match=message) as refusal:
        model.fit(X, labels(y))
    text = "".join(str(error) for error in (refusal.value, refusal.value.__cause__) if error is not None)
    assert "secret" not in text
    assert "123" not in text


@both
def test_tables_of_a_public_size_of_one_are_refused(data, kind) -> None:
    X, y = data[0], target(kind, data)
    settings = {"classes": (0, 1)} if kind is GLMClassifier else {}
    with pytest.raises(ValueError, match="n_samples=1 is too few"):
        kind(**NEEDED[kind], **settings).fit(X[:1], y[:1])


def test_objects_as_settings(data) -> None:
    X, _, y = data
    model = GLMRegressor(
        4.0, 0, algorithm=OutputPerturbation("laplace"), loss=Huber(0.2), bounds=BALL, label_bounds=LABELS
    ).fit(X, y)
    assert model.guarantee_.events[0].noise == "Laplace noise"
