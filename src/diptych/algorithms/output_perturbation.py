"""Output perturbation: the exact minimiser of the regularised risk, plus noise (Wang et al., Algorithm 1).

Sharper constants than the paper's by default (``docs/theory/output-perturbation.md``); the paper's
on request, for comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from diptych.accounting import NoisePlan, gaussian_mu, plan_noise
from diptych.algorithms.base import CONSTANTS, Release, UnsuitableError
from diptych.noise import BitSource, Lattice
from diptych.risks import Certificate, Minimum, PairTable, RankingRisk, minimise
from diptych.sets import Free
from diptych.spec import Adjacency, Budget, Event, Guarantee, TableSize

EXACT = 1e-9  # tolerance of a fit without privacy
SHARE = 1e-3  # of the gradient's sensitivity, granted to the solver's tolerance on either table
QUANTITY = "the minimiser of the regularised risk"


@dataclass(frozen=True)
class OutputPerturbation:
    """Release argmin R + noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``.
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

    def check(self, risk: RankingRisk) -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if not risk.loss.differentiable:
            raise UnsuitableError(
                f"loss={risk.loss.name!r} does not suit {self.name}: its minimiser cannot be certified across "
                "the kink; use loss='smoothed-hinge', whose slope and hence noise are the same."
            )
        if risk.regularization <= 0:
            raise UnsuitableError(
                f"regularization must be above 0 for {self.name}: without strong convexity one record may move "
                "the minimiser arbitrarily far."
            )

    def tolerance(self, certificate: Certificate, budget: Budget) -> float:
        """Return the gradient norm at which the solver stops, fixed by public facts."""
        wanted = SHARE * certificate.gradient_sensitivity if budget.private else EXACT
        return max(wanted, 4.0 * certificate.gradient_error)

    def sensitivity(self, certificate: Certificate, tolerance: float) -> float:
        """(s + 2 (tau + e))/lambda: Theorem 1, with s, e and lambda from the certificate and tau the tolerance."""
        return certificate.minimiser_sensitivity(tolerance + certificate.gradient_error)

    def plan(self, risk: RankingRisk, size: TableSize, dimension: int, budget: Budget) -> NoisePlan:
        """Return the defended noise for every table of this public size."""
        self.check(risk)
        certificate = risk.certificate(size, dimension)
        sensitivity = self.sensitivity(certificate, self.tolerance(certificate, budget))
        plan = plan_noise(budget, sensitivity, dimension, self.noise)
        plan.check_range(certificate.radius + sensitivity)
        return plan

    def run(
        self,
        risk: RankingRisk,
        table: PairTable,
        budget: Budget,
        source: BitSource,
        constants: str = "defended",
    ) -> Release:
        """Minimise, perturb, and say what was promised."""
        if constants not in CONSTANTS:
            raise ValueError(f"constants must be one of {', '.join(map(repr, CONSTANTS))}; got {constants!r}.")
        self.check(risk)
        size = table.size(risk.adjacency)
        tolerance = self.tolerance(risk.certificate(size, table.d), budget)
        if not budget.private:
            found = minimise(risk, table, tolerance)
            return Release(found.w, _unprotected(risk), _trace(risk, tolerance, found))
        plan, defended = self.plan(risk, size, table.d, budget), True
        if constants == "paper":
            plan, defended = paper_plan(risk, size, table.d, budget, plan)
        found = minimise(risk, table, tolerance)
        guarantee = _promise(risk, budget, plan, constants, defended=defended, seeded=source.seeded)
        return Release(plan.add(found.w, source), guarantee, _trace(risk, tolerance))


