"""``MetricLearner`` as a user meets it: the contract, the units, pipelines, the guarantee, and thirty mistakes."""

from __future__ import annotations

import inspect
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from diptych import (
    AUCClassifier,
    Bounds,
    Directions,
    EpochGD,
    GDOutput,
    Hinge,
    Logistic,
    MetricLearner,
    NoisyGD,
    OutputPerturbation,
    SmoothedHinge,
    Squared,
)
from diptych.losses import loss_named
from diptych.preprocessing import BallScaler
from diptych.risks import MetricRisk, MetricTable
from diptych.sets import PSDFrobeniusBall, PSDTraceBall, unpack
from tests.estimators.test_ranking import SECRET

BALL = Bounds(norm=5.0)
BOX = Bounds(low=-6.0, high=[6.0, 7.0, 8.0, 9.0])
ALGORITHMS = ["directions", "gd-output", "noisy-gd", "epoch-gd", "online-output", "sgd-output"]
LOSSES = ["logistic", "hinge", "smoothed-hinge", "squared-hinge"]


def table(n=120, d=4, classes=3, seed=0):
    """Classes lie apart along the first feature only."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, d))
    X[:, 0] = 0.3 * X[:, 0] + 1.5 * y - 1.5
    return X, y


@pytest.fixture
def data():
    return table()


def in_the_set(learner: MetricLearner) -> np.ndarray:
    """Return the internal W of a release, which must be positive semidefinite and within the radius."""
    W = unpack(learner.release_.coef)
    values = np.linalg.eigvalsh(W)
    norm = np.abs(values).sum() if learner.constraint == "trace" else np.linalg.norm(W)
    assert values[0] >= -1e-12 * learner.radius
    assert norm <= learner.radius * (1 + 1e-12)
    return W


# The contract --------------------------------------------------------------------------------------


def test_the_signature_is_the_contract() -> None:
    parameters = inspect.signature(MetricLearner).parameters
    assert list(parameters) == [
        "epsilon",
        "delta",
        "algorithm",
        "loss",
        "constraint",
        "radius",
        "offset",
        "regularization",
        "n_components",
        "adjacency",
        "bounds",
        "classes",
        "constants",
        "random_state",
    ]
    assert [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD] == ["epsilon", "delta"]


@pytest.mark.parametrize("constraint", ["frobenius", "trace"])
@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("delta", "radius"), [(0, 1.0), ("auto", 0.1), (1e-3, 5.0)])
def test_every_setting_fits_and_stays_in_its_set(data, constraint, adjacency, algorithm, loss, delta, radius) -> None:
    X, y = data
    settings = {"constraint": constraint, "adjacency": adjacency, "algorithm": algorithm, "loss": loss}
    learner = MetricLearner(2.0, delta, radius=radius, bounds=BALL, random_state=0, **settings)
    any_slope = ("auto", "noisy-gd", "sgd-output") if delta == 0 else ("auto", "directions", "noisy-gd", "sgd-output")
    kinked = loss == "hinge" and algorithm not in any_slope
    if kinked or (algorithm == "noisy-gd" and delta == 0):
        with pytest.raises(ValueError, match="loss='smoothed-hinge'|set delta above 0"):
            learner.fit(X, y)
        return
    learner.fit(X, y)
    in_the_set(learner)
    assert learner.guarantee_.epsilon == 2.0
    assert str(learner.guarantee_.adjacency) == adjacency
    gaussian = "Gaussian" in learner.guarantee_.mechanism
    assert gaussian or "Laplace" in learner.guarantee_.mechanism
    assert learner.guarantee_.delta == ({"auto": 1 / 120**2}.get(delta, delta) if gaussian else 0)
    assert delta != 0 or not gaussian
    assert learner.guarantee_.released == "the matrix of a Mahalanobis metric"


@pytest.mark.parametrize(("delta", "published"), [(1e-4, NoisyGD), (0, GDOutput)])
@pytest.mark.parametrize("constants", ["defended", "paper"])
def test_auto_is_a_public_choice(data, delta, published, constants) -> None:
    X, y = data
    meant = published() if constants == "paper" else Directions()
    auto, named = (
        MetricLearner(1.0, delta, algorithm=one, constants=constants, bounds=BALL, random_state=3).fit(X, y)
        for one in ("auto", meant)
    )
    assert auto.guarantee_ == named.guarantee_
    np.testing.assert_array_equal(auto.components_, named.components_)
    assert auto.release_.trace["regularization"] == 0.0


def test_attributes_and_shapes(data) -> None:
    X, y = data
    learner = MetricLearner(bounds=BALL).fit(X, y)
    assert learner.components_.shape == (4, 4)
    assert learner.release_.coef.shape == (10,)
    assert learner.guarantee_ is learner.release_.guarantee
    assert learner.n_features_in_ == 4
    np.testing.assert_array_equal(learner.classes_, [0, 1, 2])
    assert learner.guarantee_.private
    assert learner.transform(X).shape == (120, 4)


# Units ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [BALL, BOX, Bounds(norm=1.0)], ids=str)
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_transform_pairs_and_matrix_tell_one_distance(data, bounds, epsilon) -> None:
    X, y = data
    learner = MetricLearner(epsilon, bounds=bounds, random_state=1).fit(X, y)
    pairs = np.stack((X[:50], X[50:100]), axis=1)
    distance = learner.pair_distance(pairs)
    left, right = learner.transform(X[:50]), learner.transform(X[50:100])
    np.testing.assert_allclose(distance, np.linalg.norm(left - right, axis=1), rtol=1e-12)
    apart = pairs[:, 0] - pairs[:, 1]
    M = learner.get_mahalanobis_matrix()
    np.testing.assert_allclose(distance**2, np.einsum("ij,jk,ik->i", apart, M, apart), rtol=1e-12)
    np.testing.assert_array_equal(learner.pair_score(pairs), -distance)
    np.testing.assert_allclose(M, learner.components_.T @ learner.components_)
    np.testing.assert_allclose(M, M.T)


@pytest.mark.parametrize("bounds", [Bounds(norm=50.0), Bounds(low=-60.0, high=[60.0, 70.0, 80.0, 90.0])], ids=str)
def test_the_scaling_is_folded_in(data, bounds) -> None:
    """Between rows within the bounds, the distance is that of W on the rows of the unit ball that it was learned on."""
    X, y = data
    learner = MetricLearner(bounds=bounds, random_state=1).fit(X, y)
    Z, W = BallScaler(bounds, 4).transform(X), in_the_set(learner)
    inside = Z[:50] - Z[50:100]
    expected = np.sqrt(np.einsum("ij,jk,ik->i", inside, W, inside))
    np.testing.assert_allclose(learner.pair_distance(np.stack((X[:50], X[50:100]), axis=1)), expected, rtol=1e-9)


def test_nothing_is_clipped_after_the_fit(data) -> None:
    X, y = data
    learner = MetricLearner(bounds=Bounds(norm=1.0)).fit(X, y)
    np.testing.assert_allclose(learner.transform(1000.0 * X), 1000.0 * learner.transform(X), rtol=1e-12)
    np.testing.assert_array_equal(learner.transform(np.zeros((1, 4))), np.zeros((1, 4)))


@pytest.mark.parametrize("count", [1, 2, 4, np.int64(3)])
def test_components_are_the_leading_ones(data, count) -> None:
    X, y = data
    whole, part = (MetricLearner(bounds=BALL, random_state=2, n_components=k).fit(X, y) for k in (None, count))
    np.testing.assert_array_equal(part.components_, whole.components_[:count])
    np.testing.assert_array_equal(part.release_.coef, whole.release_.coef)
    lengths = np.linalg.norm(whole.components_, axis=1)
    assert np.all(np.diff(lengths) <= 0)
    np.testing.assert_allclose((5.0 * lengths) ** 2, np.linalg.eigvalsh(in_the_set(whole))[::-1], atol=1e-12)
    pairs = np.stack((X[:50], X[50:100]), axis=1)
    assert np.all(part.pair_distance(pairs) <= whole.pair_distance(pairs) + 1e-12)
    np.testing.assert_array_equal(part.get_feature_names_out(), [f"metriclearner{k}" for k in range(count)])


# What is learned -----------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", ["frobenius", "trace"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularization", ["auto", 0.1])
def test_without_privacy_it_is_the_optimum_of_the_stated_objective(data, constraint, loss, regularization) -> None:
    """No random point of the set, near or far, is better; nor is a long plain projected descent."""
    X, y = data
    learner = MetricLearner(
        math.inf, constraint=constraint, loss=loss, regularization=regularization, radius=3.0, bounds=BALL
    ).fit(X, y)
    trace = learner.release_.trace
    assert trace["converged"]
    assert trace["gap"] <= 1e-8
    rows = X / np.maximum(5.0, np.linalg.norm(X, axis=1))[:, None]
    clean = MetricTable(rows, y.astype(np.int64))
    ball = {"frobenius": PSDFrobeniusBall, "trace": PSDTraceBall}[constraint](3.0)
    risk = MetricRisk(loss_named(loss), 0.0 if regularization == "auto" else 0.1, ball)
    w = learner.release_.coef
    least = risk.value(w, clean)
    v = risk.start(4)
    for _ in range(300):
        v = risk.constraint.project(v - risk.stride(clean.size(risk.adjacency)) * risk.gradient(v, clean))
    assert least <= risk.value(v, clean) + 1e-8
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            other = risk.constraint.project(w + size * rng.normal(size=w.size))
            assert least <= risk.value(other, clean) + 1e-8


def test_explicit_algorithms_without_privacy_give_their_noiseless_iterate(data) -> None:
    X, y = data
    best = MetricLearner(math.inf, radius=2.0, bounds=BALL).fit(X, y)
    for algorithm in ALGORITHMS:
        learner = MetricLearner(math.inf, algorithm=algorithm, radius=2.0, bounds=BALL).fit(X, y)
        assert "gradient descent" in learner.guarantee_.mechanism
        assert "carries no privacy guarantee" in str(learner.guarantee_)
        assert not np.array_equal(learner.release_.coef, best.release_.coef)
        W, V = in_the_set(learner), in_the_set(best)
        assert np.sum(W * V) >= 0.9 * np.linalg.norm(W) * np.linalg.norm(V)


@pytest.mark.parametrize("constraint", ["frobenius", "trace"])
@pytest.mark.parametrize("loss", ["logistic", "smoothed-hinge"])
def test_it_beats_the_euclidean_metric_where_features_are_irrelevant(constraint, loss) -> None:
    X, y = table(300, 12)
    fresh, labels = table(600, 12, seed=1)
    learner = MetricLearner(math.inf, loss=loss, constraint=constraint, radius=10.0, bounds=Bounds(norm=8.0))
    euclidean = KNeighborsClassifier().fit(X, y).score(fresh, labels)
    learned = make_pipeline(learner, KNeighborsClassifier()).fit(X, y).score(fresh, labels)
    assert euclidean < 0.9
    assert learned > 0.95
    assert np.abs(learner.components_[0]).argmax() == 0


def test_private_learning_finds_the_feature_that_matters() -> None:
    X, y = table(2000)
    learner = MetricLearner(8.0, bounds=BALL, n_components=1, random_state=0).fit(X, y)
    direction = np.abs(learner.components_[0]) / np.linalg.norm(learner.components_[0])
    assert direction[0] > 0.95


def test_error_shrinks_as_the_budget_grows(data) -> None:
    X, y = data
    settings = {"algorithm": NoisyGD(steps=10, step_size=0.5), "bounds": BALL}
    exact = MetricLearner(math.inf, **settings).fit(X, y).release_.coef
    errors = []
    for epsilon in (1.0, 10.0, 100.0, 1000.0):
        fits = [MetricLearner(epsilon, 1e-4, random_state=k, **settings).fit(X, y) for k in range(10)]
        errors.append(np.mean([np.linalg.norm(fit.release_.coef - exact) for fit in fits]))
    assert np.all(np.diff(errors) < 0)


# The guarantee -------------------------------------------------------------------------------------


def test_golden_text_of_a_guarantee(data) -> None:
    X, y = data
    learner = MetricLearner(1.0, 1e-4, bounds=BALL, random_state=0).fit(X, y)
    assert str(learner.guarantee_) == GOLDEN


@pytest.mark.parametrize("adjacency", ["replace", "replace-within-class"])
@pytest.mark.parametrize(("delta", "algorithm"), [(1e-4, name) for name in ALGORITHMS] + [(0, "gd-output")])
def test_a_seed_gives_the_same_noise_on_neighbouring_tables(data, adjacency, delta, algorithm) -> None:
    """So that audits can cancel it: what is left is what one record moves, much less than another seed does."""
    X, y = data
    other, labels = X.copy(), y.copy()
    other[7] = [-4.0, 1.0, 0.0, 2.0]
    if adjacency == "replace":
        labels[7] = (y[7] + 1) % 3

    def fit(rows, classes, seed):
        settings = {"algorithm": algorithm, "adjacency": adjacency, "bounds": BALL, "classes": (0, 1, 2)}
        return MetricLearner(1.0, delta, random_state=seed, **settings).fit(rows, classes).release_.coef

    moved = np.linalg.norm(fit(X, y, 0) - fit(other, labels, 0))
    drawn = min(np.linalg.norm(fit(X, y, 0) - fit(X, y, seed)) for seed in range(1, 6))
    assert 0.0 < moved < 0.25 * drawn


def test_only_a_seed_repeats_and_says_so(data) -> None:
    X, y = data
    one, two = (MetricLearner(bounds=BALL, random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.guarantee_.seeded
    assert not one.guarantee_.private
    one, two = (MetricLearner(bounds=BALL).fit(X, y) for _ in range(2))
    assert not np.array_equal(one.components_, two.components_)


def test_classes_that_nobody_stated_are_an_assumption(data) -> None:
    X, y = data
    note = "the set of classes, read off the labels, is public"
    assert note in str(MetricLearner(bounds=BALL).fit(X, y).guarantee_)
    assert note not in str(MetricLearner(bounds=BALL, classes=(0, 1, 2, 3)).fit(X, y).guarantee_)
    assert MetricLearner(math.inf, bounds=BALL).fit(X, y).guarantee_.assumptions == ()


def test_papers_constants_follow_their_formula_and_are_flagged_where_they_fall_short(data) -> None:
    X, y = data
    common = {"algorithm": GDOutput(steps=20), "bounds": BALL, "random_state": 0}
    paper = MetricLearner(1.0, 0, constants="paper", **common).fit(X, y).guarantee_
    ours = MetricLearner(1.0, 0, **common).fit(X, y).guarantee_
    assert paper.constants == "paper"
    assert paper.noise_scale != ours.noise_scale
    assert ours.defended


def test_the_docstring_says_what_is_not_protected() -> None:
    text = " ".join(MetricLearner.__doc__.split())
    assert "does NOT cover the records that a k-nearest-neighbour classifier" in text
    assert "nor that classifier's predictions" in text


# Labels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [("a", "b", "c"), (5, -2, 2**40), (0.0, 1.0, 2.0), np.array(["x", "yy", "zzz"], dtype=object), (True, False, True)],
    ids=str,
)
@pytest.mark.parametrize("stated", [False, True])
def test_labels_of_every_kind_and_number_mean_the_same(data, names, stated) -> None:
    X, y = data
    labels = np.asarray(names)[y]
    classes = tuple(dict.fromkeys(names))
    learner = MetricLearner(bounds=BALL, classes=classes if stated else None, random_state=0).fit(X, labels)
    np.testing.assert_array_equal(learner.classes_, sorted(set(names)))
    codes = np.unique(labels, return_inverse=True)[1]
    same = MetricLearner(bounds=BALL, random_state=0).fit(X, codes)
    np.testing.assert_array_equal(learner.components_, same.components_)
    listed = MetricLearner(bounds=BALL, random_state=0).fit(X, list(labels))
    np.testing.assert_array_equal(listed.components_, same.components_)


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_private_labels_of_one_class_fit_like_any_other(data, algorithm, epsilon) -> None:
    X, _ = data
    for classes in (None, (0, 1)):
        learner = MetricLearner(epsilon, algorithm=algorithm, bounds=BALL, classes=classes)
        learner.fit(X, np.zeros(120, dtype=int))
        in_the_set(learner)
        np.testing.assert_array_equal(learner.classes_, [0] if classes is None else [0, 1])


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_tables_fit(algorithm, n) -> None:
    X, y = table(n)
    for adjacency, labels in (("replace", y), ("replace-within-class", np.arange(n))):
        learner = MetricLearner(algorithm=algorithm, adjacency=adjacency, bounds=BALL).fit(X, labels)
        in_the_set(learner)


def test_many_classes_raise_no_warning(data) -> None:
    """scikit-learn would warn that they are many, which is private."""
    X, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = MetricLearner(bounds=BALL).fit(X, np.arange(120))
    assert learner.classes_.size == 120


def test_public_labels_of_one_class_are_refused(data) -> None:
    X, _ = data
    learner = MetricLearner(bounds=BALL, classes=(0, 1), adjacency="replace-within-class")
    with pytest.raises(ValueError, match="y holds one class only.* add records of another class, or keep labels"):
        learner.fit(X, np.ones(120, dtype=int))


# scikit-learn --------------------------------------------------------------------------------------


def test_pipelines_clones_pickles_and_cross_validation(data) -> None:
    X, y = data
    learner = MetricLearner(8.0, algorithm="noisy-gd", bounds=BALL, random_state=0, n_components=2)
    pipeline = make_pipeline(learner, KNeighborsClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    fitted = clone(learner).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    assert str(copy.guarantee_) == str(fitted.guarantee_)
    np.testing.assert_array_equal(clone(learner).fit_transform(X, y), fitted.transform(X))
    assert clone(fitted).get_params() == learner.get_params()


def test_frames_keep_their_names_and_outputs_are_set(data) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "height"], index=np.arange(120) + 7)
    learner = MetricLearner(bounds=BALL, n_components=2).set_output(transform="pandas").fit(frame, pd.Series(y))
    assert list(learner.feature_names_in_) == ["age", "dose", "weight", "height"]
    out = learner.transform(frame)
    assert list(out.columns) == ["metriclearner0", "metriclearner1"] == list(learner.get_feature_names_out())
    assert list(out.index) == list(frame.index)
    np.testing.assert_array_equal(out.to_numpy(), learner.set_output(transform="default").transform(frame))
    with pytest.raises(ValueError, match="dose"):
        learner.transform(frame.drop(columns="dose"))
    assert make_pipeline(learner, KNeighborsClassifier()).fit(frame, y).predict(frame).shape == (120,)


def test_objects_as_settings(data) -> None:
    X, y = data
    learner = MetricLearner(
        4.0, 0, algorithm=EpochGD(noise="laplace", epochs=2), loss=SmoothedHinge(1.0, 0.5), offset=0.25, bounds=BOX
    ).fit(X, y)
    assert [event.noise for event in learner.guarantee_.events] == ["Laplace noise"] * 2


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
@pytest.mark.parametrize("loss", [SmoothedHinge(5.0), Logistic(1000.0), Logistic(40.0)], ids=str)
def test_losses_that_never_bend_in_the_set_still_get_a_step_length(data, algorithm, epsilon, loss) -> None:
    X, y = data
    learner = MetricLearner(epsilon, algorithm=algorithm, loss=loss, bounds=BALL, random_state=0).fit(X, y)
    in_the_set(learner)
    assert learner.guarantee_.noise_scale < 100.0


# Mistakes ------------------------------------------------------------------------------------------


class Lopsided(Squared):
    """A loss of the caller's own that pushes near pairs apart."""


