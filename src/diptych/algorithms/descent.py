"""Projected gradient descent as all its algorithms share it, and how far one record can move what it computes.

Nothing here draws noise. Proofs: ``docs/theory/gradient-descent.md``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan
from diptych.algorithms.base import UnsuitableError
from diptych.noise import BitSource, permutation
from diptych.risks import Certificate, Risk, Rows, Table
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
T = TypeVar("T", bound=Table)

ROUNDING = 2.0**-46  # of the norms at work in a step, a feature: updating and projecting in doubles
MOST, LEAST, OPEN = 100, 3, 500  # steps by default: at most, at least, and without privacy
GATHERED = 0.5  # of the span: the noise that default schedules let a result gather
ANY_SLOPE = ", or algorithm='noisy-gd', which takes any slope"


@dataclass(frozen=True)
class Schedule:
    """How to descend: so many steps of this size, on ``parts`` random parts of the table that take turns."""

    steps: int
    step_size: float
    parts: int = 1

    @property
    def uses(self) -> int:
        """How many steps one record can take part in."""
        return -(-self.steps // self.parts)


@dataclass(frozen=True)
class Descent:
    """Everything that is fixed before the table is seen: the risk on a bounded set, the schedule, the noise.

    ``noise`` is None without privacy; ``defended`` says whether the library can prove it to be enough.
    """

    risk: Any
    schedule: Schedule
    noise: NoisePlan | None = None
    defended: bool = True

    @property
    def trace(self) -> dict[str, Any]:
        """What a release may say of it: all of it is public."""
        schedule, lam = self.schedule, self.risk.regularization
        public = {"steps": schedule.steps, "step_size": schedule.step_size, "parts": schedule.parts}
        return {"regularization": lam, **public}


Noisy = Callable[[Array], Array]


def check_settings_of(name: str, steps: Any, step_size: Any) -> None:
    """Refuse what is no number of steps and no step size."""
    whole = isinstance(steps, int) and not isinstance(steps, bool) and 1 <= steps <= 10**7
    if steps != "auto" and not whole:
        raise ValueError(f"steps of {name} must be a whole number from 1 to 10^7, or 'auto'; got {steps!r}.")
    number = isinstance(step_size, (int, float)) and not isinstance(step_size, bool) and 1e-9 <= step_size <= 1e9
    if step_size != "auto" and not number:
        raise ValueError(f"step_size of {name} must be a number from 1e-9 to 1e9, or 'auto'; got {step_size!r}.")


def check_bounded_slope(name: str, risk: Risk[Any]) -> None:
    """Refuse a risk whose gradient has no bound on its set."""
    steepest = risk.loss.slope_bound(risk.constraint.radius * 2.0)
    if not math.isfinite(steepest) and risk.regularization == 0:
        raise UnsuitableError(
            f"radius is needed for {name} with loss={risk.loss.name!r}, whose slope grows without bound; give one."
        )


def check_step(schedule: Schedule, largest: float) -> Schedule:
    """Refuse steps so long that they might carry two iterates apart."""
    if schedule.step_size > largest:
        raise ValueError(
            f"step_size={schedule.step_size:g} is too long for the proof, which needs at most {largest:.6g}; lower it."
        )
    return schedule


def affordable(risk: Risk[Any], one: float, most: int = MOST) -> int:
    """Return the steps after which noise that grows by ``one`` a step has gathered to a share of the span."""
    return min(most, max(LEAST, math.floor(GATHERED * risk.span / one)))


def part_count(risk: Risk[Any], n: int) -> int:
    """Return into how many parts a table of this size is cut, so that a gradient stays affordable."""
    return max(1, math.ceil(n / risk.most_records))


def part_size(risk: Risk[Any], size: TableSize) -> TableSize:
    """Return the public size of a part."""
    parts = part_count(risk, size.n)
    return size if parts == 1 else TableSize(size.n // parts)


def deal(table: T, sizes: Sequence[int], adjacency: Adjacency, source: BitSource) -> list[T]:
    """Cut a table into random parts of these sizes, fixed without looking at it.

    Where labels are public, classes are dealt evenly, so that every part has pairs.
    """
    order = permutation(table.n, source)
    if adjacency is Adjacency.REPLACE_WITHIN_CLASS:
        order = order[_evenly(table.codes[order])]
    edges = np.cumsum([0, *sizes])
    return [table.take(np.sort(order[a:b])) for a, b in pairwise(edges)]


def _evenly(codes: NDArray[np.int64]) -> Rows:
    """Return an order in which every stretch has about the classes' shares."""
    place = np.empty(len(codes))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(place, kind="stable")


def turns(risk: Risk[T], table: T, source: BitSource) -> list[T]:
    """Return the parts of a table that take turns: the whole table, if a gradient of it is affordable."""
    parts = part_count(risk, table.n)
    if parts == 1:
        return [table]
    return deal(table, [table.n // parts] * parts, risk.adjacency, source)


def confine(risk: Risk[Any], size: TableSize, schedule: Schedule) -> Any:
    """Return the risk on a bounded set, which holds all that so many noiseless steps can reach."""
    steepest = risk.certificate(part_size(risk, size), 1, tilt=math.inf).lipschitz
    return risk.confined(size, schedule.steps * schedule.step_size * steepest)


def descend(
    risk: Risk[T], tables: Sequence[T], schedule: Schedule, w: Array, noise: Noisy | None = None
) -> Iterator[Array]:
    """Yield w_1, w_2, ...: step, then project."""
    for step in range(schedule.steps):
        gradient = risk.gradient(w, tables[step % len(tables)])
        if noise is not None:
            gradient = noise(gradient)
        w = risk.constraint.project(w - schedule.step_size * gradient)
        yield w


def mean_of(iterates: Iterator[Array], skip: int = 0) -> Array:
    """Return the mean of the iterates after the first few."""
    total, count = np.zeros(1), 0
    for w in islice(iterates, skip, None):
        total, count = total + w, count + 1
    return total / count


def last_of(iterates: Iterator[Array]) -> Array:
    """Return the last iterate, and keep no other."""
    return deque(iterates, maxlen=1)[0]


def per_step(certificate: Certificate) -> float:
    """S + 2 e: the most by which a computed gradient at one w differs between neighbours."""
    return certificate.gradient_sensitivity + 2.0 * certificate.gradient_error


def rounding(certificate: Certificate, step_size: float, features: int) -> float:
    """Return twice what a computed step may miss an exact one by."""
    return ROUNDING * features * (certificate.radius + step_size * certificate.lipschitz)


def movement(schedule: Schedule, certificate: Certificate, features: int, *, averaged: bool) -> float:
    """Return how far one record can move the last iterate, or the mean of all (Lemma 1).

    D_t = (1 - eta lambda) D_(t-1) + eta (s + 2 e) + rounding, without the s where the record's part is not at work: the
    iterates differ there, too, and so may the errors of their gradients. The worst part counts.
    """
    contraction = 1.0 - schedule.step_size * certificate.strong_convexity
    carried = contraction ** np.arange(schedule.steps)  # what a kick leaves after so many more steps
    if averaged:
        carried = np.cumsum(carried) / schedule.steps
    kick = schedule.step_size * certificate.gradient_sensitivity
    slack = schedule.step_size * 2.0 * certificate.gradient_error + rounding(certificate, schedule.step_size, features)
    most = max(float(carried[part :: schedule.parts].sum()) for part in range(min(schedule.parts, schedule.steps)))
    return kick * most + slack * float(carried.sum())