def paper_sensitivity(risk: RankingRisk, size: TableSize) -> float:
    """2 D B(sqrt(2 l(0)/lambda) D) (1/n+ + 1/n-)/lambda: Lemma 1 of Wang et al., with l(0) for their l(0) = 1."""
    if risk.adjacency is not Adjacency.REPLACE_WITHIN_CLASS or not isinstance(risk.constraint, Free):
        raise UnsuitableError(
            "constants='paper' needs the paper's own setting: adjacency='replace-within-class' and radius=None."
        )
    assert size.positives is not None
    assert size.negatives is not None
    lam, diameter = risk.regularization, risk.diameter
    slope = risk.loss.slope_bound(math.sqrt(2.0 * risk.loss.at_zero() / lam) * diameter)
    return 2.0 * diameter * slope * (1.0 / size.positives + 1.0 / size.negatives) / lam


def paper_plan(
    risk: RankingRisk, size: TableSize, dimension: int, budget: Budget, defended: NoisePlan
) -> tuple[NoisePlan, bool]:
    """Return the noise of Algorithm 1 as published, and whether it reaches what can be defended."""
    sensitivity = paper_sensitivity(risk, size)
    if budget.pure:
        noise, scale = "norm-laplace", sensitivity / budget.epsilon
        enough = scale >= plan_noise(budget, defended.sensitivity, dimension, noise).scale
    else:
        noise = "gaussian"
        scale = math.sqrt(2.0 * math.log(1.25 / budget.delta)) * sensitivity / budget.epsilon
        enough = scale * gaussian_mu(budget.epsilon, budget.delta) * (1.0 - 1e-6) >= _euclidean(defended, dimension)
    lattice = Lattice.for_scale(scale)
    plan = NoisePlan(
        noise=noise,
        norm="Euclidean norm",
        sensitivity=sensitivity,
        scale=lattice.steps(scale) * lattice.step if noise == "gaussian" else scale,
        dimension=dimension,
        lattice=lattice,
        accountant="as published (Wang et al. 2021, Lemmas 1 and 2)",
        sampler="exact discrete Gaussian on a lattice" if noise == "gaussian" else "norm-Laplace in floating point",
        assumptions=(),
    )
    return plan, enough


def _euclidean(plan: NoisePlan, dimension: int) -> float:
    """Return a bound on the Euclidean sensitivity from that of a plan."""
    return plan.sensitivity / math.sqrt(dimension) if plan.noise == "laplace" else plan.sensitivity


def _trace(risk: RankingRisk, tolerance: float, found: Minimum | None = None) -> dict[str, Any]:
    """Return public settings; what the solver did only where nothing is promised."""
    trace: dict[str, Any] = {"regularization": risk.regularization, "tolerance": tolerance}
    if found is not None:
        trace |= {"gradient_norm": found.residual, "iterations": found.steps}
    return trace


def _unprotected(risk: RankingRisk) -> Guarantee:
    return Guarantee(
        epsilon=math.inf,
        delta=0.0,
        adjacency=risk.adjacency,
        mechanism="none: the exact minimiser of the regularised risk",
        sensitivity=math.inf,
        noise_scale=0.0,
        events=(),
        accountant="none",
        sampler="none",
        released="the parameters of a linear ranking model",
        assumptions=(),
    )


def _promise(
    risk: RankingRisk, budget: Budget, plan: NoisePlan, constants: str, *, defended: bool, seeded: bool
) -> Guarantee:
    noise = {"gaussian": "Gaussian noise", "laplace": "Laplace noise", "norm-laplace": "norm-Laplace noise"}
    return Guarantee(
        epsilon=budget.epsilon,
        delta=budget.delta if plan.noise == "gaussian" else 0.0,
        adjacency=risk.adjacency,
        mechanism=f"output perturbation with {noise[plan.noise]}",
        sensitivity=plan.sensitivity,
        noise_scale=plan.scale,
        events=(Event(QUANTITY, noise[plan.noise], plan.norm, plan.sensitivity, plan.scale),),
        accountant=plan.accountant,
        sampler=plan.sampler,
        released="the parameters of a linear ranking model",
        assumptions=(
            "every value in the table is finite (a table that is not is refused)",
            "the bounds of the features were fixed without looking at the table",
            *plan.assumptions,
        ),
        constants=constants,
        defended=defended,
        seeded=seeded,
    )
