"""From a budget and a sensitivity to noise that is certainly enough. It knows nothing of algorithms."""

from diptych.accounting.gaussian import compose, gaussian_delta, gaussian_mu
from diptych.accounting.losses_on_grid import sampled_sigma
from diptych.accounting.plan import NOISES, NoisePlan, plan_laplace, plan_noise
from diptych.accounting.profiles import OfExchange, OfPairs, OfRecord, Profile
from diptych.accounting.sampled import SampledQuery
from diptych.accounting.steps import StepNoise, is_enough, needed_scale, plan_steps
from diptych.accounting.tilt import plan_tilt, tilt_mu

__all__ = [
    "NOISES",
    "NoisePlan",
    "OfExchange",
    "OfPairs",
    "OfRecord",
    "Profile",
    "SampledQuery",
    "StepNoise",
    "compose",
    "gaussian_delta",
    "gaussian_mu",
    "is_enough",
    "needed_scale",
    "plan_laplace",
    "plan_noise",
    "plan_steps",
    "plan_tilt",
    "sampled_sigma",
    "tilt_mu",
]
