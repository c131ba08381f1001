"""What a model file holds: a fitted model as plain fields, and back again with every field checked.

Refusals name a field; ``persistence.py`` says of which file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

import diptych
from diptych.algorithms.choose import ALGORITHMS
from diptych.estimators.ranking import AUCClassifier
from diptych.losses import LOSSES, loss_named
from diptych.spec import Adjacency, Bounds, Budget, Guarantee

FORMAT, VERSION, KIND = "diptych-model", 1, "AUCClassifier"
LABELS = (bool, int, str, float)
Plain = dict[str, Any]
Registry = Mapping[str, type[Any]]


def to_fields(model: AUCClassifier) -> Plain:
    """Return a fitted model as values that JSON can hold."""
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "diptych": diptych.__version__,
        "kind": KIND,
        "settings": _settings(model),
        "coef": [float(value) for value in model.coef_[0]],
        "intercept": float(model.intercept_[0]),
        "classes": _labels(model.classes_),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "guarantee": model.guarantee_.to_dict(),
    }


def from_fields(document: Any) -> AUCClassifier:
    """Return the model of such fields, or say which one is missing or wrong."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}; give a file that diptych wrote.")
    version = _take(document, "version", int)
    if version > VERSION:
        raise ValueError(f"its version is {version} and this diptych reads {VERSION}; install a newer diptych.")
    if version != VERSION or document.get("kind") != KIND:
        raise ValueError(f"it must be of version {VERSION} and of kind {KIND!r}; write it anew with save_model.")
    return _model(document)


def _settings(model: AUCClassifier) -> Plain:
    algorithm, bounds = model.algorithm, model.bounds
    assert isinstance(bounds, Bounds)
    return {
        "epsilon": float(model.epsilon) if math.isfinite(model.epsilon) else "inf",
        "delta": model.delta if isinstance(model.delta, str) else float(model.delta),
        "algorithm": algorithm if isinstance(algorithm, str) else _described(algorithm, ALGORITHMS, "algorithm"),
        "loss": _described(loss_named(model.loss), LOSSES, "loss"),
        "regularization": model.regularization if model.regularization == "auto" else float(model.regularization),
        "radius": None if model.radius is None else float(model.radius),
        "adjacency": str(Adjacency.parse(model.adjacency)),
        "bounds": {name: value for name, value in asdict(bounds).items() if value is not None},
        "classes": None if model.classes is None else _labels(model.classes_),
        "threshold": model.threshold,
        "constants": model.constants,
    }


def _described(thing: Any, known: Registry, field: str) -> Plain:
    if type(thing) is not known.get(thing.name):
        raise ValueError(f"{field} must be one of diptych's own to be saved: a model file holds no code.")
    settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(thing).items()}
    return {"name": thing.name, **settings}


def _labels(classes: NDArray[Any]) -> list[Any]:
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if not all(type(label) in LABELS for label in labels):
        raise ValueError("classes must be texts, numbers or truth values to be saved; fit with such labels.")
    return labels


def _model(document: Plain) -> AUCClassifier:
    model = AUCClassifier(**_parameters(_take(document, "settings", dict)))
    coef, n = _numbers(document, "coef"), _take(document, "n_features", int)
    names, stated = _take(document, "feature_names", list, None), model.bounds.features if model.bounds else None
    if not len(coef) == n > 0 or (names is not None and len(names) != n) or stated not in (None, n):
        raise ValueError("coef, n_features, feature_names and bounds must speak of as many features.")
    if names is not None:
        if not all(isinstance(name, str) for name in names):
            raise ValueError("the field 'feature_names' must hold texts.")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.coef_, model.n_features_in_ = np.array([coef]), n
    model.intercept_ = np.array([_number(document, "intercept")])
    model.classes_ = np.array(_pair(document, "classes"))
    model.guarantee_ = Guarantee.from_dict(_take(document, "guarantee", dict))
    return model


def _parameters(settings: Plain) -> Plain:
    delta = _take(settings, "delta", str, int, float)
    lam = _take(settings, "regularization", str, int, float)
    budget = Budget(_number(settings, "epsilon"), 0.0 if delta == "auto" else _number(settings, "delta"))
    return {
        "epsilon": budget.epsilon,
        "delta": "auto" if delta == "auto" else budget.delta,
        "algorithm": _rebuilt(_take(settings, "algorithm", str, dict), ALGORITHMS, "algorithm"),
        "loss": _rebuilt(_take(settings, "loss", dict), LOSSES, "loss"),
        "regularization": "auto" if lam == "auto" else _number(settings, "regularization"),
        "radius": None if _take(settings, "radius", int, float, None) is None else _number(settings, "radius"),
        "adjacency": str(Adjacency.parse(_take(settings, "adjacency", str))),
        "bounds": _bounds(_take(settings, "bounds", dict)),
        "classes": None if _take(settings, "classes", list, None) is None else tuple(_pair(settings, "classes")),
        "threshold": _take(settings, "threshold", str),
        "constants": _take(settings, "constants", str),
    }


def _bounds(fields: Plain) -> Bounds:
    if not set(fields) <= {"norm", "low", "high"}:
        raise ValueError("the field 'bounds' must hold either norm, or low and high.")
    return Bounds(**{name: _numbers(fields, name) if name != "norm" else _number(fields, name) for name in fields})


def _rebuilt(fields: str | Plain, known: Registry, field: str) -> Any:
    rest = dict(fields) if isinstance(fields, dict) else {"name": fields}
    name = _take(rest, "name", str)
    if name == fields == "auto" and known is ALGORITHMS:
        return name
    if name not in known:
        raise ValueError(f"the {field} {name!r} is unknown to this version of diptych.")
    del rest["name"]
    try:
        thing = known[name](**rest)
    except TypeError:
        raise ValueError(f"the field {field!r} holds a setting that this version of diptych does not know.") from None
    return name if isinstance(fields, str) else thing


def _take(fields: Mapping[str, Any], name: str, *kinds: type | None) -> Any:
    if name not in fields:
        raise ValueError(f"the field {name!r} is missing.")
    value = fields[name]
    if (type(value) if value is not None else None) not in kinds:
        raise ValueError(f"the field {name!r} is of the wrong type.")
    return value


def _number(fields: Mapping[str, Any], name: str) -> float:
    value = _take(fields, name, int, float, str)
    if name == "epsilon" and value == "inf":
        return math.inf
    if isinstance(value, str) or not math.isfinite(value):
        raise ValueError(f"the field {name!r} must be a finite number.")
    return float(value)


def _numbers(fields: Mapping[str, Any], name: str) -> Any:
    values = _take(fields, name, list, *(() if name == "coef" else (int, float)))
    if not isinstance(values, list):
        return _number(fields, name)
    if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        raise ValueError(f"the field {name!r} must hold finite numbers.")
    return [float(value) for value in values]


def _pair(fields: Mapping[str, Any], name: str) -> list[Any]:
    labels: list[Any] = _take(fields, name, list)
    kinds = {type(label) for label in labels}
    if len(labels) != 2 or len(kinds) != 1 or not kinds <= set(LABELS) or not labels[0] < labels[1]:
        raise ValueError(f"the field {name!r} must hold two labels of one type, in sorted order.")
    return labels