MISTAKES = [
    ({"epsilon": 0}, "epsilon must be a number above 0"),
    ({"epsilon": math.nan}, "epsilon must be a number above 0"),
    ({"epsilon": "1"}, "epsilon must be a number above 0"),
    ({"epsilon": 1e17}, "epsilon is so large"),
    ({"delta": 1.5}, r"delta must be a number in \[0, 1\)"),
    ({"delta": "small"}, r"delta must be a number in \[0, 1\) or 'auto'"),
    ({"bounds": None}, r"bounds is required: .* Bounds\(norm=...\)"),
    ({"bounds": (0, 1)}, "bounds is required"),
    ({"bounds": Bounds(low=[0.0, 0.0], high=1.0)}, "bounds names 2 features but X has 4"),
    ({"loss": "cosine"}, "loss must be one of 'logistic'"),
    ({"loss": 3}, "loss must be one of 'logistic'"),
    ({"loss": "squared"}, "loss='squared' does not suit a metric.* use 'logistic', 'hinge' or 'smoothed-hinge'"),
    ({"loss": Lopsided()}, "loss='squared' does not suit a metric"),
    ({"loss": Hinge(2.0), "delta": 0.0, "algorithm": "gd-output"}, "loss='hinge' has a kink"),
    ({"loss": "hinge", "algorithm": "gd-output"}, "loss='hinge' has a kink.* or algorithm='noisy-gd'"),
    ({"loss": "hinge", "algorithm": "epoch-gd"}, "loss='hinge' has a kink"),
    ({"loss": "hinge", "algorithm": "online-output", "epsilon": math.inf}, "loss='hinge' has a kink"),
    ({"algorithm": "noisy-gd", "delta": 0}, "delta=0 does not suit noisy-gd.* set delta above 0"),
    ({"algorithm": "magic"}, "algorithm must be one of 'auto', 'directions', 'gd-output'"),
    ({"algorithm": "output-perturbation"}, "algorithm must be one of 'auto', 'directions', 'gd-output'"),
    ({"algorithm": OutputPerturbation()}, "algorithm must be one of 'auto', 'directions', 'gd-output'"),
    ({"algorithm": None}, "algorithm must be one of 'auto', 'directions', 'gd-output'"),
    ({"algorithm": GDOutput(noise="gaussian"), "delta": 0}, "noise='gaussian' cannot give delta = 0"),
    ({"algorithm": GDOutput(step_size=100.0)}, "step_size=100 is too long"),
    ({"constraint": "nuclear"}, "constraint must be 'frobenius' or 'trace'; got 'nuclear'"),
    ({"constraint": ["trace"]}, "constraint must be 'frobenius' or 'trace'"),
    ({"radius": 0}, "radius must be a number above 0, from 1e-9 to 1e9; got 0"),
    ({"radius": None}, "radius must be a number above 0, from 1e-9 to 1e9; got None"),
    ({"radius": math.inf}, "radius must be a number above 0"),
    ({"radius": "wide"}, "radius must be a number above 0"),
    ({"offset": -1.0}, "offset must be a number from 0 to 1e9"),
    ({"offset": "far"}, "offset must be a number from 0 to 1e9"),
    ({"offset": math.nan}, "offset must be a number from 0 to 1e9"),
    ({"offset": None}, "offset must be a number from 0 to 1e9"),
    ({"regularization": -1}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": "best"}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": 1j}, "regularization must be a number of at least 0, or 'auto'"),
    ({"regularization": 1e-300}, "regularization must be 0, or between 1e-9 and 1e9"),
    ({"regularization": 1e-300, "epsilon": math.inf}, "regularization must be 0, or between 1e-9 and 1e9"),
    ({"n_components": 0}, "n_components must be a whole number of at least 1, or None"),
    ({"n_components": 2.0}, "n_components must be a whole number of at least 1, or None"),
    ({"n_components": True}, "n_components must be a whole number of at least 1, or None"),
    ({"n_components": "all"}, "n_components must be a whole number of at least 1, or None"),
    ({"n_components": 5}, "n_components=5 is more than the 4 features of X; lower it"),
    ({"adjacency": "add"}, "adjacency must be one of 'replace'"),
    ({"adjacency": None}, "adjacency must be one of 'replace'"),
    ({"constants": "sharp"}, "constants must be one of 'defended', 'paper'"),
    ({"constants": "sharp", "epsilon": math.inf}, "constants must be one of 'defended', 'paper'"),
    ({"constants": "paper", "adjacency": "replace-within-class"}, "needs the paper's own setting: adjacency='replace'"),
    ({"constants": "paper", "algorithm": "online-output"}, "rebuilt from descriptions; use 'defended'"),
    ({"random_state": "seed"}, "random_state must be None"),
    ({"random_state": -1}, "random_state must be None"),
    ({"classes": (0, 0)}, "classes must hold two or more different labels"),
    ({"classes": (0,)}, "classes must hold two or more different labels"),
    ({"classes": "ab"}, "classes must hold two or more different labels"),
    ({"classes": (None, 1)}, "classes must hold two or more different labels"),
    ({"classes": [[0], [1, 2]]}, "classes must hold two or more different labels"),
    ({"classes": (0, 1)}, "y holds a label that is not in classes; drop such records or correct classes"),
    ({"classes": ("a", "b")}, "y holds a label that is not in classes"),
]
NEED_THE_TABLE = ("X has 4", "y holds", "so large", "too long", "features of X")


