"""Published constants and schedules of Yang, Lei, Lyu and Ying (2021), for comparison only.

With G the Lipschitz constant of one pair's loss, T steps of length eta and l = ln(2/delta), their proof gives, with
probability 1 - delta/2 over the indices, a sensitivity of 2 eta G sqrt(e (T + ln(eT)^2 c^2)), c a bound on how often
one of n records is drawn. Equation (5) as printed has lost the factor e, has 3 T^2 l^2/n^2 for c^2, where even
the c of their proof leads to 9 T^2 l^2/n^2, and rests on a Chernoff bound without the factor 2 under its root.
"""

from __future__ import annotations

import math
from typing import Any

from diptych.accounting import NoisePlan
from diptych.algorithms.descent import Schedule
from diptych.algorithms.published import classic_factor, published_plan
from diptych.risks import Certificate, PairRisk
from diptych.sets import Free
from diptych.spec import Budget

REFERENCE = "Yang et al. 2021"


def printed_sensitivity(schedule: Schedule, lipschitz: float, n: int, failure: float) -> float:
    """2 eta G sqrt(T + 3 T^2 ln(eT)^2 ln(1/failure)^2/n^2), as equation (5) has it with failure = delta/2."""
    T, logs = float(schedule.steps), (1.0 + math.log(schedule.steps)) * math.log(1.0 / failure)
    return 2.0 * schedule.step_size * lipschitz * math.sqrt(T + 3.0 * (T * logs / n) ** 2)


def corrected_sensitivity(schedule: Schedule, lipschitz: float, n: int, failure: float) -> float:
    """2 eta G sqrt(e (T + ln(eT)^2 c^2)), c = T/n + l + sqrt(2 T l/n), l = ln(1/failure): with all its factors."""
    T, rare = float(schedule.steps), math.log(1.0 / failure)
    drawn = T / n + rare + math.sqrt(2.0 * T * rare / n)
    wide = T + ((1.0 + math.log(T)) * drawn) ** 2
    return 2.0 * schedule.step_size * lipschitz * math.sqrt(math.e * wide)


def published_noise(
    certificate: Certificate, schedule: Schedule, needed: float, dimension: int, budget: Budget, *, corrected: bool
) -> tuple[NoisePlan, bool]:
    """Return the noise of equation (5), and whether it hides what the realised sequence needs.

    Half of delta is for indices that come too often, half for the classic Gaussian factor sqrt(2 ln(2.5/delta)).
    """
    form = corrected_sensitivity if corrected else printed_sensitivity
    sensitivity = form(schedule, certificate.pair_lipschitz, certificate.size.n, budget.delta / 2.0)
    scale = sensitivity * classic_factor(Budget(budget.epsilon, budget.delta / 2.0), "gaussian")
    where = f"{REFERENCE}, equation (5), {'corrected' if corrected else 'as printed'}"
    return published_plan("gaussian", sensitivity, scale, needed, dimension, budget, where)


def published_schedule(risk: PairRisk[Any], certificate: Certificate) -> tuple[int, float]:
    """T = n^2 and eta of the order n^(-3/2) (Theorems 2, 5); on all of space n^(4/3) and n^-1 (Theorem 3).

    In units of a useful length over G, which the order leaves open.
    """
    n, unit = certificate.size.n, risk.span / certificate.pair_lipschitz
    if isinstance(risk.constraint, Free):
        return math.ceil(n ** (4.0 / 3.0)), unit / n
    return n * n, unit * n**-1.5
