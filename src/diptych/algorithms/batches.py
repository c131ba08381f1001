"""Gradients of random batches, of records or of all pairs among them: how batches are drawn, what a record does to one.

Everything here is public but the tables that are passed in. Proofs: ``docs/theory/dp-sgd.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import SampledQuery
from diptych.algorithms.base import UnsuitableError
from diptych.noise import Coins, Sampler, Subsets
from diptych.risks import PointRisk, RankingRisk, Risk
from diptych.risks.table import EXCESS
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Places = NDArray[np.int32]

SAMPLINGS = ("auto", "uniform", "stratified", "poisson")
WORDS = {
    "uniform": "{m} of {n} records a step, without replacement",
    "stratified": "{m} records a step, without replacement within each of the two classes",
    "poisson": "every record with probability {m}/{n}, independently, in each step",
}


@dataclass(frozen=True)
class Design:
    """How batches are drawn and weighed: ``sizes`` records of each group of ``of``, each pair or point with ``weight``.

    Poisson batches of k records, more than expected, give each pair size/k of that weight. ``queries`` says what a
    record can do to the gradient of a batch, for each kind of record.
    """

    sampling: str
    of: tuple[int, ...]
    sizes: tuple[int, ...]
    weight: float
    queries: tuple[SampledQuery, ...]
    pairs: bool = True

    @property
    def size(self) -> int:
        """How many records a batch has; for Poisson batches, is expected to have."""
        return sum(self.sizes)

    @property
    def mass(self) -> float:
        """The weight of all terms of a batch, of those whose records may differ in class."""
        if not self.pairs:
            return self.weight * self.size
        if self.sampling == "stratified":
            return self.weight * math.prod(self.sizes)
        return self.weight * self.size * (self.size - 1.0) / 2.0

    @property
    def words(self) -> str:
        """How batches are drawn."""
        return WORDS[self.sampling].format(m=self.size, n=sum(self.of))

    def weight_of(self, records: int) -> float:
        """Return the weight of a term in a batch of so many records."""
        return self.weight * min(1.0, self.size / max(1, records)) if self.pairs else self.weight

    def sampler(self, table: Any) -> Sampler:
        """Return what draws batches; only public labels are looked at."""
        if self.sampling == "poisson":
            return Coins(table.n, self.queries[0].rate)
        if self.sampling == "uniform":
            return Subsets.of(table.n, self.size)
        return Subsets.within([np.flatnonzero(table.positive), np.flatnonzero(~table.positive)], self.sizes)


def check_sampling(sampling: str, risk: Risk[Any]) -> str:
    """Return the sampling that ``auto`` means, or refuse one that does not suit the risk."""
    if risk.adjacency is Adjacency.ADD_REMOVE and sampling not in ("auto", "poisson"):
        raise UnsuitableError(
            f"sampling={sampling!r} does not suit adjacency='add-remove', where the number of records is private; use "
            "sampling='poisson'."
        )
    public = risk.adjacency is Adjacency.REPLACE_WITHIN_CLASS and isinstance(risk, RankingRisk)
    if sampling == "auto":
        return "stratified" if public else "poisson" if risk.adjacency is Adjacency.ADD_REMOVE else "uniform"
    if sampling == "stratified" and not public:
        raise UnsuitableError(
            "sampling='stratified' needs public labels and a ranking; use adjacency='replace-within-class', or "
            "sampling='uniform'."
        )
    return sampling


def design(risk: Risk[Any], size: TableSize, features: int, batch: int, sampling: str) -> Design:
    """Return the design for tables of this public size; the risk's set is bounded where its slopes need it."""
    sampling = check_sampling(sampling, risk)
    if sampling == "stratified":
        return _stratified(risk, size, features, batch)
    if isinstance(risk, PointRisk):
        return _points(risk, size, features, min(batch, size.n), sampling)
    batch = min(max(batch, 2), size.n)
    build = _poisson if sampling == "poisson" else _uniform
    return build(risk, size, features, batch)


