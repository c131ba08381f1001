"""Model files: exact round trips, one sentence for whatever is wrong, nothing half-written."""

from __future__ import annotations

import copy
import json
import math
import os
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from diptych import (
    AUCClassifier,
    Bounds,
    Logistic,
    ObjectivePerturbation,
    OutputPerturbation,
    SmoothedHinge,
    load_model,
    save_model,
)
from diptych.estimators.model_fields import from_fields, to_fields
from diptych.estimators.persistence import whole_file

BALL = Bounds(norm=4.0)
NAMES = ["age", "Größe", "dose"]


def table(labels=("healthy", "ill"), seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(200) < 0.5
    X = rng.normal(size=(200, 3)) + positive[:, None]
    return X, np.array(labels)[positive.astype(int)]


def fitted(labels=("healthy", "ill"), **settings):
    X, y = table(labels)
    return AUCClassifier(**{"bounds": BALL, "classes": labels, "random_state": 0, **settings}).fit(X, y)


DOCUMENT = to_fields(fitted())

SETTINGS = [
    {},
    {"epsilon": math.inf},
    {"epsilon": np.float64(0.5), "delta": 0, "regularization": np.float32(0.25)},
    {"delta": 1e-4, "loss": "squared-hinge", "radius": 2},
    {"loss": SmoothedHinge(margin=1, temperature=0.5), "algorithm": OutputPerturbation("laplace")},
    {"loss": Logistic(margin=np.float64(1.0)), "algorithm": ObjectivePerturbation()},
    {"algorithm": "output-perturbation", "adjacency": "replace-within-class", "constants": "paper"},
    {"bounds": Bounds(low=-4, high=[4.0, 5.0, 6.0])},
    {"bounds": Bounds(low=-4, high=4)},
    {"classes": None, "random_state": None},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_round_trip(tmp_path, settings) -> None:
    model = fitted(**settings)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    X, y = table()
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.score(X, y) == model.score(X, y)
    assert loaded.guarantee_ == model.guarantee_
    assert str(loaded.guarantee_) == str(model.guarantee_)
    assert loaded.n_features_in_ == 3
    assert loaded.random_state is None
    before, after = model.get_params(), loaded.get_params()
    for name in set(before) - {"loss", "random_state", "classes"}:
        assert after[name] == before[name], name
    assert to_fields(loaded) == to_fields(model)  # the loss, too, with its margin and temperature


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(("no", "yes"), None), (("no", "yes"), object)]
    + [(labels, None) for labels in ((0, 1), (-7, 2**40), (False, True), (0.0, 1.0))],
)
def test_classes_keep_their_type(tmp_path, labels, kind) -> None:
    X, y = table(labels)
    model = AUCClassifier(bounds=BALL, random_state=0).fit(X, np.array(y, dtype=kind) if kind else y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in labels]
    np.testing.assert_array_equal(loaded.classes_, labels)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_feature_names_are_kept_and_checked(tmp_path) -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=NAMES)
    model = AUCClassifier(bounds=BALL).fit(frame, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert list(loaded.feature_names_in_) == NAMES
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[NAMES[::-1]])


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=3, max_size=3), finite, st.lists(st.text(), min_size=3, max_size=3))
def test_every_finite_number_and_every_name_survives(tmp_path_factory, coef, intercept, names) -> None:
    model = copy.copy(from_fields(DOCUMENT))
    model.coef_, model.intercept_ = np.array([coef]), np.array([intercept])
    model.feature_names_in_ = np.array(names, dtype=object)
    path = tmp_path_factory.mktemp("models") / "m"
    save_model(model, path)
    loaded = load_model(path)
    assert loaded.coef_.tobytes() == model.coef_.tobytes()
    assert loaded.intercept_.tobytes() == model.intercept_.tobytes()
    assert list(loaded.feature_names_in_) == names


