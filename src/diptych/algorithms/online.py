"""One pass over the records, each new one against all earlier ones, then noise on the mean (``online-output``).

OffPairStrC and OffPairC of Huai, Wang, Miao, Xu and Zhang (2020), rebuilt from how Xue et al. (2021) describe them:
pairwise online gradient descent, online-to-batch conversion, output perturbation. Step sizes and
sensitivity are this library's own (``docs/theory/gradient-descent.md``, Theorem 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan, plan_noise
from diptych.algorithms.base import (
    Release,
    UnsuitableError,
    check_noise,
    check_settings,
    check_smooth,
    event,
    open_release,
    promise,
)
from diptych.algorithms.descent import (
    ANY_SLOPE,
    GATHERED,
    check_bounded_slope,
    check_settings_of,
    mean_of,
    rounding,
)
from diptych.noise import BitSource, permutation
from diptych.risks import Certificate, PairRisk, Table
from diptych.spec import Budget, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class OnlineOutput:
    """Step t descends on record t against the earlier ones; release the mean of the iterates plus noise.

    Claim
        (epsilon, delta)-DP, pure where delta = 0, under ``replace`` and ``replace-within-class``.
    Assumptions
        A convex loss with a Lipschitz derivative, rows in the unit ball.
    Released
        The noisy mean of the iterates, projected on the set.
    Reference
        Huai et al. (2020), OffPairStrC (lambda > 0) and OffPairC (lambda = 0), rebuilt from descriptions; the
        constants of ``docs/theory/gradient-descent.md``, Theorem 4.

    Parameters
    ----------
    step_size
        Of every step t, or 1/(lambda t) where that is shorter. ``"auto"``: a rule of public facts.
    noise
        See ``diptych.accounting.plan_noise``.
    """

    step_size: float | str = "auto"
    noise: str = "auto"

    name = "online-output"

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_settings_of(self.name, "auto", self.step_size)

    def check(self, risk: PairRisk[Any], budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        if not isinstance(risk, PairRisk):
            raise UnsuitableError(
                f"{self.name} sets each record against earlier ones, which points do not; use algorithm='gd-output'."
            )
        check_smooth(self.name, risk.loss, ANY_SLOPE)
        check_settings(self.noise, risk, budget, constants)
        check_bounded_slope(self.name, risk)
        if constants == "paper":
            raise UnsuitableError(
                f"constants='paper' does not suit {self.name}, which is rebuilt from descriptions; use 'defended'."
            )

    def plan(
        self, risk: PairRisk[Any], size: TableSize, features: int, budget: Budget
    ) -> tuple[Any, Array, NoisePlan | None]:
        """Return the risk on a bounded set, the step sizes and the noise for every table of this public size."""
        self.check(risk, budget)
        risk = risk.confined(size, math.inf)
        steps = self._step_sizes(risk, size, features, budget)
        risk = within_reach(risk, size, steps)
        if not budget.private:
            return risk, steps, None
        certificate = risk.certificate(size, features, tilt=math.inf)
        sensitivity = movement(certificate, risk.pair_share(size), steps, features)
        noise = plan_noise(budget, sensitivity, risk.dimension(features), self.noise)
        noise.check_range(certificate.radius + sensitivity)
        return risk, steps, noise

    def _step_sizes(self, risk: PairRisk[Any], size: TableSize, features: int, budget: Budget) -> Array:
        """eta_t for t = 1 ... n-1: one length, or 1/(lambda t) where that is shorter; at most 2/(M + lambda)."""
        certificate = risk.certificate(size, features, tilt=math.inf)
        lam, bend = certificate.strong_convexity, one_against_all(certificate, risk.mass(size))
        t = np.arange(1.0, size.n)
        longest = 2.0 / (bend + 2.0 * lam)

        def lengths(first: float) -> Array:
            constant = np.full(t.size, min(longest, first))
            return np.minimum(constant, 1.0 / (lam * t)) if lam > 0 else constant

        if self.step_size != "auto":
            return lengths(float(self.step_size))
        first = longest
        if budget.private:
            draft = within_reach(risk, size, lengths(first)).certificate(size, features, tilt=math.inf)
            moved = movement(draft, risk.pair_share(size), lengths(first), features)
            noise = plan_noise(budget, moved, risk.dimension(features), self.noise)
            first *= min(1.0, GATHERED * risk.span / math.sqrt(noise.mean_square))
        return lengths(first)

    def run(
        self, risk: PairRisk[T], table: T, budget: Budget, source: BitSource, constants: str = "defended"
    ) -> Release:
        """Pass once over the table, perturb the mean, and say what was promised."""
        self.check(risk, budget, constants)
        within, steps, noise = self.plan(risk, table.size(risk.adjacency), table.d, budget)
        w = mean_of(one_pass(within, table.take(permutation(table.n, source)), steps))
        trace = {"steps": len(steps), "step_size": float(steps[0]), "regularization": risk.regularization}
        if noise is None:
            return open_release(risk, w, "one pass of pairwise gradient descent", trace)
        guarantee = promise(
            risk,
            budget,
            "one pass of pairwise gradient descent, then output perturbation",
            (event("the mean of the iterates", noise),),
            noise,
            seeded=source.seeded,
        )
        return Release(within.constraint.project(noise.add(w, source)), guarantee, trace)


def one_pass(risk: PairRisk[T], table: T, steps: Array) -> Iterator[Array]:
    """Yield w_1 ... w_(n-1): record t against all earlier ones."""
    w, lam = risk.start(table.d), risk.regularization
    for t, length in enumerate(steps, 1):
        w = risk.constraint.project(w - length * (risk.newest(w, table, t) + lam * w))
        yield w


def within_reach(risk: PairRisk[Any], size: TableSize, steps: Array) -> Any:
    """Return the risk on a bounded set, which holds all that such noiseless steps can reach."""
    return risk.confined(size, float(steps.sum()) * risk.certificate(size, tilt=math.inf).pair_lipschitz)


def one_against_all(certificate: Certificate, mass: float) -> float:
    """Return the smoothness of the mean loss of one record's pairs: that of the whole risk, each pair of weight 1/t."""
    return (certificate.smoothness - certificate.strong_convexity) / mass


def movement(certificate: Certificate, share: float, steps: Array, features: int) -> float:
    """Return how far one record can move the mean of the iterates (Theorem 4), the worst position of it.

    Its own step moves by eta_t B, B the most that one pair's gradient moves; a later one by eta_t B/t; all contract
    what is there by 1 - eta_t lambda. Errors of the computed gradients count in every step; they are relative to the
    weights of the pairs, which sum to 1 here and to at least 2/9 in the certificate.
    """
    kicks = steps * certificate.gradient_sensitivity / share
    later = kicks / np.arange(1.0, len(steps) + 1.0)
    slack = np.array([rounding(certificate, length, features) for length in steps])
    slack += steps * 2.0 * 4.5 * certificate.gradient_error
    carried = np.ones(len(steps))  # what a kick at step t adds to the sum of all later distances
    for t in range(len(steps) - 2, -1, -1):
        carried[t] += (1.0 - steps[t + 1] * certificate.strong_convexity) * carried[t + 1]
    after = np.append(np.cumsum((carried * later)[::-1])[::-1], 0.0)
    own = np.append(carried * kicks + after[1:], after[0])  # the last: the record that no step is for
    return float(own.max() + carried @ slack) / len(steps)
