"""Noise for one vector: which law, of which scale, on which lattice, so that a budget surely holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.accounting.gaussian import gaussian_mu
from diptych.noise import RESOLUTION, BitSource, Lattice, discrete_gaussian, discrete_laplace, norm_laplace
from diptych.spec import Budget

Array = NDArray[np.float64]

NOISES = ("gaussian", "laplace", "norm-laplace")
LOUDEST = 1e200  # a scale of noise
LARGEST = 2.0**52  # steps; lattice points up to here, and their sums with noise, are exact doubles


@dataclass(frozen=True)
class NoisePlan:
    """A law of noise for one vector, fixed before the vector is known.

    ``sensitivity`` is in ``norm`` and includes rounding to the lattice where the law lives on it;
    ``scale`` is the standard deviation of a Gaussian, the scale of a Laplace law.
    """

    noise: str
    norm: str
    sensitivity: float
    scale: float
    dimension: int
    lattice: Lattice
    accountant: str
    sampler: str
    assumptions: tuple[str, ...]

    @property
    def mean_square(self) -> float:
        """The expected squared norm of the noise."""
        d = self.dimension
        return self.scale**2 * {"gaussian": d, "laplace": 2 * d, "norm-laplace": d * (d + 1)}[self.noise]

    @property
    def farthest(self) -> float:
        """A norm that the noise exceeds with probability below 1e-300."""
        d = self.dimension
        return self.scale * (math.sqrt(d) + 40.0 if self.noise == "gaussian" else 4.0 * d + 800.0)

    def check_range(self, largest: float) -> None:
        """Refuse, before any table is seen, a lattice too fine for vectors of this norm."""
        if largest / self.lattice.step > LARGEST:
            raise ValueError(
                "epsilon is so large that the noise would vanish beside the rounding of the model; "
                "lower it, or set epsilon to infinity for a release without privacy."
            )

    def add(self, value: Array, source: BitSource) -> Array:
        """Return the value plus noise, a point of the lattice."""
        if self.noise == "norm-laplace":
            noisy = value + norm_laplace(self.dimension, self.scale, source)
            return self.lattice.points(self.lattice.round(noisy))
        draw = discrete_gaussian if self.noise == "gaussian" else discrete_laplace
        noise = draw(self.lattice.steps(self.scale), self.dimension, source)
        return self.lattice.points(self.lattice.round(value) + noise)


Planner = Callable[[Budget, float, int], NoisePlan]


def plan_noise(budget: Budget, sensitivity: float, dimension: int, noise: str = "auto") -> NoisePlan:
    """Plan noise for a vector whose Euclidean norm moves by at most ``sensitivity`` between neighbours.

    ``auto`` takes the quieter (in mean square) of the exact laws, Gaussian and Laplace; where delta is 0, which
    only Laplace laws can give, the quieter of Laplace and norm-Laplace.
    """
    planners = {"gaussian": _gaussian, "laplace": _laplace, "norm-laplace": norm_laplace_plan}
    return pick_noise(planners, budget, sensitivity, dimension, noise)


def pick_noise(
    planners: Mapping[str, Planner], budget: Budget, sensitivity: float, dimension: int, noise: str
) -> NoisePlan:
    """Return the plan of the law of that name; of the quietest law that the budget allows for ``auto``."""
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise ValueError(f"sensitivity must be a finite number above 0; got {sensitivity!r}.")
    if noise == "auto":
        names = ("laplace", "norm-laplace") if budget.pure else ("gaussian", "laplace")
        return min((planners[name](budget, sensitivity, dimension) for name in names), key=_loudness)
    if noise not in planners:
        raise ValueError(f"noise must be 'auto' or one of {', '.join(map(repr, planners))}; got {noise!r}.")
    if budget.pure and noise == "gaussian":
        raise ValueError("noise='gaussian' cannot give delta = 0; use 'norm-laplace' or 'laplace', or a delta above 0.")
    return planners[noise](budget, sensitivity, dimension)


def _loudness(plan: NoisePlan) -> float:
    """Mean square of the noise; of two equals the exact one counts as quieter."""
    return plan.mean_square * (1.0 + 1e-6 * (plan.noise == "norm-laplace"))


def lattice_slack(dimension: int, mu: float, steps: int) -> tuple[float, float]:
    """(eta, eta'): P(k) <= e^eta Q(k) for the discrete Gaussian P and the rounded Gaussian Q, and Q <= e^eta' P.

    The second holds outside an event of probability below 1e-300 (``docs/theory/lattice-noise.md``, Lemma 2).
    """
    unit = 1.0 / (24.0 * float(steps) ** 2)
    return dimension * unit, (math.sqrt(dimension) + mu + 40.0) ** 2 * unit


def check_scale(scale: float) -> None:
    """Refuse noise beyond what doubles can hold."""
    if not scale <= LOUDEST:
        raise ValueError("epsilon is so small that the noise would drown any model; raise it.")


def _on_lattice(sensitivity: float, ratio: float, per_step: float) -> tuple[Lattice, float, float]:
    """Return a lattice, the scale (sensitivity + per_step step)/ratio on it, and that numerator."""
    check_scale(sensitivity / ratio)
    lattice = Lattice.for_scale(sensitivity / ratio)
    for _ in range(64):
        rounded = sensitivity + per_step * lattice.step
        steps = lattice.steps(rounded / ratio)
        if steps <= 2 ** (RESOLUTION + 1):
            return lattice, steps * lattice.step, rounded
        lattice = Lattice(2.0 * lattice.step)
    raise ValueError(
        "epsilon is so small that rounding to a lattice would cost more than the budget holds; raise it, "
        "or take fewer features."
    )


def _gaussian(budget: Budget, sensitivity: float, dimension: int) -> NoisePlan:
    """Sigma = (s + sqrt(d) step)/mu with the exact mu of the budget, less the slack of the lattice (Theorem 2)."""
    eta, eta_back = lattice_slack(dimension, gaussian_mu(budget.epsilon, budget.delta), 2 ** (RESOLUTION - 1))
    epsilon = budget.epsilon - eta - eta_back
    if epsilon <= 0:
        raise ValueError(f"epsilon={budget.epsilon!r} is too small for Gaussian noise in {dimension} dimensions.")
    mu = gaussian_mu(epsilon, budget.delta * math.exp(-eta) * (1.0 - 1e-12))
    lattice, scale, rounded = _on_lattice(sensitivity, mu, math.sqrt(dimension))
    return NoisePlan(
        noise="gaussian",
        norm="Euclidean norm",
        sensitivity=rounded,
        scale=scale,
        dimension=dimension,
        lattice=lattice,
        accountant="exact Gaussian profile (Balle and Wang 2018), checked on the safe side",
        sampler="exact discrete Gaussian on a lattice (Canonne, Kamath and Steinke 2020)",
        assumptions=(),
    )


def _laplace(budget: Budget, sensitivity: float, dimension: int) -> NoisePlan:
    """The L1 norm is at most sqrt(d) times the Euclidean one."""
    return plan_laplace(budget, math.sqrt(dimension) * sensitivity, dimension)


def plan_laplace(budget: Budget, sensitivity: float, dimension: int) -> NoisePlan:
    """Plan noise for a vector whose L1 norm moves by at most ``sensitivity``: B = (s + d step)/epsilon (Theorem 1)."""
    lattice, scale, rounded = _on_lattice(sensitivity, budget.epsilon, float(dimension))
    return NoisePlan(
        noise="laplace",
        norm="L1 norm",
        sensitivity=rounded,
        scale=scale,
        dimension=dimension,
        lattice=lattice,
        accountant="pure: the ratio of probabilities is at most exp(sensitivity/scale)",
        sampler="exact discrete Laplace on a lattice (Canonne, Kamath and Steinke 2020)",
        assumptions=(),
    )


def norm_laplace_plan(budget: Budget, sensitivity: float, dimension: int) -> NoisePlan:
    """Gamma = s/epsilon (``docs/theory/norm-laplace.md``); the last digits are rounded away afterwards."""
    scale = sensitivity / budget.epsilon * (1.0 + 2.0**-50)
    check_scale(scale)
    return NoisePlan(
        noise="norm-laplace",
        norm="Euclidean norm",
        sensitivity=sensitivity,
        scale=scale,
        dimension=dimension,
        lattice=Lattice.for_scale(scale),
        accountant="pure: the ratio of densities is at most exp(sensitivity/scale)",
        sampler="norm-Laplace in floating point, rounded to a lattice",
        assumptions=(
            "the norm-Laplace noise, drawn in double precision and then rounded, leaks nothing "
            "through its lowest digits (noise='laplace' needs no such assumption)",
        ),
    )