def test_the_file_holds_no_seed_and_no_code(tmp_path) -> None:
    save_model(fitted(random_state=987654321), tmp_path / "m")
    text = (tmp_path / "m").read_text()
    assert "987654321" not in text
    document = json.loads(text)
    assert document["guarantee"]["seeded"] is True
    assert (document["format"], document["version"], document["kind"]) == ("diptych-model", 1, "AUCClassifier")


# Refusals -----------------------------------------------------------------------------------------


def changed(path: str, value: object) -> dict:
    """Return the document with one field replaced, or removed if the value is the ellipsis."""
    document = json.loads(json.dumps(DOCUMENT))
    *folders, name = path.split(".")
    place = document
    for folder in folders:
        place = place[int(folder) if folder.isdigit() else folder]
    if value is ...:
        del place[name]
    else:
        place[name] = value
    return document


def every_field(fields: dict = DOCUMENT, prefix: str = "") -> list[str]:
    return [
        path
        for name, value in fields.items()
        for path in (f"{prefix}{name}", *(every_field(value, f"{prefix}{name}.") if isinstance(value, dict) else ()))
    ]


WRONG = [
    ("format", "pickle", "its format is not 'diptych-model'"),
    ("version", 2, "its version is 2 and this diptych reads 1; install a newer diptych"),
    ("version", 0, "must be of version 1"),
    ("version", True, "the field 'version' is of the wrong type"),
    ("version", "1", "the field 'version' is of the wrong type"),
    ("kind", "MetricLearner", "of kind 'AUCClassifier'"),
    ("coef", "abc", "the field 'coef' is of the wrong type"),
    ("coef", [1.0, "2", 3.0], "the field 'coef' must hold finite numbers"),
    ("coef", [1.0, True, 3.0], "the field 'coef' must hold finite numbers"),
    ("coef", [1.0, 2.0], "as many features"),
    ("coef", [1.0, 2.0, 10**400], "a number in it is too large"),
    ("intercept", None, "the field 'intercept' is of the wrong type"),
    ("intercept", "inf", "the field 'intercept' must be a finite number"),
    ("classes", ["yes", "no"], "in sorted order"),
    ("classes", ["no", 1], "two labels of one type"),
    ("classes", [0, False], "two labels of one type"),
    ("classes", [0, 1, 2], "two labels of one type"),
    ("n_features", 4, "as many features"),
    ("n_features", 3.0, "the field 'n_features' is of the wrong type"),
    ("feature_names", ["a", "b"], "as many features"),
    ("feature_names", ["a", "b", 3], "the field 'feature_names' must hold texts"),
    ("settings.epsilon", 0, "epsilon must be a number above 0"),
    ("settings.epsilon", "1", "the field 'epsilon' must be a finite number"),
    ("settings.delta", 1.5, "delta must be a number in"),
    ("settings.delta", "small", "the field 'delta' must be a finite number"),
    ("settings.loss.name", "cosine", "the loss 'cosine' is unknown"),
    ("settings.loss.margin", -1.0, "margin of the logistic loss must be at least 0"),
    ("settings.loss.slope", 1.0, "the field 'loss' holds a setting"),
    ("settings.algorithm", "magic", "the algorithm 'magic' is unknown"),
    ("settings.algorithm", {"name": "output-perturbation", "noise": "white"}, "noise must be 'auto' or one of"),
    ("settings.adjacency", "add", "adjacency must be one of"),
    ("settings.bounds", {"norm": -1.0}, "norm must be above 0"),
    ("settings.bounds", {"width": 1.0}, "either norm, or low and high"),
    ("settings.bounds", {"low": [0.0, 0.0], "high": [1.0, 1.0]}, "as many features"),
    ("settings.radius", "wide", "the field 'radius' is of the wrong type"),
    ("guarantee.format", 9, "format must be 1"),
    ("guarantee.epsilon", "much", "the field 'epsilon' of Guarantee is of the wrong type"),
    ("guarantee.epsilon", -1, "epsilon must be a number above 0"),
    ("guarantee.seeded", 0, "the field 'seeded' of Guarantee is of the wrong type"),
    ("guarantee.extra", 0, "the field 'extra' of Guarantee is unknown"),
    ("guarantee.events", [1], "Event must be a mapping"),
    ("guarantee.events.0.noise", ..., "the field 'noise' of Event is missing"),
    ("guarantee.assumptions", [1], "must hold texts only"),
]


