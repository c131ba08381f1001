"""Noise inside a minimisation: the plan of a random linear term b.w, from what it spends.

A Gaussian b spends more than in a release of a sum, because b is compared at one minimiser w: how much is the matter of
``profiles.py``. Laplace laws: ``docs/theory/objective-perturbation.md``, Theorem 1; the lattice: Lemma 6 there.
"""

from __future__ import annotations

import math
from functools import partial

from diptych.accounting.gaussian import largest_mu
from diptych.accounting.plan import NoisePlan, Planner, lattice_slack, norm_laplace_plan, pick_noise
from diptych.accounting.profiles import Profile
from diptych.noise import RESOLUTION, Lattice
from diptych.spec import Budget

ROUNDING = 1e-9  # relative error granted to the computed delta


def tilt_mu(epsilon: float, delta: float, profile: Profile) -> float:
    """Return the largest mu whose delta, by that profile, is surely within ``delta``."""
    return largest_mu(epsilon, delta, lambda mu: (1.0 + ROUNDING) * profile.delta(mu, epsilon) <= delta)


def plan_tilt(
    budget: Budget, sensitivity: float, dimension: int, noise: str = "auto", *, profile: Profile
) -> NoisePlan:
    """Plan a random linear term for a risk whose gradient at one w moves by at most ``sensitivity``.

    ``profile`` says what a Gaussian term spends. The laws, and ``auto``, are those of ``plan_noise``; rounding the
    term to the lattice is left to whoever bounds the solver's error.
    """
    planners: dict[str, Planner] = {
        "gaussian": partial(_gaussian, profile=profile),
        "laplace": _laplace,
        "norm-laplace": norm_laplace_plan,
    }
    return pick_noise(planners, budget, sensitivity, dimension, noise)


def _gaussian(budget: Budget, sensitivity: float, dimension: int, *, profile: Profile) -> NoisePlan:
    """Sigma = s/mu with mu from ``tilt_mu``, for the budget less the slack of the lattice (Lemma 6)."""
    eta, eta_back = lattice_slack(dimension, math.sqrt(2.0 * budget.epsilon), 2 ** (RESOLUTION - 1))
    epsilon = budget.epsilon - eta - eta_back
    if epsilon <= 0:
        raise ValueError(f"epsilon={budget.epsilon!r} is too small for Gaussian noise in {dimension} dimensions.")
    mu = tilt_mu(epsilon, budget.delta * math.exp(-eta) * (1.0 - 1e-12), profile)
    lattice = Lattice.for_scale(sensitivity / mu)
    return NoisePlan(
        noise="gaussian",
        norm="Euclidean norm",
        sensitivity=sensitivity,
        scale=lattice.steps(sensitivity / mu) * lattice.step,
        dimension=dimension,
        lattice=lattice,
        accountant="privacy profile of a Gaussian tilt, bounded over all minimisers",
        sampler="exact discrete Gaussian on a lattice (Canonne, Kamath and Steinke 2020)",
        assumptions=(),
    )


def _laplace(budget: Budget, sensitivity: float, dimension: int) -> NoisePlan:
    """B = sqrt(d) s/epsilon, for the budget less d (1/(2 m) + 1/(8 m^2)), m steps a scale (Lemma 6)."""
    steps = 2.0 ** (RESOLUTION - 1)
    epsilon = budget.epsilon - dimension * (0.5 / steps + 0.125 / steps**2)
    if epsilon <= 0:
        raise ValueError(f"epsilon={budget.epsilon!r} is too small for Laplace noise in {dimension} dimensions.")
    wide = math.sqrt(dimension) * sensitivity
    lattice = Lattice.for_scale(wide / epsilon)
    return NoisePlan(
        noise="laplace",
        norm="L1 norm",
        sensitivity=wide,
        scale=lattice.steps(wide / epsilon) * lattice.step,
        dimension=dimension,
        lattice=lattice,
        accountant="pure: the ratio of densities is at most exp(sensitivity/scale)",
        sampler="exact discrete Laplace on a lattice (Canonne, Kamath and Steinke 2020)",
        assumptions=(),
    )
