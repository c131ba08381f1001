"""From a budget and a sensitivity to noise that is certainly enough. It knows nothing of algorithms."""

from diptych.accounting.gaussian import compose, gaussian_delta, gaussian_mu
from diptych.accounting.plan import NOISES, NoisePlan, plan_noise

__all__ = ["NOISES", "NoisePlan", "compose", "gaussian_delta", "gaussian_mu", "plan_noise"]
