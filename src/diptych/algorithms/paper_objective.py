"""Objective perturbation with the published constants (Wang et al. 2021, Algorithm 2), for comparison only.

Its misprints are corrected as ``docs/theory/objective-perturbation.md`` says. The library does not defend these
releases: the published proof takes the computed minimiser to be exact, and with Gaussian noise it has a gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from diptych.algorithms.base import ASSUMPTIONS, NOISE_WORDS, Release
from diptych.algorithms.output_perturbation import paper_noise
from diptych.noise import BitSource, Lattice, discrete_gaussian, norm_laplace
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.spec import Budget, Event, Guarantee, TableSize

PRECISION = 1e-5
GAPS = {
    "gaussian": (
        "the solver's result is the exact minimiser",
        "the change of the gradient at the released model is independent of the noise (it is not)",
    ),
    "norm-laplace": ("the solver's result is the exact minimiser",),
}


@dataclass(frozen=True)
class PaperPerturbation:
    """The regulariser lambda + Delta, the sensitivity 2 n L D/(n+ n-) and the scale of b."""

    ridge: float
    sensitivity: float
    scale: float


def paper_perturbation(risk: RankingRisk, size: TableSize, budget: Budget) -> PaperPerturbation:
    """Algorithm 2, lines 3 to 15, with gamma = 4 n L D/(n+ n- epsilon) and e^{epsilon/(2n)} - 1 for the misprints."""
    assert size.positives is not None
    assert size.negatives is not None
    pairs = float(size.positives) * size.negatives
    slope, curvature = risk.loss.slope_bound(math.inf), risk.loss.curvature_bound(math.inf)
    bend = curvature * risk.diameter**2 / pairs
    spent = size.n * math.log1p(bend / risk.regularization)
    if spent < budget.epsilon:
        ridge, left = risk.regularization, budget.epsilon - spent
    else:
        ridge, left = bend / math.expm1(budget.epsilon / (2.0 * size.n)), budget.epsilon / 2.0
    sensitivity = 2.0 * size.n * slope * risk.diameter / pairs
    if budget.pure:
        return PaperPerturbation(ridge, sensitivity, sensitivity / left)
    factor = (2.0 * math.sqrt(2.0 * math.log(1.0 / budget.delta)) + math.sqrt(2.0 * left)) / (2.0 * left)
    return PaperPerturbation(ridge, sensitivity, sensitivity * factor)


def paper_release(risk: RankingRisk, table: PairTable, budget: Budget, source: BitSource) -> Release:
    """Run Algorithm 2 as published: no noise but b."""
    size, noise = table.size(risk.adjacency), paper_noise(budget)
    plan = paper_perturbation(risk, size, budget)
    if noise == "gaussian":
        lattice = Lattice.for_scale(plan.scale)
        b = lattice.points(discrete_gaussian(lattice.steps(plan.scale), table.d, source))
    else:
        b = norm_laplace(table.d, plan.scale, source)
    tilted = replace(risk, regularization=plan.ridge)
    error = tilted.certificate(size, table.d, tilt=float(np.sqrt(table.d)) * plan.scale).gradient_error
    tolerance = max(PRECISION * plan.sensitivity, 4.0 * error)
    found = minimise(tilted, table, tolerance, b)
    trace = {"regularization": risk.regularization, "ridge": plan.ridge, "tolerance": tolerance}
    return Release(found.w, _claim(risk, budget, plan, noise, seeded=source.seeded), trace)


def _claim(risk: RankingRisk, budget: Budget, plan: PaperPerturbation, noise: str, *, seeded: bool) -> Guarantee:
    quantity = "the gradient of the regularised risk, at the model that was found"
    return Guarantee(
        epsilon=budget.epsilon,
        delta=budget.delta,
        adjacency=risk.adjacency,
        mechanism=f"objective perturbation with {NOISE_WORDS[noise]}",
        sensitivity=plan.sensitivity,
        noise_scale=plan.scale,
        events=(Event(quantity, NOISE_WORDS[noise], "Euclidean norm", plan.sensitivity, plan.scale),),
        accountant="as published (Wang et al. 2021, Theorem 2)",
        sampler="exact discrete Gaussian on a lattice" if noise == "gaussian" else "norm-Laplace in floating point",
        released=risk.released,
        assumptions=(*ASSUMPTIONS, *GAPS[noise]),
        constants="paper",
        defended=False,
        seeded=seeded,
    )
