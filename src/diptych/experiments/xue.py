"""Xue, Yang, Huai and Wang (2021), "Differentially Private Pairwise Learning Revisited": Tables 2 to 4, Figures 1 to 4.

Their lines with their constants and with ours, the line that their baselines are built on, and a setting of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diptych.algorithms import Directions, GDOutput, NoisyGD
from diptych.experiments.protocol import APPROXIMATE_N, PURE, WITHIN, Experiment, Notion, Series
from diptych.experiments.series import DIRECTIONS, EPOCHS, EUCLIDEAN, GD, METRIC, NOISY, ONLINE, OURS, RANKING
from diptych.experiments.xue_published import (
    SIZES,
    TABLE_2,
    TABLE_3,
    TABLE_3_EPSILONS,
    TABLE_4,
    TABLE_4_EPSILONS,
)
from diptych.spec import Adjacency

REFERENCE = "Xue, Yang, Huai and Wang (2021), Differentially Private Pairwise Learning Revisited"
DATASETS = ("pima", "diabetic_retinopathy")
LAMBDA = {RANKING: 1e-3, METRIC: 1e-2}
RADIUS = 1.0
ACCURACY = "accuracy of 3 nearest neighbours"

STRONGLY = (("OffPairStrC", ONLINE), ("DPGDSC", GD))
CONVEX = (("OffPairC", ONLINE), ("DPGDC2", NOISY), ("DPEGD", EPOCHS))
ONLY: dict[str, tuple[Notion, ...]] = {NOISY: (APPROXIMATE_N,)}  # its noise is Gaussian
UNPUBLISHED = (ONLINE,)  # whose constants no paper at hand states


def _published(task: str, lines: tuple[tuple[str, str], ...], lam: float) -> Iterator[Series]:
    """Yield every line with the paper's constants, with ours, and with ours where labels are public."""
    kinds = (("paper", Adjacency.REPLACE), ("defended", Adjacency.REPLACE), ("defended", WITHIN))
    for line, algorithm in lines:
        for constants, adjacency in kinds:
            if constants == "defended" or algorithm not in UNPUBLISHED:
                yield Series(
                    algorithm,
                    "logistic",
                    constants,
                    adjacency,
                    RADIUS,
                    task=task,
                    line=line,
                    regularization=lam,
                    notions=ONLY.get(algorithm, ()),
                )


def _open(task: str, line: str, algorithm: str, lam: float, constants: str = "defended") -> Series:
    """Return a line without noise."""
    fixed = (algorithm, "logistic", constants, Adjacency.REPLACE, RADIUS)
    return Series(*fixed, task=task, line=line, regularization=lam, private=False)


def strongly_convex(task: str) -> tuple[Series, ...]:
    """Return the lines of the strongly convex case."""
    lam = LAMBDA[task]
    return (
        _open(task, "non-private, strongly convex", ONLINE, lam),
        _open(task, "DPGDSC without noise", GD, lam, "paper"),
        *_published(task, STRONGLY, lam),
    )


def convex(task: str) -> tuple[Series, ...]:
    """Return the lines of the general convex case."""
    return (_open(task, "non-private, convex", ONLINE, 0.0), *_published(task, CONVEX, 0.0))


def ours(task: str) -> tuple[Series, ...]:
    """Return our one setting for all cells of a task: one algorithm a notion, for either adjacency."""
    noisy = Series(NOISY, "hinge", how=NoisyGD(steps=20, step_size=2.0), regularization=0.0)
    pure = Series(GD, "shifted-logistic", how=GDOutput(), regularization=3.0)
    if task == METRIC:
        noisy, pure = (replace(one, algorithm=DIRECTIONS, radius=RADIUS, how=Directions()) for one in (noisy, pure))
    return tuple(
        replace(series, task=task, line=OURS, notions=(notion,), adjacency=adjacency)
        for adjacency in (Adjacency.REPLACE, WITHIN)
        for notion, series in ((APPROXIMATE_N, noisy), (PURE, pure))
    )


NEIGHBOURS = (_open(METRIC, "Euclidean", EUCLIDEAN, 0.0),)
METRICS = (*NEIGHBOURS, *strongly_convex(METRIC), *convex(METRIC), *ours(METRIC))
RANKINGS = (*strongly_convex(RANKING), *convex(RANKING), *ours(RANKING))
NOTIONS = (APPROXIMATE_N, PURE)
ONLINE_CONSTANTS = (
    "OffPairStrC and OffPairC with published constants: the paper describes them without any; they run with ours"
)
PICTURES = "the printed curves: the figures are pictures without numbers"

TABLE_2_ENTRY = Experiment(
    name="table-2",
    title="Metric learning: accuracy against the training size, ε = 1",
    source=f"{REFERENCE}, Table 2",
    datasets=DATASETS,
    series=METRICS,
    notions=NOTIONS,
    epsilons=(1.0,),
    repeats=20,
    kind="table",
    axis="size",
    sizes=SIZES,
    optimum=False,
    measure=ACCURACY,
    published=TABLE_2,
    uncovered=(ONLINE_CONSTANTS,),
)
TABLE_3_ENTRY = Experiment(
    name="table-3",
    title="Metric learning: accuracy against ε, n = 128",
    source=f"{REFERENCE}, Table 3 (n = 128 by its caption; the text of the paper says 512)",
    datasets=DATASETS,
    series=METRICS,
    notions=NOTIONS,
    epsilons=TABLE_3_EPSILONS,
    repeats=20,
    kind="table",
    sizes=(128,),
    optimum=False,
    measure=ACCURACY,
    published=TABLE_3,
    uncovered=(ONLINE_CONSTANTS,),
)
TABLE_4_ENTRY = Experiment(
    name="table-4",
    title="AUC against ε, n = 256",
    source=f"{REFERENCE}, Table 4",
    datasets=DATASETS,
    series=RANKINGS,
    notions=NOTIONS,
    epsilons=TABLE_4_EPSILONS,
    repeats=20,
    kind="table",
    sizes=(256,),
    optimum=False,
    published=TABLE_4,
    uncovered=(ONLINE_CONSTANTS,),
)
FIGURES_1_AND_3 = Experiment(
    name="figures-1-3",
    title="AUC against the training size, ε = 0.8, strongly convex",
    source=f"{REFERENCE}, Figures 1 and 3",
    datasets=DATASETS,
    series=(*strongly_convex(RANKING), *ours(RANKING)),
    notions=NOTIONS,
    epsilons=(0.8,),
    repeats=20,
    axis="size",
    sizes=SIZES,
    optimum=False,
    uncovered=(PICTURES,),
)
FIGURES_2_AND_4 = Experiment(
    name="figures-2-4",
    title="AUC against the training size, ε = 0.8, general convex",
    source=f"{REFERENCE}, Figures 2 and 4",
    datasets=DATASETS,
    series=(*convex(RANKING), *ours(RANKING)),
    notions=NOTIONS,
    epsilons=(0.8,),
    repeats=20,
    axis="size",
    sizes=SIZES,
    optimum=False,
    uncovered=(PICTURES,),
)

XUE = (TABLE_2_ENTRY, TABLE_3_ENTRY, TABLE_4_ENTRY, FIGURES_1_AND_3, FIGURES_2_AND_4)
