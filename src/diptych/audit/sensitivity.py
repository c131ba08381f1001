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


def _scale(size: TableSize) -> float:
    if size.positives is None:
        return 1.0 / size.n**2
    return 1.0 / (size.positives * (size.n - size.positives))


def search_gradient(risk: RankingRisk, size: TableSize, d: int, seed: int, batch: int = 64, rounds: int = 400) -> Found:
    """Search neighbouring tables and w, ||w|| <= radius, for the largest change of the gradient."""
    certificate = risk.certificate(size)
    scale = _scale(size)

    def change(pairs: Neighbours) -> Array:
        (X, positive), (other, labels) = pairs.sides()
        here = explicit_gradients(risk.loss, X, positive, pairs.w, scale)
        there = explicit_gradients(risk.loss, other, labels, pairs.w, scale)
        return np.asarray(np.linalg.norm(here - there, axis=1))

    rng = np.random.default_rng(seed)
    return _climb(change, risk, size, d, certificate.gradient_sensitivity, rng, batch, rounds)


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
    return _climb(change, risk, size, d, certificate.minimiser_sensitivity(tolerance), rng, batch, rounds)


def _climb(
    change: Callable[[Neighbours], Array],
    risk: RankingRisk,
    size: TableSize,
    d: int,
    claimed: float,
    rng: np.random.Generator,
    batch: int,
    rounds: int,
) -> Found:
    """Climb from many random starts by random moves whose size shrinks; keep what gets worse for the claim."""
    certificate = risk.certificate(size)
    radius = certificate.radius
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
