"""Output perturbation: the exact minimiser of the regularised risk, plus noise (Wang et al., Algorithm 1).

Sharper constants than the paper's by default (``docs/theory/output-perturbation.md``); the paper's
on request, for comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from diptych.accounting import NoisePlan, plan_noise
from diptych.algorithms.base import (
    EXACT,
    Release,
    UnsuitableError,
    check_noise,
    check_paper,
    check_settings,
    check_smooth,
    check_strongly_convex,
    event,
    open_release,
    promise,
)
from diptych.algorithms.published import classic_factor, published_plan
from diptych.noise import BitSource
from diptych.risks import Certificate, RankingRisk, minimise
from diptych.risks.base import CurvedRisk, Table
from diptych.spec import Adjacency, Budget, TableSize

SHARE = 1e-3  # of the gradient's sensitivity, granted to the solver's tolerance on either table
QUANTITY = "the minimiser of the regularised risk"


@dataclass(frozen=True)
class OutputPerturbation:
    """Release argmin R + noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``; for points under
        ``add-remove``, too.
    Assumptions
        A differentiable convex loss, lambda > 0, rows in the unit ball.
    Released
        The noisy minimiser (and nothing of the solver).
    Reference
        Wang, Yang, Lei, Ying and Zhang (2021), Algorithm 1 and Theorem 1, with the constants of
        ``docs/theory/output-perturbation.md``, Theorem 1.

    Parameters
    ----------
    noise
        ``"gaussian"``, ``"norm-laplace"``, ``"laplace"``, or ``"auto"``: see ``diptych.accounting.plan_noise``.
        Laplace laws promise delta = 0 whatever the budget allows.
    """

    noise: str = "auto"

    name = "output-perturbation"

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def check(self, risk: CurvedRisk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if not risk.loss.differentiable:
            raise UnsuitableError(
                f"loss={risk.loss.name!r} does not suit {self.name}: its minimiser cannot be certified across "
                f"the kink; use loss={'huber' if risk.loss.residual else 'smoothed-hinge'!r}, whose slope and hence "
                "noise are the same."
            )
        check_smooth(self.name, risk.loss)
        check_settings(self.noise, risk, budget, constants)
        check_strongly_convex(self.name, risk)
        if constants == "paper":
            check_paper(self.noise, paper_noise(budget), Adjacency.REPLACE_WITHIN_CLASS, risk, free=True)

    def tolerance(self, certificate: Certificate, budget: Budget) -> float:
        """Return the gradient norm at which the solver stops, fixed by public facts."""
        wanted = SHARE * certificate.gradient_sensitivity if budget.private else EXACT
        return max(wanted, 4.0 * certificate.gradient_error)

    def sensitivity(self, certificate: Certificate, tolerance: float) -> float:
        """(s + 2 (tau + e))/lambda: Theorem 1, with s, e and lambda from the certificate and tau the tolerance."""
        return certificate.minimiser_sensitivity(tolerance + certificate.gradient_error)

    def plan(self, risk: CurvedRisk[Any], size: TableSize, dimension: int, budget: Budget) -> NoisePlan:
        """Return the defended noise for every table of this public size."""
        self.check(risk, budget)
        certificate = risk.certificate(size, dimension)
        sensitivity = self.sensitivity(certificate, self.tolerance(certificate, budget))
        plan = plan_noise(budget, sensitivity, dimension, self.noise)
        plan.check_range(certificate.radius + sensitivity)
        return plan

    def noise_for(
        self, risk: CurvedRisk[Any], size: TableSize, dimension: int, budget: Budget, constants: str = "defended"
    ) -> tuple[NoisePlan, bool]:
        """Return the noise of these constants, and whether the library defends it."""
        if constants == "defended":
            return self.plan(risk, size, dimension, budget), True
        self.check(risk, budget, constants)
        assert isinstance(risk, RankingRisk)  # as ``check_paper`` saw to
        certificate = risk.certificate(size, dimension)
        euclidean = self.sensitivity(certificate, self.tolerance(certificate, budget))
        plan, defended = paper_plan(risk, size, dimension, budget, euclidean)
        plan.check_range(certificate.radius + euclidean)
        return plan, defended

    def added_risk(self, risk: CurvedRisk[Any], size: TableSize, dimension: int, budget: Budget) -> float:
        """Predict the risk that the noise adds: (beta/(2 d)) E||b||^2, for pairs a unit apart."""
        noise = self.plan(risk, size, dimension, budget).mean_square
        return 0.5 * risk.loss.curvature_bound(math.inf) * noise / dimension

    def run(
        self,
        risk: CurvedRisk[Any],
        table: Table,
        budget: Budget,
        source: BitSource,
        constants: str = "defended",
    ) -> Release:
        """Minimise, perturb, and say what was promised."""
        self.check(risk, budget, constants)
        size = table.size(risk.adjacency)
        tolerance = self.tolerance(risk.certificate(size, table.d), budget)
        if not budget.private:
            return exact_release(risk, table, tolerance)
        plan, defended = self.noise_for(risk, size, table.d, budget, constants)
        found = minimise(risk, table, tolerance)
        guarantee = promise(
            risk,
            budget,
            "output perturbation",
            (event(QUANTITY, plan),),
            plan,
            constants=constants,
            defended=defended,
            seeded=source.seeded,
        )
        trace = {"regularization": risk.regularization, "tolerance": tolerance}
        return Release(plan.add(found.w, source), guarantee, trace)


def exact_release(risk: CurvedRisk[Any], table: Table, tolerance: float) -> Release:
    """Return the exact minimiser, under no promise."""
    found = minimise(risk, table, tolerance)
    trace = {"tolerance": tolerance, "residual": found.residual, "iterations": found.steps}
    return open_release(risk, found.w, "the exact minimiser of the regularised risk", trace)


def paper_noise(budget: Budget) -> str:
    """Return the law that Wang et al. draw from."""
    return "norm-laplace" if budget.pure else "gaussian"


def paper_sensitivity(risk: RankingRisk, size: TableSize) -> float:
    """2 D B(sqrt(2 l(0)/lambda) D) (1/n+ + 1/n-)/lambda: Lemma 1 of Wang et al., with l(0) for their l(0) = 1."""
    assert size.positives is not None
    assert size.negatives is not None
    lam, diameter = risk.regularization, risk.diameter
    slope = risk.loss.slope_bound(math.sqrt(2.0 * risk.loss.at_zero() / lam) * diameter)
    return 2.0 * diameter * slope * (1.0 / size.positives + 1.0 / size.negatives) / lam


def paper_plan(
    risk: RankingRisk, size: TableSize, dimension: int, budget: Budget, euclidean: float
) -> tuple[NoisePlan, bool]:
    """Return the noise of Algorithm 1 as published, and whether it hides the defended Euclidean sensitivity."""
    sensitivity, law = paper_sensitivity(risk, size), paper_noise(budget)
    scale = sensitivity * classic_factor(budget, law)
    return published_plan(law, sensitivity, scale, euclidean, dimension, budget, "Wang et al. 2021, Lemmas 1 and 2")