def balanced(size: TableSize, batch: int) -> tuple[int, int]:
    """Return how many positives and negatives a batch holds: as even as the classes allow."""
    assert size.positives is not None
    assert size.negatives is not None
    batch = min(max(batch, 2), size.n)
    ups = min(size.positives, batch // 2)
    downs = min(size.negatives, batch - ups)
    return min(size.positives, batch - downs), downs


def _points(risk: PointRisk, size: TableSize, features: int, batch: int, sampling: str) -> Design:
    """Weights 1/m: a record moves the gradient as in a table of m records, whatever else is in the batch (Lemma 5)."""
    anyone = risk if risk.adjacency is Adjacency.ADD_REMOVE else replace(risk, adjacency=Adjacency.REPLACE)
    certificate = risk.certificate(size, features, tilt=math.inf)
    most = EXCESS * size.n if sampling == "poisson" else batch
    part = plainly(risk).certificate(TableSize(max(2, most)), features, tilt=math.inf)
    error = 2.0 * part.gradient_error * most / batch
    out = certificate.pair_lipschitz / batch
    if sampling == "uniform":
        out = anyone.record_bound(risk.constraint.radius) / batch
    swap = risk.record_bound(risk.constraint.radius) / batch
    query = SampledQuery(batch / size.n, out + error, swap + error)
    return Design(sampling, (size.n,), (batch,), 1.0 / batch, (query,), pairs=False)


def _stratified(risk: Risk[Any], size: TableSize, features: int, batch: int) -> Design:
    """Weights 1/(m+ m-): a record of a class moves the gradient as in the risk of a table of that size (Lemma 3)."""
    ups, downs = balanced(size, batch)
    plain = replace(risk, regularization=0.0)  # type: ignore[type-var]
    certificate = plain.certificate(TableSize(ups + downs, ups), features, tilt=math.inf)
    move, error = moves(risk, size), 2.0 * certificate.gradient_error
    assert size.positives is not None
    assert size.negatives is not None
    queries = tuple(
        SampledQuery(drawn / held, move / drawn + error, move / drawn + error)
        for drawn, held in ((ups, size.positives), (downs, size.negatives))
    )
    return Design("stratified", (size.positives, size.negatives), (ups, downs), 1.0 / (ups * downs), queries)


def _uniform(risk: Risk[Any], size: TableSize, features: int, batch: int) -> Design:
    """Weights that make the gradient unbiased. The record that takes another's place may be of any class (Lemma 2)."""
    weight = pair_weight(risk, size) * size.n * (size.n - 1.0) / (batch * (batch - 1.0))
    anyone = replace(risk, adjacency=Adjacency.REPLACE)  # type: ignore[type-var]
    partners = batch - 1
    if isinstance(risk, RankingRisk) and size.positives is not None:
        partners = min(partners, max(size.positives, size.n - size.positives))
    error = 2.0 * _error(risk, features, batch, weight)
    out = moves(anyone, TableSize(size.n)) * weight * (batch - 1) + error
    swap = moves(risk, size) * weight * partners + error
    return Design("uniform", (size.n,), (batch,), weight, (SampledQuery(batch / size.n, out, swap),))


def _poisson(risk: Risk[Any], size: TableSize, features: int, batch: int) -> Design:
    """A record comes with at most k pairs of weight w m/max(m, k + 1), and shrinks the weights of others (Lemma 4)."""
    weight = pair_weight(risk, size) * float(size.n) ** 2 / float(batch) ** 2
    steepest = risk.certificate(size, features, tilt=math.inf).pair_lipschitz
    error = 2.0 * _error(risk, features, size.n, weight * batch / size.n)
    out = (1.0 if isinstance(risk, RankingRisk) else 1.5) * steepest * weight * batch + error
    swap = moves(risk, size) * weight * batch + error
    return Design("poisson", (size.n,), (batch,), weight, (SampledQuery(batch / size.n, out, swap),))


def moves(risk: Any, size: TableSize) -> float:
    """Return the most by which one pair's gradient moves when one of its records is replaced."""
    return float(risk.certificate(size, tilt=math.inf).gradient_sensitivity / risk.pair_share(size))


def pair_weight(risk: Any, size: TableSize) -> float:
    """Return the weight of a pair in the risk of the whole table."""
    if isinstance(risk, RankingRisk) and size.positives is not None:
        return 1.0 / (float(size.positives) * (size.n - size.positives))
    return float(risk.pair_share(size) / (size.n - 1.0))


def _error(risk: Risk[Any], features: int, batch: int, weight: float) -> float:
    """Return the most by which the computed gradient of so many records, each pair of that weight, misses the exact."""
    plain, part = plainly(risk), TableSize(batch)
    return float(plain.certificate(part, features, tilt=math.inf).gradient_error * weight / pair_weight(plain, part))


def plainly(risk: Risk[Any]) -> Any:
    """Return the risk without regulariser, of tables with private labels: its weights depend on no class."""
    return replace(risk, regularization=0.0, adjacency=Adjacency.REPLACE)  # type: ignore[type-var]


def batch_gradient(risk: Risk[Any], plan: Design, table: Any, rows: Places, w: Array) -> Array:
    """Return the unregularised gradient of a batch at w: the weighted sum over all its pairs, or points."""
    if len(rows) < 1 + plan.pairs:
        return np.zeros(w.size)
    plain, records = plainly(risk), len(rows)
    whole = 1.0 / records if not plan.pairs else pair_weight(plain, TableSize(records))
    return np.asarray(plain.gradient(w, table.take(rows)) * (plan.weight_of(records) / whole))
