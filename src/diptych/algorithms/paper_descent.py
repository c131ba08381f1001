"""Published constants and schedules of Xue, Yang, Huai and Wang (2021), for comparison only.

With G the Lipschitz constant of one pair's loss, their gradient moves by 4 G/n between neighbours: twice G times the
share of the pairs that one record is in. That share, 2/n for a mean over all pairs, is the risk's own here,
so that ranking risks (whose pairs of one class are left out) fit in.
"""

from __future__ import annotations

import math
from typing import Any

from diptych.accounting import NoisePlan
from diptych.algorithms.descent import Schedule
from diptych.algorithms.published import classic_factor, published_plan
from diptych.risks import Certificate, PairRisk, Risk
from diptych.spec import Budget

REFERENCE = "Xue et al. 2021"


def law(budget: Budget) -> str:
    """Return the law of output noise: coordinate Laplace for delta = 0."""
    return "laplace" if budget.pure else "gaussian"


def kick(risk: Risk[Any], certificate: Certificate) -> float:
    """4 G/n. ``check_paper`` refuses all but pairs."""
    assert isinstance(risk, PairRisk)
    return 2.0 * certificate.pair_lipschitz * risk.pair_share(certificate.size)


def output_plan(
    sensitivity: float, needed: float, dimension: int, budget: Budget, where: str
) -> tuple[NoisePlan, bool]:
    """Return noise on a vector of that published sensitivity, and whether it is enough for the defended one."""
    name = law(budget)
    wide = sensitivity * (math.sqrt(dimension) if name == "laplace" else 1.0)
    scale = wide * classic_factor(budget, name)
    return published_plan(name, wide, scale, needed, dimension, budget, f"{REFERENCE}, {where}")


def output_steps(certificate: Certificate, length: float) -> int:
    """T = (L/alpha) log n of Theorem 1; for Algorithm 4, which names none, as many as reach 1/sqrt(n)."""
    n, lam = certificate.size.n, certificate.strong_convexity
    if lam > 0:
        return max(1, math.ceil(certificate.smoothness / lam * math.log(n)))
    return max(1, math.ceil(math.sqrt(n) / length))


def gd_output(
    risk: Risk[Any], certificate: Certificate, schedule: Schedule, needed: float, dimension: int, budget: Budget
) -> tuple[NoisePlan, bool]:
    """Algorithm 1: 8 G/(alpha n); Algorithm 4: 4 G T eta/n."""
    one, lam = kick(risk, certificate), certificate.strong_convexity
    sensitivity = 2.0 * one / lam if lam > 0 else schedule.steps * schedule.step_size * one
    where = "Algorithm 1" if lam > 0 else "Algorithm 4"
    return output_plan(sensitivity, needed, dimension, budget, where)


def noisy_schedule(risk: Risk[Any], certificate: Certificate, features: int, budget: Budget) -> tuple[int, float]:
    """T = min(n, (n epsilon)^2/(d log 1/delta)) and eta = ||C||/(G sqrt T), as the proof of Theorem 2 has it.

    The theorem's own eta, G/(||C|| sqrt T), does not have the dimension of a step. Steps are at most 1/(2L) long.
    """
    n, d = certificate.size.n, risk.dimension(features)
    steps = n
    if budget.private:
        steps = max(1, min(n, math.floor((n * budget.epsilon) ** 2 / (d * math.log(1.0 / budget.delta)))))
    length = risk.constraint.diameter / (certificate.pair_lipschitz * math.sqrt(steps))
    return steps, min(length, 0.5 / certificate.smoothness)


def noisy_gd(
    risk: Risk[Any],
    certificate: Certificate,
    schedule: Schedule,
    together: float,
    dimension: int,
    budget: Budget,
) -> tuple[NoisePlan, bool]:
    """Algorithm 2: sigma = 4 G sqrt(1.25 T log(1/delta))/(n epsilon)."""
    sensitivity = math.sqrt(schedule.steps) * kick(risk, certificate)
    scale = sensitivity * math.sqrt(1.25 * math.log(1.0 / budget.delta)) / budget.epsilon
    return published_plan("gaussian", sensitivity, scale, together, dimension, budget, f"{REFERENCE}, Algorithm 2")


def epoch_step(risk: Risk[Any], certificate: Certificate, features: int, budget: Budget) -> float:
    """Theorem 3: eta = (||C||/G) min{4/sqrt(n), epsilon/sqrt(d log 1/delta)}; epsilon/d for delta = 0."""
    n, d = certificate.size.n, risk.dimension(features)
    noisy = math.inf
    if budget.private:
        noisy = budget.epsilon / (d if budget.pure else math.sqrt(d * math.log(1.0 / budget.delta)))
    return risk.constraint.diameter / certificate.pair_lipschitz * min(4.0 / math.sqrt(n), noisy)


def epoch_noise(
    risk: Risk[Any], certificate: Certificate, schedule: Schedule, needed: float, dimension: int, budget: Budget
) -> tuple[NoisePlan, bool]:
    """Algorithm 3: 4 G eta_i, as T_i = n_i steps on n_i records."""
    sensitivity = schedule.steps * schedule.step_size * kick(risk, certificate)
    return output_plan(sensitivity, needed, dimension, budget, "Algorithm 3")
