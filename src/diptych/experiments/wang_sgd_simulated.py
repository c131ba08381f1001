"""What the simulations of Wang, Lei, Ying and Zhou (2024) measure, each a function of a place and a seed.

Their tables come from ``simulated_linear.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from diptych.algorithms import DPSGD, UnsuitableError
from diptych.algorithms.batch_descent import Plan
from diptych.algorithms.batches import pair_weight
from diptych.experiments.simulated_linear import FEATURES, LARGEST_LABEL, Problem
from diptych.losses import Logistic, SmoothedHinge, Squared, SquaredError
from diptych.noise import SeededBits
from diptych.risks import PointRisk, RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import Budget, TableSize

RECORDS, STEPS, STEP = 5000, 1000, 0.01
NUMBER_KAPPAS, CLASS_KAPPAS = (0.0, 0.1, 0.15), (0.0, 0.4, 0.6)
OPEN, PUBLISHED, ACCOUNTANT, BATCHES = "no noise", "paper's noise", "accountant's noise", "mini-batches"
KINDS = (PUBLISHED, ACCOUNTANT, BATCHES, OPEN)
QUIET, LOUD = "low noise", "noisy"
GAP, WIDE = 0.2, 1.5  # of the classes that a ranking of finite length separates, and the kappa that mixes them
RISK_EPSILON = 4.0


FIGURES: dict[str, tuple[Problem, ...]] = {
    name: tuple(Problem(risk, kappa) for kappa in kappas)
    for name, risk, kappas in (
        ("figure-1", PointRisk(SquaredError(), 0.0, L2Ball(1.0), labels=LARGEST_LABEL), NUMBER_KAPPAS),
        ("figure-2", PointRisk(Logistic(), 0.0, Free()), CLASS_KAPPAS),
        ("pairs-squared", RankingRisk(Squared(), 0.0, L2Ball(1.0)), CLASS_KAPPAS),
        ("pairs-logistic", RankingRisk(Logistic(), 0.0, Free()), CLASS_KAPPAS),
    )
}
POINTS_IN_N = {QUIET: FIGURES["figure-1"][0], LOUD: FIGURES["figure-1"][-1]}
PAIRS_IN_N = {
    name: Problem(RankingRisk(SmoothedHinge(1.0, 0.5), 0.0, L2Ball(3.0)), kappa, GAP)
    for name, kappa in ((QUIET, 0.0), (LOUD, WIDE))
}
SCHEDULES = {QUIET: "low-noise", LOUD: "general"}


def label(kind: str, kappa: float) -> str:
    """Return the name of a line of a figure against epsilon."""
    return f"{kind}, κ = {kappa:g}"


def published(risk: PointRisk | RankingRisk, steps: int | str, step: float | str) -> DPSGD:
    """Return Algorithm 1 or 2; a step given as a number is in the paper's unit, the gradient of one point or pair."""
    if isinstance(risk, PointRisk):
        return DPSGD(1, "uniform", steps, step, average="all")
    if not isinstance(step, str):
        step /= pair_weight(risk, TableSize(RECORDS)) * RECORDS * (RECORDS - 1.0) / 2.0
    return DPSGD(2, "uniform", steps, step, average="all")


@lru_cache(maxsize=512)
def plan_of(risk: PointRisk | RankingRisk, how: DPSGD, n: int, epsilon: float, constants: str) -> Plan | None:
    """Plan for delta = 1/n^2; None where published constants have no beta."""
    budget = Budget(epsilon, float(n) ** -2.0 if math.isfinite(epsilon) else 0.0)
    try:
        return how.plan(risk, TableSize(n), FEATURES, budget, constants)
    except UnsuitableError:
        return None


def _runs(how: DPSGD, epsilon: float) -> Iterator[tuple[str, DPSGD, float, str]]:
    """Yield each kind of line: how it descends, with which budget and constants."""
    yield PUBLISHED, how, epsilon, "paper"
    yield ACCOUNTANT, how, epsilon, "defended"
    yield BATCHES, DPSGD(), epsilon, "defended"
    yield OPEN, how, math.inf, "defended"


