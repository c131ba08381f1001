"""Private algorithms: each asks a certificate for sensitivity and the accountant for noise, runs, perturbs."""

from diptych.algorithms.base import Algorithm, Release, UnsuitableError
from diptych.algorithms.choose import (
    ALGORITHMS,
    DESCENDING,
    EXACT_REGULARIZATION,
    METRICS,
    MINIMISING,
    POINTWISE,
    algorithms_named,
    choose,
    choose_regularization,
    suitable,
)
from diptych.algorithms.directions import Directions
from diptych.algorithms.dp_sgd import DPSGD
from diptych.algorithms.epochs import EpochGD
from diptych.algorithms.exact import exact_release
from diptych.algorithms.noisy_descent import NoisyGD
from diptych.algorithms.objective_perturbation import ObjectivePerturbation
from diptych.algorithms.online import OnlineOutput
from diptych.algorithms.output_descent import GDOutput
from diptych.algorithms.output_perturbation import OutputPerturbation
from diptych.algorithms.private_auc import PrivateScore, private_auc
from diptych.algorithms.projection import JL
from diptych.algorithms.sgd_output import SGDOutput

__all__ = [
    "ALGORITHMS",
    "DESCENDING",
    "DPSGD",
    "EXACT_REGULARIZATION",
    "JL",
    "METRICS",
    "MINIMISING",
    "POINTWISE",
    "Algorithm",
    "Directions",
    "EpochGD",
    "GDOutput",
    "NoisyGD",
    "ObjectivePerturbation",
    "OnlineOutput",
    "OutputPerturbation",
    "PrivateScore",
    "Release",
    "SGDOutput",
    "UnsuitableError",
    "algorithms_named",
    "choose",
    "choose_regularization",
    "exact_release",
    "private_auc",
    "suitable",
]
