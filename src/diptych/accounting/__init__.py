"""From a budget and a sensitivity to noise that is certainly enough. It knows nothing of algorithms."""

from diptych.accounting.gaussian import compose, gaussian_delta, gaussian_mu
from diptych.accounting.plan import NOISES, NoisePlan, plan_laplace, plan_noise
from diptych.accounting.tilt import plan_tilt, tilt_delta, tilt_mu

__all__ = [
    "NOISES",
    "NoisePlan",
    "compose",
    "gaussian_delta",
    "gaussian_mu",
    "plan_laplace",
    "plan_noise",
    "plan_tilt",
    "tilt_delta",
    "tilt_mu",
]
