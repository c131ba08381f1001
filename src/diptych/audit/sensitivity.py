"""Adversarial search for the sensitivity of gradients, minimisers and whatever else a table leads to.

A claim that a search exceeds is wrong; the ratio that a search reaches says how tight a claim is. What is
searched comes from explicit pairs (``explicit.py``) or, for results of algorithms, from the algorithm itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.audit.explicit import gradients, hessians, numbers, parameters
from diptych.audit.neighbours import Neighbours
from diptych.risks import (
    MetricRisk,
    MetricTable,
    PairTable,
    PointRisk,
    PointTable,
    RankingRisk,
    RankingsRisk,
    RankingsTable,
    Risk,
    minimise,
)
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """The worst pair of neighbours that a search met.

    ``reached`` of the ``claimed`` sensitivity, at these tables and (for gradients) this w.
    """

    reached: float
    claimed: float
    table: Any
    neighbour: Any
    w: Array

    @property
    def ratio(self) -> float:
        """Reached over claimed: above 1 refutes the claim."""
        return self.reached / self.claimed


def search_gradient(
    risk: Risk[Any], size: TableSize, d: int, seed: int, batch: int = 64, rounds: int = 400, tilt: float = 0.0
) -> Found:
    """Search neighbouring tables and w in the set, ||w|| <= radius, for the largest change of the gradient.

    ``tilt`` bounds a linear term; infinity searches all of the set.
    """
    certificate = risk.certificate(size, d, tilt=tilt)

    def change(pairs: Neighbours) -> Array:
        w = parameters(risk, pairs.w)
        here, there = (gradients(risk, size, X, codes, w) for X, codes in pairs.sides())
        return np.asarray(np.linalg.norm((here - there).reshape(len(w), -1), axis=1))

    radius, rng = _far(risk, certificate.radius), np.random.default_rng(seed)
    return _climb(change, risk, size, d, radius, certificate.gradient_sensitivity, rng, batch, rounds)


def search_determinant(
    risk: RankingRisk | PointRisk, size: TableSize, d: int, ridge: float, seed: int, batch: int = 64, rounds: int = 400
) -> Found:
    """Search neighbouring tables and w in the set for the largest change of log det(Hessian + ridge I)."""
    claimed = risk.certificate(size, d, tilt=np.inf).determinant_shift(ridge, d)

    def change(pairs: Neighbours) -> Array:
        here, there = (
            np.linalg.slogdet(hessians(risk, size, X, codes, pairs.w) + ridge * np.eye(d))[1]
            for X, codes in pairs.sides()
        )
        return np.asarray(np.abs(here - there))

    rng = np.random.default_rng(seed)
    ends = [  # curvature is largest near 0 for some losses, and vanishes far away
        _climb(change, risk, size, d, radius, claimed, rng, batch // 2, rounds)
        for radius in (risk.certificate(size).radius, _far(risk, risk.constraint.radius))
    ]
    return max(ends, key=lambda end: end.ratio)


def search_minimiser(
    risk: RankingRisk | PointRisk, size: TableSize, d: int, seed: int, batch: int = 8, rounds: int = 40
) -> Found:
    """Search neighbouring tables for the largest move of the minimiser."""
    certificate = risk.certificate(size, d)
    tolerance = max(1e-4 * certificate.gradient_sensitivity, 4.0 * certificate.gradient_error)
    claimed = certificate.minimiser_sensitivity(tolerance)
    return search_output(
        lambda table: minimise(risk, table, tolerance).w, risk, size, d, claimed, seed, batch=batch, rounds=rounds
    )


def search_output(
    result: Callable[[Any], Array],
    risk: Risk[Any],
    size: TableSize,
    d: int,
    claimed: float,
    seed: int,
    batch: int = 8,
    rounds: int = 40,
) -> Found:
    """Search neighbouring tables of that public size for the largest move of a result, against what is claimed of it.

    ``result`` takes a table of the risk to a vector, without noise; the record that is replaced is the last one.
    """
    kind, _ = tables_of(risk, size)

    def change(pairs: Neighbours) -> Array:
        tables = (pairs.tables(k, kind) for k in range(len(pairs.X)))
        return np.array([float(np.linalg.norm(result(here) - result(there))) for here, there in tables])

    return _climb(change, risk, size, d, 1.0, claimed, np.random.default_rng(seed), batch, rounds)


def tables_of(risk: Risk[Any], size: TableSize) -> tuple[Callable[[Array, Any], Any], int]:
    """Return what makes tables for a risk, and how many classes they shall have."""
    if isinstance(risk, RankingsRisk):
        return (lambda X, codes: RankingsTable(MetricTable(X, codes, risk.classes))), risk.classes
    if isinstance(risk, PointRisk):
        declared = size.n if risk.adjacency is Adjacency.ADD_REMOVE else None
        return lambda X, codes: PointTable(X, numbers(risk, codes), declared), 3 if risk.loss.residual else 2
    return (MetricTable, 3) if isinstance(risk, MetricRisk) else (PairTable, 2)


def _far(risk: Risk[Any], radius: float) -> float:
    """Return the radius, or one from which on the slopes of a pair of opposite rows hardly change."""
    labels = risk.labels if isinstance(risk, PointRisk) and risk.loss.residual else 0.0
    return min(radius, 5.0 * (risk.loss.margin + risk.loss.temperature + labels))


def _climb(
    change: Callable[[Neighbours], Array],
    risk: Risk[Any],
    size: TableSize,
    d: int,
    radius: float,
    claimed: float,
    rng: np.random.Generator,
    batch: int,
    rounds: int,
) -> Found:
    """Climb from many random starts by random moves whose size shrinks; keep what gets worse for the claim."""
    adjacency, positives, (kind, classes) = Adjacency(risk.adjacency), size.positives or 0, tables_of(risk, size)
    counts = risk.counts if isinstance(risk, RankingsRisk) else None
    pairs = Neighbours.random(rng, batch, size.n, d, radius, adjacency, positives, classes, risk.dimension(d), counts)
    best = change(pairs)
    for step in range(rounds):
        if step == rounds // 4:  # go on from the better half only
            order = np.argsort(best)[::-1][: max(1, batch // 2)]
            twice = np.concatenate((order, order))
            pairs, best = pairs.taken(twice), best[twice]
        spread = 0.5 * 10.0 ** (-4.0 * rng.random(len(best)) * (step + 1) / rounds)
        trial = pairs.moved(rng, spread, radius, adjacency)
        reached = change(trial)
        better = reached > best
        pairs.keep(better, trial)
        best = np.where(better, reached, best)
    worst = int(np.argmax(best))
    table, neighbour = pairs.tables(worst, kind)
    return Found(float(best[worst]), claimed, table, neighbour, risk.constraint.project(pairs.w[worst]))