def refusal(path) -> str:
    with pytest.raises(ValueError, match="cannot be loaded as a model: ") as caught:
        load_model(path)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert caught.value.__cause__ is None
    return text


@pytest.mark.parametrize(("field", "value", "message"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_field_is_refused_by_name(tmp_path, field, value, message) -> None:
    (tmp_path / "m").write_text(json.dumps(changed(field, value)))
    assert re.search(message, refusal(tmp_path / "m"))


@pytest.mark.parametrize("field", [name for name in every_field() if name != "diptych"])
def test_no_field_may_be_missing(tmp_path, field) -> None:
    if field in ("settings.loss.margin", "settings.loss.temperature"):
        pytest.skip("has a default")
    (tmp_path / "m").write_text(json.dumps(changed(field, ...)))
    refusal(tmp_path / "m")


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\xff\xfe\x00", b"[" * 100_000, b"{}", b"[]", b"null", b'{"format": "other"}', b"\x80\x04K\x01."],
    ids=lambda content: repr(content[:12]),
)
def test_what_is_no_model_is_refused(tmp_path, content) -> None:
    (tmp_path / "m").write_bytes(content)
    refusal(tmp_path / "m")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_coefficients_are_finite(tmp_path, number) -> None:
    text = json.dumps(changed("coef", [1.0, 2.0, 12345.0])).replace("12345.0", number)
    (tmp_path / "m").write_text(text)
    refusal(tmp_path / "m")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(every_field()), plain)
def test_any_change_loads_or_is_refused_in_a_sentence(field, value) -> None:
    try:
        model = from_fields(changed(field, value))
    except (ValueError, OverflowError):
        return
    assert np.isfinite(model.coef_).all()
    assert model.predict(np.zeros((2, 3))).shape == (2,)
    assert str(model.guarantee_)


def test_only_fitted_models_of_diptych_are_saved(tmp_path) -> None:
    class Mine(Logistic):
        pass

    with pytest.raises(NotFittedError):
        save_model(AUCClassifier(bounds=BALL), tmp_path / "m")
    with pytest.raises(TypeError, match="model must be a fitted AUCClassifier; got dict"):
        save_model({}, tmp_path / "m")
    with pytest.raises(ValueError, match="loss must be one of diptych's own"):
        save_model(fitted(loss=Mine()), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# Whole or not at all ------------------------------------------------------------------------------


@pytest.mark.parametrize("mishap", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_mishap_leaves_the_old_file_and_no_draft(tmp_path, mishap) -> None:
    (tmp_path / "m").write_text("old")
    with pytest.raises(mishap), whole_file(tmp_path / "m") as file:  # noqa: PT012
        file.write(b"half")
        raise mishap
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m").read_text() == "old"


def test_a_failing_replacement_leaves_no_draft(tmp_path, monkeypatch) -> None:
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        save_model(fitted(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_old_model_stands_until_the_new_one_is_whole(tmp_path, monkeypatch) -> None:
    save_model(fitted(), tmp_path / "m")
    old = (tmp_path / "m").read_text()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        save_model(fitted(random_state=1), tmp_path / "m")
    assert (tmp_path / "m").read_text() == old
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_folder_is_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder .*absent' does not exist; create it first"):
        save_model(fitted(), tmp_path / "absent" / "m")


def test_a_new_file_has_the_usual_permissions(tmp_path) -> None:
    (tmp_path / "usual").write_text("")
    save_model(fitted(), tmp_path / "m")
    assert (tmp_path / "m").stat().st_mode == (tmp_path / "usual").stat().st_mode
