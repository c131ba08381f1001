"""How near adversarial searches come to the claimed sensitivities: the tables of docs/results/sensitivity.md."""

from __future__ import annotations

import math

from diptych import Adjacency, Budget, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.algorithms.objective_perturbation import FINISH, ObjectivePerturbation
from diptych.audit import search_densities, search_determinant, search_gradient, search_minimiser
from diptych.losses import Loss
from diptych.risks import RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import TableSize

LOSSES: tuple[Loss, ...] = (
    Logistic(),
    Logistic(1.0, 0.5),
    Squared(),
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(),
    SmoothedHinge(1.0, 0.1),
)
LAMBDAS = (0.02, 0.2, 1.0, 10.0)


def size_of(adjacency: Adjacency, n: int, positives: int) -> TableSize:
    return TableSize(n, positives if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)


def name_of(loss: Loss) -> str:
    return f"{loss.name} ({loss.margin:g}, {loss.temperature:g})"


def gradients() -> None:
    print("Gradient: reached / claimed, least and greatest over n = 2, 4, 5, d = 1, 2, 3 and lambda = 0.05, 2\n")
    print("| loss (margin, temperature) | " + " | ".join(Adjacency) + " |\n| --- | --- | --- |")
    for loss in LOSSES:
        row = []
        for adjacency in Adjacency:
            ratios = [
                search_gradient(
                    RankingRisk(loss, lam, adjacency=adjacency), size_of(adjacency, n, k), d, seed=0, rounds=800
                ).ratio
                for lam in (0.05, 2.0)
                for n, k in ((2, 1), (4, 1), (5, 2))
                for d in (1, 2, 3)
            ]
            row.append(f"{min(ratios):.4f} to {max(ratios):.4f}")
        print(f"| {name_of(loss)} | {' | '.join(row)} |", flush=True)


def minimisers() -> None:
    print("\nMinimiser: reached / claimed, in the plane; n = 3 (one positive where labels are public), then n = 24\n")
    print("| loss (margin, temperature) | adjacency | " + " | ".join(f"lambda = {lam:g}" for lam in LAMBDAS) + " |")
    print("| --- | --- |" + " --- |" * len(LAMBDAS))
    for loss in LOSSES:
        if not loss.differentiable:
            continue
        for adjacency in Adjacency:
            row = []
            for lam in LAMBDAS:
                risk = RankingRisk(loss, lam, adjacency=adjacency)
                small = search_minimiser(risk, size_of(adjacency, 3, 1), 2, seed=0, batch=8, rounds=60)
                large = search_minimiser(risk, size_of(adjacency, 24, 4), 2, seed=0, batch=8, rounds=150)
                row.append(f"{small.ratio:.3f}, {large.ratio:.3f}")
            print(f"| {name_of(loss)} | {adjacency} | {' | '.join(row)} |", flush=True)


STIFFNESS = (10.0, 1.0, 0.3, 0.05)


def determinants() -> None:
    print("\nDeterminant of the Hessian: reached / claimed, least over n = 2, 4, 5 and d = 1, 2, 3\n")
    print("| loss (margin, temperature) | adjacency | " + " | ".join(f"ridge = {x:g} t" for x in STIFFNESS) + " |")
    print("| --- | --- |" + " --- |" * len(STIFFNESS))
    for loss in LOSSES:
        if not loss.differentiable:
            continue
        held = Free() if math.isfinite(loss.slope_bound(math.inf)) else L2Ball(1.0)
        for adjacency in Adjacency:
            risk, row = RankingRisk(loss, 0.5, held, adjacency), []
            for stiffness in STIFFNESS:
                ratios = []
                for n, k in ((2, 1), (4, 1), (5, 2)):
                    size = size_of(adjacency, n, k)
                    share = risk.certificate(size, tilt=math.inf).curvature_share
                    ratios += [
                        search_determinant(risk, size, d, stiffness * share, seed=0, rounds=800).ratio
                        for d in (1, 2, 3)
                    ]
                row.append(f"{min(ratios):.4f}")
            print(f"| {name_of(loss)} | {adjacency} | {' | '.join(row)} |", flush=True)


LAWS = (("laplace", Budget(1.5)), ("norm-laplace", Budget(1.5)), ("gaussian", Budget(1.5, 1e-2)))
RIDGES = (1.0, 10.0, 100.0)


def densities() -> None:
    print("\nObjective perturbation on the line: what the densities of neighbours spend / the budget; n = 3\n")
    heads = [f"{noise}, lambda = {lam:g}" for noise, _ in LAWS for lam in RIDGES]
    print(
        "| loss (margin, temperature) | adjacency | " + " | ".join(heads) + " |\n| --- | --- |" + " --- |" * len(heads)
    )
    for loss in LOSSES:
        if not loss.differentiable:
            continue
        for adjacency in Adjacency:
            row, size = [], size_of(adjacency, 3, 1)
            for noise, budget in LAWS:
                for lam in RIDGES:
                    plan = ObjectivePerturbation(noise).plan(
                        RankingRisk(loss, lam, adjacency=adjacency), size, 1, budget
                    )
                    epsilon, delta = (1.0 - FINISH) * budget.epsilon, (1.0 - FINISH) * budget.delta
                    found = search_densities(plan.risk, size, 1, plan.tilt, epsilon, seed=0, rounds=400)
                    row.append(f"{found.largest / epsilon if budget.pure else found.divergence / delta:.3f}")
            print(f"| {name_of(loss)} | {adjacency} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    gradients()
    minimisers()
    determinants()
    densities()