def test_settings_are_refused_before_the_table_is_read(data) -> None:
    """A table that is refused too must not come first: its refusal would say something about it."""
    X, y = data
    spoilt = X.copy()
    spoilt[0, 0] = np.nan
    for settings, message in MISTAKES:
        if any(text in message for text in NEED_THE_TABLE):
            continue
        with pytest.raises(ValueError, match=message):
            MetricLearner(**{"bounds": BALL, **settings}).fit(spoilt, y)


@pytest.mark.parametrize(("settings", "message"), MISTAKES, ids=lambda value: str(value)[:50])
def test_mistaken_settings_get_one_clear_sentence_and_leave_nothing_behind(data, settings, message) -> None:
    X, y = data
    learner = MetricLearner(**{"bounds": BALL, **settings})
    before = set(vars(learner))
    with pytest.raises(ValueError, match=message) as refusal:
        learner.fit(X, y)
    assert len(str(refusal.value)) < 300
    assert str(refusal.value).endswith((".", "'", "]", ")"))
    assert set(vars(learner)) == before


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X), y), "X contains NaN or infinity"),
        (lambda X, y: (pd.DataFrame(X).astype(object).where(X != X[0, 0], "secret diagnosis"), y), "X must hold numb"),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 3, np.nan, y)), "y contains NaN"),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 3, None, y)), "y contains missing labels"),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 3, "secret diagnosis", y.astype(object))), "y must hold cl"),
        (lambda X, y: (X, np.where(y == 0, b"secret", b"b")), "y must hold classes"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y + SECRET / 1e9), "y must hold classes"),
        (lambda X, y: (X[:1], y[:1]), "n_samples=1 is too few: X needs at least 2 records"),
        (lambda X, y: (X[:0], y[:0]), "Found array with 0 sample"),
        (lambda X, y: (X[0], y), "X must have two dimensions"),
        (lambda X, y: (X, None), "requires y to be passed"),
        (lambda X, y: (X + 0j, y), "Complex data not supported"),
        (lambda X, y: (X[:, :, None], y), "X must have two dimensions"),
        (lambda X, y: (np.ma.masked_greater(X, 2.0), y), "X has a mask"),
        (lambda X, y: (X, np.c_[y, y]), "y should be a 1d array"),
    ],
)
def test_mistaken_tables_get_a_clear_sentence_that_tells_no_private_value(data, spoil, message) -> None:
    X, y = data
    X = X.copy()
    X[0, 0] = SECRET
    learner = MetricLearner(bounds=BALL)
    bad_X, bad_y = spoil(X, y)
    with pytest.raises(ValueError, match=message) as refusal:
        learner.fit(bad_X, bad_y)
    text = "".join(str(error) for error in (refusal.value, refusal.value.__cause__) if error is not None)
    assert "secret" not in text
    assert "123" not in text
    assert not any(name.endswith("_") for name in vars(learner))


