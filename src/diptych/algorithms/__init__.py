"""Private algorithms: each asks a certificate for sensitivity and the accountant for noise, runs, perturbs."""

from diptych.algorithms.base import Algorithm, Release, UnsuitableError
from diptych.algorithms.choose import ALGORITHMS, algorithms_named, choose, choose_regularization, suitable
from diptych.algorithms.objective_perturbation import ObjectivePerturbation
from diptych.algorithms.output_perturbation import OutputPerturbation
from diptych.algorithms.private_auc import PrivateScore, private_auc

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PrivateScore",
    "Release",
    "UnsuitableError",
    "algorithms_named",
    "choose",
    "choose_regularization",
    "private_auc",
    "suitable",
]
