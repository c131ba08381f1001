"""Noise inside a minimisation: what a random linear term b.w spends, where b is compared at one minimiser w.

The two values of b that lead to w on neighbouring tables differ by a vector of norm at most s that *depends on w*,
hence on b; so a Gaussian b spends more than in a release of a sum. How much:
``docs/theory/objective-perturbation.md``, Lemmas 3 to 5. The Jacobian's share of the budget is not counted here.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from diptych.accounting.gaussian import largest_mu
from diptych.accounting.plan import NoisePlan, Planner, lattice_slack, norm_laplace_plan, pick_noise
from diptych.noise import RESOLUTION, Lattice
from diptych.spec import Budget

Array = NDArray[np.float64]

ROUNDING = 1e-9  # relative error granted to the computed delta
STEEPEST = np.linspace(0.0, 6.0, 601)  # u of Lemma 3: every choice is sound, the best is taken


def tilt_delta(mu: float, epsilon: float, *, one_signed: bool) -> float:
    """Return a delta for which a Gaussian tilt with sensitivity/sigma = mu is (epsilon, delta)-private (Lemma 3).

    min over u of mu e^-u E(M - a)_+, a = (epsilon + 1 + u - e^u)/mu - mu/2. With a slope of one sign E(M - a)_+ is at
    most 2 g(1) + g(1/2) from a = 1 on and 3 g(1) below, g(s) = E(s Z - a)_+ for a standard Gaussian Z (Lemma 5);
    else sqrt(2 pi) Phi(-a) (Lemma 4).
    """
    from scipy.special import ndtr

    a = (epsilon - (np.expm1(STEEPEST) - STEEPEST)) / mu - 0.5 * mu  # so written, no digit of a tiny epsilon is lost
    slope = (mu * np.exp(-STEEPEST))[a > 0.0]
    a = a[a > 0.0]
    if a.size == 0:
        return 1.0
    if one_signed:
        excess = 2.0 * _excess(1.0, a) + np.where(a >= 1.0, _excess(0.5, a), _excess(1.0, a))
    else:
        excess = math.sqrt(2.0 * math.pi) * ndtr(-a)
    return min(1.0, float((slope * excess).min()))


def _excess(scale: float, a: Array) -> Array:
    """E(scale Z - a)_+ for a standard Gaussian Z."""
    from scipy.special import ndtr

    z = a / scale
    return np.asarray(scale / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * z * z) - a * ndtr(-z))


def tilt_mu(epsilon: float, delta: float, *, one_signed: bool) -> float:
    """Return the largest mu whose ``tilt_delta`` is surely within ``delta``."""
    return largest_mu(
        epsilon, delta, lambda mu: (1.0 + ROUNDING) * tilt_delta(mu, epsilon, one_signed=one_signed) <= delta
    )


def plan_tilt(
    budget: Budget, sensitivity: float, dimension: int, noise: str = "auto", *, one_signed: bool
) -> NoisePlan:
    """Plan a random linear term for a risk whose gradient at one w moves by at most ``sensitivity``.

    ``one_signed`` says that the slope of the pair loss keeps its sign. The laws, and ``auto``, are those of
    ``plan_noise``; rounding the term to the lattice is left to whoever bounds the solver's error.
    """
    planners: dict[str, Planner] = {
        "gaussian": partial(_gaussian, one_signed=one_signed),
        "laplace": _laplace,
        "norm-laplace": norm_laplace_plan,
    }
    return pick_noise(planners, budget, sensitivity, dimension, noise)


def _gaussian(budget: Budget, sensitivity: float, dimension: int, *, one_signed: bool) -> NoisePlan:
    """Sigma = s/mu with mu from ``tilt_mu``, for the budget less the slack of the lattice (Lemma 6)."""
    eta, eta_back = lattice_slack(dimension, math.sqrt(2.0 * budget.epsilon), 2 ** (RESOLUTION - 1))
    epsilon = budget.epsilon - eta - eta_back
    if epsilon <= 0:
        raise ValueError(f"epsilon={budget.epsilon!r} is too small for Gaussian noise in {dimension} dimensions.")
    mu = tilt_mu(epsilon, budget.delta * math.exp(-eta) * (1.0 - 1e-12), one_signed=one_signed)
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
