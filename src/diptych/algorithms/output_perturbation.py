"""Output perturbation: the exact minimiser of the regularised risk, plus noise (Wang et al., Algorithm 1).

Sharper constants than the paper's by default (``docs/theory/output-perturbation.md``); the paper's
on request, for comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from diptych.accounting import NOISES, NoisePlan, plan_noise
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

    def __post_init__(self) -> None:
        if self.noise not in ("auto", *NOISES):
            raise ValueError(f"noise must be 'auto' or one of {', '.join(map(repr, NOISES))}; got {self.noise!r}.")

    def check(self, risk: RankingRisk, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if constants not in CONSTANTS:
            raise ValueError(f"constants must be one of {', '.join(map(repr, CONSTANTS))}; got {constants!r}.")
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
        if budget.private and budget.pure and self.noise == "gaussian":
            raise UnsuitableError(
                "noise='gaussian' cannot give delta = 0; use 'norm-laplace' or 'laplace', or a delta above 0."
            )
        if constants == "paper":
            self._check_paper(risk, budget)

    def _check_paper(self, risk: RankingRisk, budget: Budget) -> None:
        if risk.adjacency is not Adjacency.REPLACE_WITHIN_CLASS or not isinstance(risk.constraint, Free):
            raise UnsuitableError(
                "constants='paper' needs the paper's own setting: adjacency='replace-within-class' and radius=None."
            )
        if self.noise not in ("auto", paper_noise(budget)):
            raise UnsuitableError(
                f"constants='paper' goes with the paper's own noise, {paper_noise(budget)!r} for this delta; "
                f"got noise={self.noise!r}."
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
        self.check(risk, budget)
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
        self.check(risk, budget, constants)
        size = table.size(risk.adjacency)
        tolerance = self.tolerance(risk.certificate(size, table.d), budget)
        if not budget.private:
            found = minimise(risk, table, tolerance)
            return Release(found.w, _unprotected(risk), _trace(risk, tolerance, found))
        plan, defended = self.plan(risk, size, table.d, budget), True
        if constants == "paper":
            euclidean = self.sensitivity(risk.certificate(size, table.d), tolerance)
            plan, defended = paper_plan(risk, size, table.d, budget, euclidean)
        found = minimise(risk, table, tolerance)
        guarantee = _promise(risk, budget, plan, constants, defended=defended, seeded=source.seeded)
        return Release(plan.add(found.w, source), guarantee, _trace(risk, tolerance))


def paper_noise(budget: Budget) -> str:
    """Return the noise that Algorithm 1 draws."""
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
    sensitivity, noise = paper_sensitivity(risk, size), paper_noise(budget)
    defended = plan_noise(budget, euclidean, dimension, noise)
    scale = sensitivity / budget.epsilon
    if noise == "gaussian":
        scale *= math.sqrt(2.0 * math.log(1.25 / budget.delta))
    lattice = Lattice.for_scale(scale)
    if noise == "gaussian":
        scale = lattice.steps(scale) * lattice.step
    rounded = euclidean + (math.sqrt(dimension) * lattice.step if noise == "gaussian" else 0.0)
    enough = rounded / scale <= defended.sensitivity / defended.scale
    plan = replace(
        defended,
        sensitivity=sensitivity,
        scale=scale,
        lattice=lattice,
        accountant="as published (Wang et al. 2021, Lemmas 1 and 2)",
    )
    return plan, enough


def _trace(risk: RankingRisk, tolerance: float, found: Minimum | None = None) -> dict[str, Any]:
    """Return public settings; what the solver did only where nothing is promised."""
    trace: dict[str, Any] = {"regularization": risk.regularization, "tolerance": tolerance}
    if found is not None:
        trace |= {"residual": found.residual, "iterations": found.steps}
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
