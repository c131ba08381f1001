"""The risk of ranking every class above the others at once: one direction a class, stacked into one vector.

With two classes it is one ranking risk. Constants: ``docs/theory/directions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss
from diptych.risks.base import Rows
from diptych.risks.certificate import Certificate
from diptych.risks.metric import MetricTable
from diptych.risks.ranking import RankingRisk
from diptych.risks.table import PairTable
from diptych.sets import ConvexSet, L2Ball
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]


class RankingsTable:
    """Rows with their classes, as one table of pairs for each class that is ranked above the others."""

    def __init__(self, table: MetricTable) -> None:
        self.table = table
        self.n, self.d, self.codes = table.n, table.d, table.codes

    @cached_property
    def ranked(self) -> list[PairTable]:
        """One table a direction; of two classes the second is the positive one."""
        classes = range(self.table.classes) if self.table.classes > 2 else (1,)
        return [PairTable(self.table.X, self.codes == code) for code in classes]

    def size(self, adjacency: Adjacency) -> TableSize:  # noqa: ARG002
        """Return the number of records: public counts of classes are the risk's own."""
        return TableSize(self.n)

    def take(self, rows: Rows) -> RankingsTable:
        """Return the table of these records."""
        return RankingsTable(self.table.take(rows))


@dataclass(frozen=True)
class RankingsRisk:
    """Sum over classes k of R(w_k), R the risk of ranking class k above all others; of two classes, one R.

    Parameters
    ----------
    each
        The risk of one ranking; its set holds the stacked vector.
    classes
        How many there are, publicly.
    counts
        How many records each class has, where labels are public; else None.
    """

    each: RankingRisk
    classes: int
    counts: tuple[int, ...] | None = None

    released = "the directions in which classes differ"

    @property
    def directions(self) -> int:
        """How many rankings are stacked."""
        return self.classes if self.classes > 2 else 1

    @property
    def loss(self) -> Loss:
        """The pair loss."""
        return self.each.loss

    @property
    def regularization(self) -> float:
        """Lambda."""
        return self.each.regularization

    @property
    def constraint(self) -> ConvexSet:
        """The set of the stacked vector."""
        return self.each.constraint

    @property
    def adjacency(self) -> Adjacency:
        """Which tables are neighbours."""
        return self.each.adjacency

    def dimension(self, features: int) -> int:
        """One number a feature and direction."""
        return self.directions * features

    def start(self, features: int) -> Array:
        """Return the origin."""
        return np.zeros(self.dimension(features))

    def value(self, w: Array, table: RankingsTable) -> float:
        """The sum of the risks."""
        return sum(self.each.value(v, one) for v, one in self._blocks(w, table))

    def gradient(self, w: Array, table: RankingsTable) -> Array:
        """The gradients of the risks, stacked."""
        return np.concatenate([self.each.gradient(v, one) for v, one in self._blocks(w, table)])

    def newest(self, w: Array, table: RankingsTable, t: int) -> Array:
        """Return the gradients of record t against all earlier ones, stacked."""
        return np.concatenate([self.each.newest(v, one, t) for v, one in self._blocks(w, table)])

    def _blocks(self, w: Array, table: RankingsTable) -> list[tuple[Array, PairTable]]:
        return list(zip(w.reshape(self.directions, -1), table.ranked, strict=True))

    def confined(self, size: TableSize, travel: float) -> RankingsRisk:
        """Return the risk on a ball that holds every stacked minimiser, or what paths of that length lead to."""
        root = math.sqrt(self.directions)
        within = self.each.confined(self._widest(size), travel / root)
        if within is self.each:
            return self
        radius = min(self.constraint.radius, root * within.constraint.radius)
        return replace(self, each=replace(within, constraint=L2Ball(radius)))

    @property
    def span(self) -> float:
        """That of one ranking, once a direction."""
        return self.each.span * math.sqrt(self.directions)

    def stride(self, size: TableSize) -> float:
        """That of one ranking."""
        return self.each.stride(self._widest(size))

    @property
    def most_records(self) -> float:
        """Any number."""
        return self.each.most_records

    def mass(self, size: TableSize) -> float:
        """Return the most that the weights of all pairs of one ranking sum to."""
        return self.each.mass(self._widest(size))

    def pair_share(self, size: TableSize) -> float:
        """Return the most that the weights of the pairs of one record come to, as the length of a stacked vector.

        Lemma 1 of ``docs/theory/directions.md``.
        """
        if self.counts is None:
            return self.each.pair_share(size) * (1.0 if self.directions == 1 else math.sqrt(3.0))
        known = np.array([count for count in self.counts if count > 0], dtype=float)
        if self.directions == 1:
            return float(1.0 / known.min())
        above, below = 1.0 / known**2, 1.0 / (size.n - known) ** 2
        return math.sqrt(float(np.max(above + below.sum() - below)))

    def certificate(self, size: TableSize, features: int = 1, tilt: float = 0.0) -> Certificate:
        """Derive the constants for every table of this public size and number of features."""
        one, root = self.each.certificate(self._widest(size), features, tilt), math.sqrt(self.directions)
        share = self.pair_share(size) / self.each.pair_share(self._widest(size))
        return replace(
            one,
            size=size,
            radius=min(self.constraint.radius, one.radius * root),
            lipschitz=one.lipschitz * root,
            pair_lipschitz=one.pair_lipschitz * root,
            gradient_sensitivity=one.gradient_sensitivity * share,
            gradient_error=one.gradient_error * root,
            curvature_share=one.curvature_share * share * root,
        )

    def _widest(self, size: TableSize) -> TableSize:
        """Return the public size of the ranking whose records weigh most."""
        if self.counts is None:
            return size
        rarest = min(min(count, size.n - count) for count in self.counts if count > 0)
        return TableSize(size.n, max(1, rarest))