def test_a_stranger_among_the_labels_is_not_named(data) -> None:
    X, y = data
    labels = np.array(["a", "b", "rare disease"])[y]
    with pytest.raises(ValueError, match="y holds a label that is not in classes") as refusal:
        MetricLearner(bounds=BALL, classes=("a", "b", "c")).fit(X, labels)
    assert "rare" not in str(refusal.value)


def test_a_failed_fit_leaves_the_last_one_whole(data) -> None:
    X, y = data
    learner = MetricLearner(bounds=BALL, n_components=3).fit(X, y)
    before = learner.transform(X)
    with pytest.raises(ValueError, match="n_components=3 is more than the 2 features"):
        learner.fit(X[:, :2], y)
    np.testing.assert_array_equal(learner.transform(X), before)
    assert learner.n_features_in_ == 4


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (np.zeros((5, 4)), r"pairs must have shape \(n_pairs, 2, n_features\)"),
        (np.zeros((5, 3, 4)), "pairs must have shape"),
        (np.zeros((5, 2, 3)), "pairs has 3 features, but MetricLearner is expecting 4"),
        ([[[1.0], [2.0, 3.0]]], "pairs must have shape"),
        (None, "pairs must have shape"),
        (np.zeros((0, 2, 4)), "Found array with 0 sample"),
        (np.full((5, 2, 4), np.nan), "pairs contains NaN"),
        (np.full((5, 2, 4), "secret"), "pairs must hold numbers only"),
        (np.ma.masked_equal(np.zeros((5, 2, 4)), 0.0), "pairs has a mask"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_mistaken_pairs_get_a_clear_sentence(data, pairs, message) -> None:
    X, y = data
    learner = MetricLearner(bounds=BALL).fit(X, y)
    for method in (learner.pair_distance, learner.pair_score):
        with pytest.raises(ValueError, match=message) as refusal:
            method(pairs)
        assert "secret" not in str(refusal.value)


def test_both_estimators_refuse_a_setting_in_the_same_words(data) -> None:
    X, y = data
    for settings in ({"delta": "x"}, {"bounds": 3}, {"regularization": -1}, {"epsilon": -1}, {"random_state": "a"}):
        texts = []
        for kind in (AUCClassifier, MetricLearner):
            with pytest.raises(ValueError, match="must be|is required") as refusal:
                kind(**{"bounds": BALL, **settings}).fit(X, y > 0)
            texts.append(str(refusal.value))
        assert texts[0] == texts[1]


GOLDEN = """\
This release (the matrix of a Mahalanobis metric) is approximate differentially private with epsilon = 1 and \
delta = 0.0001: whatever one concludes from it, one would conclude with nearly the same probability if one record is \
replaced by any other, its label included; the number of records is public, labels are private.
Mechanism: Euclidean metric stretched along directions of a ranking: 3 steps of gradient descent with Gaussian noise.
Noise: Gaussian noise of scale 0.1579 hides a change of at most 0.04957 (Euclidean norm) in the gradients of all \
3 steps together.
Accounting: exact Gaussian profile (Balle and Wang 2018), checked on the safe side. Sampler: exact discrete Gaussian \
on a lattice (Canonne, Kamath and Steinke 2020).
It assumes that every value in the table is finite (a table that is not is refused); that the bounds of the features \
were fixed without looking at the table; that each row was made from its own record alone (by no scaler, imputer or \
selector fitted on the table); that the set of classes, read off the labels, is public (pass classes= to state it).
The noise came from a seed: the release is reproducible and therefore NOT private. Use it for experiments only."""
