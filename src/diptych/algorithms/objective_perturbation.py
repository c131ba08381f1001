"""Objective perturbation: the minimiser of the regularised risk plus a random linear term.

Wang et al. (2021), Algorithm 2 for pairs, Algorithm 3 for points.

With a repaired and sharper analysis (``docs/theory/objective-perturbation.md``), exact noise inside the objective, and
a small final noise that hides the solver's error. The paper's constants on request: ``paper_objective.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan, OfExchange, OfPairs, OfRecord, Profile, plan_noise, plan_tilt
from diptych.algorithms.base import (
    EXACT,
    Release,
    UnsuitableError,
    check_noise,
    check_paper,
    check_settings,
    check_strongly_convex,
    event,
    promise,
)
from diptych.algorithms.output_perturbation import exact_release, paper_noise
from diptych.algorithms.paper_objective import paper_release
from diptych.noise import BitSource
from diptych.risks import Certificate, PairTable, PointRisk, PointTable, RankingRisk, minimise
from diptych.risks.base import CurvedRisk, Table
from diptych.sets import Free, L2Ball
from diptych.spec import Adjacency, Budget, Guarantee, TableSize

Array = NDArray[np.float64]
Linear: TypeAlias = RankingRisk | PointRisk

FINISH = 0.01  # share of epsilon and delta for the noise that hides the solver's error
JACOBIAN = 0.5  # share of the rest that the Jacobian may take before the regulariser is raised
PRECISION = 1e-5  # of the gradient's sensitivity: the solver's tolerance, where rounding allows it
PROJECTED = 1.25  # what projecting a far-away free minimiser may add to its error (Lemma 9)
LARGEST_RIDGE = 1e9
BOUNDED = "no noise is drawn so large that the solver's bound fails (its probability is below 1e-300)"
CONFINING = 0.98  # a ball that lowers the sensitivity to this share, or less, is worth its solver's time


@dataclass(frozen=True)
class Perturbation:
    """Everything that is fixed before the table is seen.

    Attributes
    ----------
    risk
        What is minimised, with the regulariser and the set in force: Lambda is lambda or more.
    shift
        What the Jacobian spends of epsilon.
    tilt
        The random linear term.
    finish
        The noise added to the computed minimiser.
    radius
        The computed minimiser is projected on the ball of this radius.
    tolerance
        Where the solver stops.
    """

    risk: Linear
    shift: float
    tilt: NoisePlan
    finish: NoisePlan
    radius: float
    tolerance: float


@dataclass(frozen=True)
class ObjectivePerturbation:
    """Release argmin {R(w) + (Delta/2) ||w||^2 + b.w} + a little noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``; for points under
        ``add-remove``, too.
    Assumptions
        A convex loss with a Lipschitz derivative, lambda > 0, rows in the unit ball.
    Released
        The computed minimiser, hidden by noise for the solver's error (and nothing of the solver).
    Reference
        Wang, Yang, Lei, Ying and Zhang (2021), Algorithms 2 (pairs) and 3 (points), with the analysis of
        ``docs/theory/objective-perturbation.md``, Theorem 1.

    Parameters
    ----------
    noise
        Of the linear term: ``"gaussian"``, ``"norm-laplace"``, ``"laplace"``, or ``"auto"``: see
        ``diptych.accounting.plan_noise``. Laplace laws promise delta = 0 whatever the budget allows.
    """

    noise: str = "auto"

    name = "objective-perturbation"

    def __post_init__(self) -> None:
        check_noise(self.noise)

    def check(self, risk: Linear, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if not isinstance(risk, RankingRisk | PointRisk):
            raise UnsuitableError(
                f"{self.name} is proved for scores of records and of pairs only; use algorithm='output-perturbation'."
            )
        if not risk.loss.smooth:
            raise UnsuitableError(
                f"loss={risk.loss.name!r} does not suit {self.name}: where its slope jumps, many values of the noise "
                f"lead to one model and their densities cannot be compared; use loss={_smoother(risk)!r}, whose slope "
                "is as steep but has no jump."
            )
        check_settings(self.noise, risk, budget, constants)
        check_strongly_convex(self.name, risk)
        if constants == "paper":
            check_paper(self.noise, paper_noise(budget), Adjacency.REPLACE_WITHIN_CLASS, risk, free=True)
        lipschitz = math.isfinite(risk.loss.slope_bound(math.inf))
        if constants == "paper" and not (risk.loss.twice_differentiable and lipschitz):
            raise UnsuitableError(f"constants='paper' needs the paper's own loss, 'logistic'; got {risk.loss.name!r}.")

    def plan(self, risk: Linear, size: TableSize, dimension: int, budget: Budget) -> Perturbation:
        """Return noise, regulariser and tolerance for every table of this public size (Theorem 1)."""
        self.check(risk, budget)
        main = Budget((1.0 - FINISH) * budget.epsilon, (1.0 - FINISH) * budget.delta)
        risk = _confined(risk, size)
        everywhere = risk.certificate(size, dimension, tilt=math.inf)
        ridge, share = risk.regularization, JACOBIAN * main.epsilon
        if everywhere.determinant_shift(ridge, dimension) > share:
            ridge = everywhere.ridge_for(share, dimension)
        if not ridge <= LARGEST_RIDGE:
            raise ValueError("epsilon is so small that the noise would drown any model; raise it.")
        if ridge > risk.regularization:
            risk = _confined(replace(risk, regularization=ridge), size)
            everywhere = risk.certificate(size, dimension, tilt=math.inf)
        shift = everywhere.determinant_shift(ridge, dimension)
        tilt = plan_tilt(
            replace(main, epsilon=main.epsilon - shift),
            everywhere.gradient_sensitivity,
            dimension,
            self.noise,
            profile=_profile(everywhere),
        )
        reach = tilt.farthest if isinstance(risk.constraint, Free) else math.inf
        certificate = risk.certificate(size, dimension, tilt=reach)
        tolerance = max(PRECISION * everywhere.gradient_sensitivity, 4.0 * certificate.gradient_error)
        error = tolerance + certificate.gradient_error + 0.5 * math.sqrt(dimension) * tilt.lattice.step
        if error > 0.1 * ridge * certificate.radius:
            raise ValueError(
                "epsilon is so large, or radius so small, that noise or model would vanish beside rounding; lower "
                "epsilon, or raise radius."
            )
        # e^-1e-15 d: Lemma 6 multiplies all of delta by e^eta
        last = Budget(FINISH * budget.epsilon, FINISH * budget.delta * math.exp(-1e-15 * dimension))
        last = last if tilt.noise == "gaussian" else replace(last, delta=0.0)
        finish = plan_noise(last, 2.0 * PROJECTED * error / ridge, dimension, "laplace" if last.pure else "gaussian")
        finish.check_range(certificate.radius)
        return Perturbation(risk, shift, tilt, finish, certificate.radius, tolerance)

    def added_risk(self, risk: Linear, size: TableSize, dimension: int, budget: Budget) -> float:
        """Predict the risk that the noise adds, for pairs a unit apart in equal directions."""
        plan = self.plan(risk, size, dimension, budget)
        curvature = risk.loss.curvature_bound(math.inf)
        flattened = plan.risk.regularization + risk.mass(size) * curvature / dimension
        noise = plan.tilt.mean_square / flattened**2 + plan.finish.mean_square
        return 0.5 * curvature * noise / dimension

    def run(
        self,
        risk: Linear,
        table: PairTable | PointTable,
        budget: Budget,
        source: BitSource,
        constants: str = "defended",
    ) -> Release:
        """Tilt, minimise, hide the solver's error, and say what was promised."""
        self.check(risk, budget, constants)
        size = table.size(risk.adjacency)
        if not budget.private:
            error = risk.certificate(size, table.d).gradient_error
            return exact_release(risk, table, max(EXACT, 4.0 * error))
        if constants == "paper":
            assert isinstance(risk, RankingRisk)  # as ``check_paper`` saw to
            assert isinstance(table, PairTable)
            return paper_release(risk, table, budget, source)
        plan = self.plan(risk, size, table.d, budget)
        b = plan.tilt.add(np.zeros(table.d), source)
        found = minimise(cast(CurvedRisk[Table], plan.risk), table, plan.tolerance, b)
        w = L2Ball(plan.radius).project(found.w)
        return Release(plan.finish.add(w, source), _promise(risk, budget, plan, source), _trace(risk, plan))