def _against_epsilon(name: str, epsilon: float, seed: int) -> Mapping[str, float]:
    """Errors of one figure: for each kappa a fresh table, on which all kinds of lines run."""
    rng, source, out = np.random.default_rng(seed), SeededBits(seed), {}
    for problem in FIGURES[name]:
        table = problem.draw(RECORDS, rng)
        for kind, how, budget, constants in _runs(published(problem.risk, STEPS, STEP), epsilon):
            plan = plan_of(problem.risk, how, RECORDS, budget, constants)
            w = None if plan is None else how.result(plan, table, source)
            out[label(kind, problem.kappa)] = math.nan if w is None else problem.error(w)
    return out


def figure_1(epsilon: float, seed: int) -> Mapping[str, float]:
    """Mean square errors of Algorithm 1 with least squares."""
    return _against_epsilon("figure-1", epsilon, seed)


def figure_2(epsilon: float, seed: int) -> Mapping[str, float]:
    """Misclassification rates of Algorithm 1 with the logistic loss."""
    return _against_epsilon("figure-2", epsilon, seed)


def pairs_squared(epsilon: float, seed: int) -> Mapping[str, float]:
    """Shares of pairs in the wrong order, by Algorithm 2 with least squares."""
    return _against_epsilon("pairs-squared", epsilon, seed)


def pairs_logistic(epsilon: float, seed: int) -> Mapping[str, float]:
    """Shares of pairs in the wrong order, by Algorithm 2 with the logistic loss."""
    return _against_epsilon("pairs-logistic", epsilon, seed)


def _against_n(problems: Mapping[str, Problem], n: float, seed: int) -> Mapping[str, float]:
    """Excess risks by the schedules of the theorems, T = n."""
    rng, source, out = np.random.default_rng(seed), SeededBits(seed), {}
    for name, problem in problems.items():
        table = problem.draw(int(n), rng)
        for kind, how, budget, constants in _runs(published(problem.risk, "auto", SCHEDULES[name]), RISK_EPSILON):
            plan = plan_of(problem.risk, _same_steps(problem, how, int(n), budget), int(n), budget, constants)
            w = None if plan is None else how.result(plan, table, source)
            out[f"{name}, {kind}"] = math.nan if w is None else problem.excess(w)
    return out


def _same_steps(problem: Problem, how: DPSGD, n: int, budget: float) -> DPSGD:
    """Return the descent; without privacy, with the steps that it takes with privacy."""
    if math.isfinite(budget):
        return how
    private = plan_of(problem.risk, how, n, RISK_EPSILON, "defended")
    assert private is not None
    return DPSGD(how.batch, how.sampling, private.steps, private.step_size, how.average)


def excess_of_points(n: float, seed: int) -> Mapping[str, float]:
    """Excess risks of Algorithm 1 with least squares, Theorem 3."""
    return _against_n(POINTS_IN_N, n, seed)


def excess_of_pairs(n: float, seed: int) -> Mapping[str, float]:
    """Excess risks of Algorithm 2 with the smoothed hinge, Theorem 6."""
    return _against_n(PAIRS_IN_N, n, seed)


def noise_scales(epsilon: float, seed: int) -> Mapping[str, float]:  # noqa: ARG001
    """The noise a step in units of G, by whose account: nothing of a table enters."""
    out = {}
    for name, risk in (("points", FIGURES["figure-2"][0].risk), ("pairs", FIGURES["pairs-logistic"][0].risk)):
        how = published(risk, STEPS, STEP)
        for kind, constants in ((PUBLISHED, "paper"), (ACCOUNTANT, "defended")):
            plan = plan_of(risk, how, RECORDS, epsilon, constants)
            if plan is None or plan.noise is None:
                out[f"{kind}, {name}"] = math.nan
                continue
            steepest = plan.risk.certificate(TableSize(RECORDS), tilt=math.inf).pair_lipschitz * plan.batches.mass
            out[f"{kind}, {name}"] = plan.noise.scale / steepest
    return out
