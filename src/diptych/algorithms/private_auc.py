"""A private AUC: how well fixed scores rank the records of a private test table.

What is released, under either adjacency, and why it moves no further: ``docs/theory/private-auc.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan, plan_laplace
from diptych.algorithms.base import NOISE_WORDS, event
from diptych.noise import BitSource
from diptych.spec import Adjacency, Budget, Guarantee, TableSize

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

UNIT = 2.0**-53
QUANTITIES = {
    Adjacency.REPLACE: "(concordant less discordant pairs, halved, over n - 1; half the number of positives)",
    Adjacency.REPLACE_WITHIN_CLASS: "the AUC",
}
ASSUMPTION = "the scored model is fixed: if it was trained on these records, its own guarantee is spent as well"


@dataclass(frozen=True)
class PrivateScore:
    """A score that may be published, and the promise that it was made under.

    Attributes
    ----------
    value
        The noisy score, in [0, 1].
    guarantee
        What was promised to the records of the test table.
    """

    value: float
    guarantee: Guarantee

    def __float__(self) -> float:
        return self.value


def concordance(scores: Array, positive: Mask) -> int:
    """Return the concordant less the discordant pairs, exactly: pairs of equal scores count for neither."""
    up, down = scores[positive], np.sort(scores[~positive])
    below, not_above = (np.searchsorted(down, up, side=side) for side in ("left", "right"))
    return int(below.sum(dtype=np.int64) + not_above.sum(dtype=np.int64)) - up.size * down.size


def plan_auc(size: TableSize, budget: Budget) -> NoisePlan:
    """Plan Laplace noise: of sensitivity 1/min(n+, n-), or 1 in the L1 norm where labels are private (Lemmas 1, 2).

    Either grows by what rounding the statistic in double precision may add.
    """
    if size.positives is not None and size.negatives is not None:
        return plan_laplace(budget, 1.0 / min(size.positives, size.negatives) + 4.0 * UNIT, 1)
    return plan_laplace(budget, 1.0 + UNIT * size.n, 2)


def private_auc(scores: Array, positive: Mask, adjacency: Adjacency, budget: Budget, source: BitSource) -> PrivateScore:
    """Release the AUC of fixed scores with pure differential privacy.

    Within classes the AUC itself gets noise; where labels are private, two statistics do, and their
    quotient is the answer: 1/2 + (n - 1) a/(p (n - p)).
    """
    n, positives = scores.size, int(np.count_nonzero(positive))
    within = adjacency is Adjacency.REPLACE_WITHIN_CLASS
    plan = plan_auc(TableSize(n, positives if within else None), budget)
    plan.check_range(0.5 if within else 0.5 * n)
    centred = 0.5 * concordance(scores, positive)
    if within:
        value = plan.add(np.array([centred / (positives * float(n - positives))]), source)[0] + 0.5
    else:
        a, half = plan.add(np.array([centred / (n - 1.0), 0.5 * positives]), source)
        p = min(max(2.0 * half, 1.0), n - 1.0)
        value = 0.5 + (n - 1.0) * a / (p * (n - p))
    return PrivateScore(min(max(float(value), 0.0), 1.0), _promise(adjacency, budget, plan, seeded=source.seeded))


def _promise(adjacency: Adjacency, budget: Budget, plan: NoisePlan, *, seeded: bool) -> Guarantee:
    return Guarantee(
        epsilon=budget.epsilon,
        delta=0.0,
        adjacency=adjacency,
        mechanism=f"the area under the ROC curve with {NOISE_WORDS[plan.noise]}",
        sensitivity=plan.sensitivity,
        noise_scale=plan.scale,
        events=(event(QUANTITIES[adjacency], plan),),
        accountant=plan.accountant,
        sampler=plan.sampler,
        released="the area under the ROC curve of a model on a test table",
        assumptions=("every value in the table is finite (a table that is not is refused)", ASSUMPTION),
        seeded=seeded,
    )
