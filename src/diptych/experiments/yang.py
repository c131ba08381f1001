"""Yang, Lei, Lyu and Ying (2021): what they prove, simulated, and Algorithms 1 and 2 on data sets.

The paper has no experiments. Its algorithms run with its schedules, T = n^2, and with equation (5) as printed and with
the factors that its proof has; and with the noise of the realised sequence, our schedule and the same loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from diptych.algorithms import DPSGD, NoisyGD, SGDOutput
from diptych.experiments.protocol import APPROXIMATE, PURE, WITHIN, Experiment, Series
from diptych.experiments.series import EUCLIDEAN, METRIC, NOISY, NOISY_SGD, OURS, RANKING, SGD
from diptych.experiments.yang_simulations import REFERENCE, SIMULATIONS
from diptych.spec import Adjacency

__all__ = ["FROBENIUS", "NUCLEAR", "OPEN", "REALISED", "REFERENCE", "YANG"]

RADIUS = {RANKING: 2.0, METRIC: 1.0}
OPEN, PRINTED, CORRECTED, REALISED = "Algorithm 1", "Algorithm 2 as printed", "Algorithm 2 corrected", "Algorithm 2"
NUCLEAR, FROBENIUS = "nuclear norm", "Frobenius norm"
BATCHES, METRIC_RECORDS = "dp-sgd", 128
BALLS = ((NUCLEAR, "trace"), (FROBENIUS, "frobenius"))


def _lines(task: str, more: str = "", constraint: str = "frobenius") -> Iterator[Series]:
    """Yield Algorithm 1, Algorithm 2 with published noise, and with that of the realised sequence."""

    def line(name: str, constants: str, adjacency: Adjacency, how: SGDOutput, *, private: bool = True) -> Series:
        return Series(
            SGD,
            "hinge",
            constants,
            adjacency,
            RADIUS[task],
            task=task,
            line=name + more,
            regularization=0.0,
            how=how,
            private=private,
            constraint=constraint,
            offset=0.0,
        )

    yield line(OPEN, "paper", Adjacency.REPLACE, SGDOutput(), private=False)
    yield line(PRINTED, "paper", Adjacency.REPLACE, SGDOutput())
    yield line(CORRECTED, "paper", Adjacency.REPLACE, SGDOutput(corrected=True))
    for adjacency in (Adjacency.REPLACE, WITHIN):
        yield line(REALISED, "defended", adjacency, SGDOutput())


def _ours() -> Iterator[Series]:
    """Yield what this library does by default with the hinge."""
    for adjacency in (Adjacency.REPLACE, WITHIN):
        yield Series(NOISY, "hinge", "defended", adjacency, how=NoisyGD(), line=OURS, regularization=0.0)


def _batches(more: str, constraint: str) -> Iterator[Series]:
    """Yield noisy gradients of batches, a quarter of the table each, for metrics on either ball."""
    for adjacency in (Adjacency.REPLACE, WITHIN):
        yield Series(
            NOISY_SGD,
            "hinge",
            "defended",
            adjacency,
            RADIUS[METRIC],
            task=METRIC,
            line=f"{BATCHES}{more}",
            regularization=0.0,
            how=DPSGD(METRIC_RECORDS // 4),
            constraint=constraint,
            offset=0.0,
        )


EUCLIDEAN_METRIC = Series(
    EUCLIDEAN, "hinge", adjacency=Adjacency.REPLACE, task=METRIC, line="Euclidean", regularization=0.0, private=False
)
RANKINGS = Experiment(
    name="auc",
    title="Hinge ranking: test AUC against ε, n = 512",
    source=f"{REFERENCE}, Algorithms 1 and 2, problem (10)",
    datasets=("pima", "german_credit", "diabetic_retinopathy"),
    series=(*_lines(RANKING), *_ours()),
    notions=(APPROXIMATE,),
    epsilons=(0.5, 1.0, 2.0),
    repeats=5,
    kind="table",
    sizes=(512,),
    optimum=False,
)
METRICS = Experiment(
    name="metrics",
    title=f"Hinge metric learning: accuracy against ε, n = {METRIC_RECORDS}",
    source=f"{REFERENCE}, Algorithms 1 and 2, problem (11)",
    datasets=("pima", "diabetic_retinopathy"),
    series=(
        EUCLIDEAN_METRIC,
        *(series for name, constraint in BALLS for series in _lines(METRIC, f", {name}", constraint)),
        *(series for name, constraint in BALLS for series in _batches(f", {name}", constraint)),
    ),
    notions=(APPROXIMATE,),
    epsilons=(1.0, 4.0),
    repeats=5,
    kind="table",
    sizes=(METRIC_RECORDS,),
    optimum=False,
    measure="accuracy of 3 nearest neighbours",
)
HINGE_PURE = Experiment(
    name="pure",
    title="Hinge ranking without δ: test AUC against ε, n = 512",
    source=f"{REFERENCE}, problem (10); δ = 0 is not in the paper",
    datasets=("pima", "german_credit"),
    series=tuple(s for s in _lines(RANKING) if s.constants == "defended"),
    notions=(PURE,),
    epsilons=(1.0, 4.0),
    repeats=5,
    kind="table",
    sizes=(512,),
    optimum=False,
)

YANG = (*SIMULATIONS, RANKINGS, METRICS, HINGE_PURE)
