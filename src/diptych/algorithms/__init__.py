"""Private algorithms: each asks a certificate for sensitivity and the accountant for noise, runs, perturbs."""

from diptych.algorithms.base import Release, UnsuitableError
from diptych.algorithms.choose import ALGORITHMS, algorithm_named, choose_regularization
from diptych.algorithms.output_perturbation import OutputPerturbation

__all__ = [
    "ALGORITHMS",
    "OutputPerturbation",
    "Release",
    "UnsuitableError",
    "algorithm_named",
    "choose_regularization",
]
