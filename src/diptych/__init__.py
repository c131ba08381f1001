"""diptych: differentially private learning from pairs.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AUCClassifier": "diptych.estimators",
    "Absolute": "diptych.losses",
    "Adjacency": "diptych.spec",
    "Bounds": "diptych.spec",
    "Budget": "diptych.spec",
    "DPSGD": "diptych.algorithms",
    "Directions": "diptych.algorithms",
    "EpochGD": "diptych.algorithms",
    "GDOutput": "diptych.algorithms",
    "GLMClassifier": "diptych.estimators",
    "GLMRegressor": "diptych.estimators",
    "Guarantee": "diptych.spec",
    "Hinge": "diptych.losses",
    "Huber": "diptych.losses",
    "JL": "diptych.algorithms",
    "Logistic": "diptych.losses",
    "MetricLearner": "diptych.estimators",
    "NoisyGD": "diptych.algorithms",
    "ObjectivePerturbation": "diptych.algorithms",
    "OnlineOutput": "diptych.algorithms",
    "OutputPerturbation": "diptych.algorithms",
    "PrivateGridSearch": "diptych.estimators",
    "QNorm": "diptych.losses",
    "QNormHinge": "diptych.losses",
    "SGDOutput": "diptych.algorithms",
    "SmoothedHinge": "diptych.losses",
    "Squared": "diptych.losses",
    "SquaredError": "diptych.losses",
    "SquaredHinge": "diptych.losses",
    "load_model": "diptych.estimators.persistence",
    "save_model": "diptych.estimators.persistence",
}

__all__ = [
    "DPSGD",
    "JL",
    "AUCClassifier",
    "Absolute",
    "Adjacency",
    "Bounds",
    "Budget",
    "Directions",
    "EpochGD",
    "GDOutput",
    "GLMClassifier",
    "GLMRegressor",
    "Guarantee",
    "Hinge",
    "Huber",
    "Logistic",
    "MetricLearner",
    "NoisyGD",
    "ObjectivePerturbation",
    "OnlineOutput",
    "OutputPerturbation",
    "PrivateGridSearch",
    "QNorm",
    "QNormHinge",
    "SGDOutput",
    "SmoothedHinge",
    "Squared",
    "SquaredError",
    "SquaredHinge",
    "__version__",
    "load_model",
    "save_model",
]

if TYPE_CHECKING:
    from diptych.algorithms import (
        DPSGD,
        JL,
        Directions,
        EpochGD,
        GDOutput,
        NoisyGD,
        ObjectivePerturbation,
        OnlineOutput,
        OutputPerturbation,
        SGDOutput,
    )
    from diptych.estimators import AUCClassifier, GLMClassifier, GLMRegressor, MetricLearner, PrivateGridSearch
    from diptych.estimators.persistence import load_model, save_model
    from diptych.losses import (
        Absolute,
        Hinge,
        Huber,
        Logistic,
        QNorm,
        QNormHinge,
        SmoothedHinge,
        Squared,
        SquaredError,
        SquaredHinge,
    )
    from diptych.spec import Adjacency, Bounds, Budget, Guarantee


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'diptych' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
