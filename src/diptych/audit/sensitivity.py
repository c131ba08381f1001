"""Adversarial search for the sensitivity of gradients and minimisers of a ranking risk.

A claim that a search exceeds is wrong; the ratio that a search reaches says how tight a claim is. The
search sums explicit pairs: it shares no code with the kernels whose certificate it attacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.audit.neighbours import Neighbours
from diptych.losses import Loss
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """The worst pair of neighbours that a search met.

    ``reached`` of the ``claimed`` sensitivity, at these tables and (for gradients) this w.
    """

    reached: float
    claimed: float
    table: PairTable
    neighbour: PairTable
    w: Array

    @property
    def ratio(self) -> float:
        """Reached over claimed: above 1 refutes the claim."""
        return self.reached / self.claimed


def explicit_gradients(loss: Loss, X: Array, positive: Mask, w: Array, scale: float) -> Array:
    """Unregularised gradients of a batch of small tables, pair by pair."""
    scores = np.einsum("bnd,bd->bn", X, w)
    slopes = loss.slope(scores[:, :, None] - scores[:, None, :])
    slopes *= positive[:, :, None] & ~positive[:, None, :]
    return np.asarray(scale * np.einsum("bij,bijd->bd", slopes, X[:, :, None, :] - X[:, None, :, :]))


def explicit_hessians(loss: Loss, X: Array, positive: Mask, w: Array, scale: float) -> Array:
    """Unregularised Hessians of a batch of small tables, pair by pair."""
    scores = np.einsum("bnd,bd->bn", X, w)
    bends = loss.curvature(scores[:, :, None] - scores[:, None, :])
    bends *= positive[:, :, None] & ~positive[:, None, :]
    apart = X[:, :, None, :] - X[:, None, :, :]
    return np.asarray(scale * np.einsum("bij,bijk,bijl->bkl", bends, apart, apart))


def pair_weight(size: TableSize) -> float:
    """1/N: the weight of a pair."""
    if size.positives is None:
        return 1.0 / size.n**2
    return 1.0 / (size.positives * (size.n - size.positives))


def search_gradient(
    risk: RankingRisk, size: TableSize, d: int, seed: int, batch: int = 64, rounds: int = 400, tilt: float = 0.0
) -> Found:
    """Search neighbouring tables and w, ||w|| <= radius, for the largest change of the gradient.

    ``tilt`` bounds a linear term; infinity searches all of the set.
    """
    certificate = risk.certificate(size, tilt=tilt)
    scale = pair_weight(size)

    def change(pairs: Neighbours) -> Array:
        (X, positive), (other, labels) = pairs.sides()
        here = explicit_gradients(risk.loss, X, positive, pairs.w, scale)
        there = explicit_gradients(risk.loss, other, labels, pairs.w, scale)
        return np.asarray(np.linalg.norm(here - there, axis=1))

    rng = np.random.default_rng(seed)
    return _climb(
        change, risk, size, d, _far(risk, certificate.radius), certificate.gradient_sensitivity, rng, batch, rounds
    )


def search_determinant(
    risk: RankingRisk, size: TableSize, d: int, ridge: float, seed: int, batch: int = 64, rounds: int = 400
) -> Found:
    """Search neighbouring tables and w in the set for the largest change of log det(Hessian + ridge I)."""
    claimed = risk.certificate(size, d, tilt=np.inf).determinant_shift(ridge, d)
    scale = pair_weight(size)

    def change(pairs: Neighbours) -> Array:
        here, there = (
            np.linalg.slogdet(explicit_hessians(risk.loss, X, positive, pairs.w, scale) + ridge * np.eye(d))[1]
            for X, positive in pairs.sides()
        )
        return np.asarray(np.abs(here - there))

    rng = np.random.default_rng(seed)
    ends = [  # curvature is largest near 0 for some losses, and vanishes far away
        _climb(change, risk, size, d, radius, claimed, rng, batch // 2, rounds)
        for radius in (risk.certificate(size).radius, _far(risk, risk.constraint.radius))
    ]
    return max(ends, key=lambda end: end.ratio)


def search_minimiser(risk: RankingRisk, size: TableSize, d: int, seed: int, batch: int = 8, rounds: int = 40) -> Found:
    """Search neighbouring tables for the largest move of the minimiser."""
    certificate = risk.certificate(size)
    tolerance = max(1e-4 * certificate.gradient_sensitivity, 4.0 * certificate.gradient_error)

    def change(pairs: Neighbours) -> Array:
        moves = []
        for k in range(len(pairs.X)):
            here, there = (minimise(risk, table, tolerance).w for table in pairs.tables(k))
            moves.append(float(np.linalg.norm(here - there)))
        return np.array(moves)

    rng = np.random.default_rng(seed)
    claimed = certificate.minimiser_sensitivity(tolerance)
    return _climb(change, risk, size, d, certificate.radius, claimed, rng, batch, rounds)


def _far(risk: RankingRisk, radius: float) -> float:
    """Return the radius, or one from which on the slopes of a pair of opposite rows hardly change."""
    return min(radius, 5.0 * (risk.loss.margin + risk.loss.temperature))


def _climb(
    change: Callable[[Neighbours], Array],
    risk: RankingRisk,
    size: TableSize,
    d: int,
    radius: float,
    claimed: float,
    rng: np.random.Generator,
    batch: int,
    rounds: int,
) -> Found:
    """Climb from many random starts by random moves whose size shrinks; keep what gets worse for the claim."""
    adjacency, positives = Adjacency(risk.adjacency), size.positives or 0
    pairs = Neighbours.random(rng, batch, size.n, d, radius, adjacency, positives)
    best = change(pairs)
    for step in range(rounds):
        if step == rounds // 4:  # go on from the better half only
            order = np.argsort(best)[::-1][: max(1, batch // 2)]
            twice = np.concatenate((order, order))
            pairs = Neighbours(pairs.X[twice], pairs.positive[twice], pairs.w[twice])
            best = best[twice]
        spread = 0.5 * 10.0 ** (-4.0 * rng.random(len(best)) * (step + 1) / rounds)
        trial = pairs.moved(rng, spread, radius, adjacency)
        reached = change(trial)
        better = reached > best
        pairs.keep(better, trial)
        best = np.where(better, reached, best)
    worst = int(np.argmax(best))
    table, neighbour = pairs.tables(worst)
    return Found(float(best[worst]), claimed, table, neighbour, pairs.w[worst])
