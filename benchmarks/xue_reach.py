"""How far the printed figures of Xue et al. (2021) on Retinopathy lie beyond what honest noise leaves to learn.

Prints the tables of docs/results/xue/reach.md: in each cell the best of many settings of this library, chosen with
hindsight by its test score (which no private analysis can do, and which flatters it), beside the printed figure and
the best of the same settings without noise. Labels public, public scaling, delta = 1/n or 0, 20 splits.
Usage: python benchmarks/xue_reach.py DATA_FOLDER
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from diptych import Adjacency, Budget, Directions, GDOutput, Hinge, Logistic, NoisyGD, SmoothedHinge
from diptych.algorithms import ObjectivePerturbation, OutputPerturbation
from diptych.experiments.descents import components
from diptych.experiments.readers import find_sources
from diptych.experiments.workbench import Split, Workbench, auc, neighbour_accuracy
from diptych.experiments.xue_published import TABLE_2, TABLE_4
from diptych.losses import Loss
from diptych.noise import bit_source
from diptych.risks import MetricRisk, MetricTable, RankingRisk

DATASET, SPLITS = "diabetic_retinopathy", 20
WITHIN = Adjacency.REPLACE_WITHIN_CLASS
SHIFTED, ROUNDED = Logistic(1.0, 0.5), SmoothedHinge(1.0, 0.5)


@dataclass(frozen=True)
class Setting:
    """An algorithm, a loss and lambda."""

    algorithm: Any
    loss: Loss
    lam: float = 0.0


def rankings(pure: bool) -> Iterator[Setting]:
    if not pure:
        sizes = product((Hinge(), ROUNDED, SHIFTED), (5, 10, 20, 40), (1.0, 2.0, 5.0))
        yield from (Setting(NoisyGD(steps, size), loss) for loss, steps, size in sizes)
    for loss, lam in product((SHIFTED, ROUNDED, Logistic(2.0, 1.0)), (0.03, 0.1, 0.3, 1.0, 3.0)):
        yield from (Setting(one, loss, lam) for one in (OutputPerturbation(), ObjectivePerturbation(), GDOutput()))


def metrics(pure: bool) -> Iterator[Setting]:
    losses = (SHIFTED, ROUNDED) if pure else (Hinge(), SHIFTED)
    for loss, stretch, steps in product(losses, (1.5, 2.0, 3.0, 5.0), ("auto", 5, 20)):
        yield Setting(Directions(stretch, steps, "auto" if pure else 2.0), loss, 3.0 if pure else 0.0)


def score(setting: Setting, split: Split, budget: Budget, seed: int) -> float:
    """Test AUC, for directions the accuracy of neighbours; nan where the setting does not suit the budget."""
    try:
        if isinstance(setting.algorithm, Directions):
            risk, table = (
                MetricRisk(setting.loss, setting.lam, adjacency=WITHIN),
                MetricTable(split.train.X, split.train.codes),
            )
            w = setting.algorithm.run(risk, table, budget, bit_source(seed)).coef
            return neighbour_accuracy(components(w), split.train, split.test)
        risk = RankingRisk(setting.loss, setting.lam, adjacency=WITHIN)
        w = setting.algorithm.run(risk, split.train, budget, bit_source(seed)).coef
        return auc(split.test.scores(w), split.test.positive)
    except ValueError:
        return math.nan


def row(settings: list[Setting], splits: list[Split], budget: Budget, printed: float) -> str:
    scores = np.array([[score(one, split, budget, k) for k, split in enumerate(splits)] for one in settings])
    best = int(np.nanargmax(scores.mean(axis=1)))
    openly = [[score(one, split, Budget(math.inf), k) for k, split in enumerate(splits)] for one in settings]
    here, free = scores[best], max(float(np.mean(one)) for one in openly)
    error = here.std(ddof=1) / math.sqrt(SPLITS)
    distance = (printed - here.mean()) / error
    words = f"{settings[best].algorithm}, {settings[best].loss}, λ = {settings[best].lam:g}".replace("_", " ")
    for default in ("steps='auto', step size='auto'", "noise='auto'", "margin=1.0, temperature=1.0"):
        words = words.replace(default, "").replace(", )", ")")
    return f"{printed:.3f} | {here.mean():.3f} ± {error:.3f} | {distance:+.1f} | {free:.3f} | {words} |"


def main(folder: Path) -> None:
    source = find_sources(folder, (DATASET,))[DATASET]
    bench = Workbench(source, "public")
    heads = (
        "best printed | best with hindsight | printed less it, in standard errors | best without noise | its setting"
    )
    for title, table, settings in (
        ("Table 4, AUC", TABLE_4, rankings),
        ("Table 2, accuracy of neighbours", TABLE_2, metrics),
    ):
        cells = [p for p in table if p.dataset == DATASET and not p.line.startswith("non-private")]
        print(f"\n**{title}**\n\n| notion | ε | n | {heads} |\n|{' --- |' * 8}", flush=True)
        for notion, epsilon, size in dict.fromkeys((p.notion, p.epsilon, p.size) for p in cells):
            printed = max(p.value for p in cells if (p.notion, p.epsilon, p.size) == (notion, epsilon, size))
            pure = notion == "ε-DP"
            splits = [bench.split(k, size) for k in range(SPLITS)]
            budget = replace(Budget(epsilon), delta=0.0 if pure else 1.0 / size)
            print(
                f"| {notion} | {epsilon:g} | {size} | {row(list(settings(pure)), splits, budget, printed)}", flush=True
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
