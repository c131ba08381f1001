"""How near adversarial searches come to the claimed sensitivities: the tables of docs/results/sensitivity.md."""

from __future__ import annotations

from diptych import Adjacency, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.audit import search_gradient, search_minimiser
from diptych.losses import Loss
from diptych.risks import RankingRisk
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


if __name__ == "__main__":
    gradients()
    minimisers()