def _smoother(risk: Linear) -> str:
    return "huber" if risk.loss.residual else "smoothed-hinge"


def _profile(certificate: Certificate) -> Profile:
    """Return what a Gaussian tilt spends on the change that one record makes: of pairs, or of one or two records."""
    if certificate.partners > 0:
        return OfPairs(certificate.one_signed)
    if certificate.adjacency is Adjacency.ADD_REMOVE:
        return OfRecord(certificate.one_signed)
    single = certificate.pair_lipschitz / certificate.size.n
    return OfExchange(certificate.one_signed, min(1.0, single / certificate.gradient_sensitivity))


def _confined(risk: Linear, size: TableSize) -> Linear:
    """Confine w to the ball that holds every minimiser without noise, where gradients move less there.

    Whatever the noise carries out of this ball is only noise.
    """
    within = risk.confined(size, math.inf)
    lower, most = (one.certificate(size, tilt=math.inf).gradient_sensitivity for one in (within, risk))
    return within if lower <= CONFINING * most else risk


def _trace(risk: Linear, plan: Perturbation) -> dict[str, Any]:
    return {
        "regularization": risk.regularization,
        "ridge": plan.risk.regularization,
        "radius": plan.risk.constraint.radius,
        "tolerance": plan.tolerance,
    }


def _promise(risk: Linear, budget: Budget, plan: Perturbation, source: BitSource) -> Guarantee:
    tilt, finish = plan.tilt, plan.finish
    spent = budget.epsilon * (1.0 - FINISH) - plan.shift
    shares = (
        f"{tilt.accountant}; of epsilon, {spent:.3g} for the noise in the objective, {plan.shift:.3g} for the "
        f"Jacobian and {FINISH * budget.epsilon:.3g} for the solver's error"
    )
    return promise(
        risk,
        budget,
        "objective perturbation",
        (
            event("the gradient of the regularised risk, at the model that was found", tilt),
            event("the solver's error", finish),
        ),
        replace(tilt, accountant=shares),
        seeded=source.seeded,
        assumptions=() if tilt.noise == "gaussian" else (BOUNDED,),
    )
