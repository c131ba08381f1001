"""What the simulations of Yang, Lei, Lyu and Ying (2021) measure, each a function of a place and a seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.algorithms import DPSGD, SGDOutput
from diptych.algorithms.descent import Descent, Schedule
from diptych.algorithms.paper_sgd_output import published_schedule
from diptych.algorithms.sgd_output import result, sequence_of
from diptych.experiments.series import LOSSES, WITHIN
from diptych.experiments.simulated import Population
from diptych.noise import BitSource, SeededBits, draw_indices
from diptych.risks import MetricRisk, PairTable, RankingRisk
from diptych.sets import ConvexSet, Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import Adjacency, Budget

Array = NDArray[np.float64]

HINGE = LOSSES["hinge"]
RANKED = Population(4000, 5, apart=0.5, spread=0.5)
RADIUS, EPSILON = 2.0, 2.0
STABLE_N, STABLE_STEP = 200, 200**-1.5
SURE = 0.01  # gamma of Theorem 1
TRIALS = 8
METRIC_N, METRIC_EPSILON = 200, 4.0
METRIC_BATCHES = {"dp-sgd": DPSGD(), "dp-sgd on a quarter a step": DPSGD(METRIC_N // 4)}
WEIGHTED_PAIRS = 2000
GAUSSIAN = "gaussian"


def stability(steps: float, seed: int) -> Mapping[str, float]:
    """How far replacing the record that is drawn most moves the mean: the farthest of some trials, and the bounds."""
    rng, source, out = np.random.default_rng(seed), SeededBits(seed), {}
    draws = draw_indices(STABLE_N, int(steps), source)
    for name in ("hinge", "smoothed-hinge"):
        risk = RankingRisk(LOSSES[name], 0.0, L2Ball(RADIUS))
        table = RANKED.draw(risk, STABLE_N, rng)
        plan = _plan(SGDOutput(int(steps), STABLE_STEP, GAUSSIAN), risk, table, draws, Budget(1.0, 1e-6))
        assert plan.noise is not None
        here, place = result(plan, table, draws), int(np.bincount(draws, minlength=STABLE_N).argmax())
        moves = [float(np.linalg.norm(result(plan, one, draws) - here)) for one in _neighbours(table, place, rng)]
        out[f"{name}, measured"] = max(moves)
        out[f"{name}, realised bound"] = plan.noise.sensitivity
    out["Theorem 1 (hinge)"] = theorem_1(Schedule(int(steps), STABLE_STEP), 2.0, STABLE_N, SURE)
    return out


def theorem_1(schedule: Schedule, lipschitz: float, n: int, failure: float) -> float:
    """Equation (3): 2 eta G sqrt(e (t + ln(et)^2 (t/n + ln(1/gamma) + sqrt(t ln(1/gamma)/n))^2))."""
    t, rare = float(schedule.steps), math.log(1.0 / failure)
    drawn = t / n + rare + math.sqrt(t * rare / n)
    return 2.0 * schedule.step_size * lipschitz * math.sqrt(math.e * (t + ((1.0 + math.log(t)) * drawn) ** 2))


def _neighbours(table: PairTable, place: int, rng: np.random.Generator) -> list[PairTable]:
    """Replace one record by its opposite, and by random ones on the sphere, of either label."""
    rows = [-table.X[place], *rng.normal(size=(TRIALS // 2 - 1, table.d))]
    out = []
    for row in rows:
        for label in (True, False):
            X, positive = table.X.copy(), table.positive.copy()
            X[place], positive[place] = row / np.linalg.norm(row), label
            out.append(PairTable(X, positive))
    return out


def excess_risk(n: float, seed: int) -> Mapping[str, float]:
    """Excess risk of Algorithms 1 and 2 by the schedules of Theorems 2, 3 and 5, on tables of n records."""
    rng, source, size = np.random.default_rng(seed), SeededBits(seed), int(n)
    table = RANKED.draw(RankingRisk(HINGE), size, rng)
    ball, free = (RankingRisk(HINGE, 0.0, held) for held in (L2Ball(RADIUS), Free()))
    budget = Budget(EPSILON, 1.0 / n**2)
    plans, draws = _plans(ball, table, budget, source)
    mean = result(plans["realised"], table, draws)
    out = {"Algorithm 1": RANKED.excess(ball, mean)}
    for name, plan in plans.items():
        assert plan.noise is not None
        w = ball.constraint.project(plan.noise.add(mean, source))
        out[f"Algorithm 2, {name}"] = RANKED.excess(ball, w)
    steps, step = published_schedule(free, free.certificate(table.size(Adjacency.REPLACE), table.d))
    draws = draw_indices(size, steps, source)
    open_plan = _plan(SGDOutput(steps, step), free, table, draws, Budget(math.inf))
    out["Algorithm 1, no radius"] = RANKED.excess(ball, result(open_plan, table, draws))
    return out


def _plans(risk: Any, table: Any, budget: Budget, source: BitSource) -> tuple[dict[str, Descent], NDArray[np.intp]]:
    """Return the plans of Algorithm 2, by whose noise, along one sequence and with the steps of the paper."""
    certificate = risk.certificate(table.size(risk.adjacency), table.d)
    steps, step = published_schedule(risk, certificate)
    draws = draw_indices(table.n, steps, source)
    kinds = {
        "realised": (SGDOutput(steps, step, GAUSSIAN), "defended"),
        "corrected": (SGDOutput(steps, step, corrected=True), "paper"),
        "as printed": (SGDOutput(steps, step), "paper"),
    }
    return {name: _plan(how, risk, table, draws, budget, constants) for name, (how, constants) in kinds.items()}, draws


def _plan(
    how: SGDOutput, risk: Any, table: Any, draws: NDArray[np.intp], budget: Budget, constants: str = "defended"
) -> Descent:
    size = table.size(risk.adjacency)
    return how.plan(risk, size, table.d, budget, sequence_of(draws, table, size), constants)


def noise_scale(n: float, seed: int) -> Mapping[str, float]:
    """The noise of Algorithm 2 at the paper's schedule, by whose constants: nothing of a table enters."""
    risk = RankingRisk(HINGE, 0.0, L2Ball(RADIUS))
    table = RANKED.draw(risk, int(n), np.random.default_rng(seed))
    plans, _ = _plans(risk, table, Budget(EPSILON, 1.0 / n**2), SeededBits(seed))
    return {name: plan.noise.scale for name, plan in plans.items() if plan.noise is not None}


def rademacher(d: float, seed: int) -> Mapping[str, float]:
    """The Rademacher averages of pairs over both unit balls: the dual norms of a signed mean of dyads.

    Of one record against others, as the definition (4) has it, and of pairs without a record in common.
    """
    rng, order, out = np.random.default_rng(seed), int(d), {}
    others, signs = rng.normal(size=(WEIGHTED_PAIRS, order)), rng.choice([-1.0, 1.0], size=WEIGHTED_PAIRS)
    for name, record in (("one record", rng.normal(size=order)), ("disjoint", rng.normal(size=others.shape))):
        apart = others - record
        mean = apart.T @ (signs[:, None] * apart) / WEIGHTED_PAIRS
        out[f"nuclear norm, {name}"] = float(np.abs(np.linalg.eigvalsh(mean)).max())
        out[f"Frobenius norm, {name}"] = float(np.linalg.norm(mean))
    return out


def metric_excess(d: float, seed: int) -> Mapping[str, float]:
    """Excess risk of hinge metric learning, one feature of d being relevant, on either set."""
    population, out = Population(800, int(d), apart=1.2, spread=0.6), {}
    for name, held in (("nuclear norm", PSDTraceBall(1.0)), ("Frobenius norm", PSDFrobeniusBall(1.0))):
        risk = _metric_risk(held)
        table = population.draw(risk, METRIC_N, np.random.default_rng(seed))
        source = SeededBits(seed)
        steps, step = published_schedule(risk, risk.certificate(table.size(WITHIN), table.d))
        draws = draw_indices(METRIC_N, steps, source)
        budget = Budget(METRIC_EPSILON, METRIC_N**-2.0)
        plan = _plan(SGDOutput(steps, step, GAUSSIAN), risk, table, draws, budget)
        assert plan.noise is not None
        mean = result(plan, table, draws)
        out[f"{name}, Algorithm 1"] = population.excess(risk, mean)
        noisy = risk.constraint.project(plan.noise.add(mean, source))
        out[f"{name}, Algorithm 2"] = population.excess(risk, noisy)
        for which, how in METRIC_BATCHES.items():
            out[f"{name}, {which}"] = population.excess(risk, how.run(risk, table, budget, source).coef)
    return out


def _metric_risk(held: ConvexSet) -> MetricRisk:
    """Problem (11)."""
    assert isinstance(held, PSDTraceBall | PSDFrobeniusBall)
    return MetricRisk(HINGE, 0.0, held, WITHIN, offset=0.0)
