"""Densities of tilted minimisers in one and two dimensions, integrated: objective perturbation attacked at its root.

The density of (w, c), the minimiser and its multiplier on the sphere, is evaluated from explicit pairs or records
(``docs/theory/objective-perturbation.md``, Lemma 1) and compared between neighbouring tables on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NoisePlan
from diptych.audit.explicit import terms
from diptych.audit.neighbours import Neighbours
from diptych.audit.sensitivity import tables_of
from diptych.risks import PairTable, PointRisk, PointTable, RankingRisk
from diptych.spec import Adjacency, TableSize

Array = NDArray[np.float64]
Linear: TypeAlias = RankingRisk | PointRisk
Rows: TypeAlias = PairTable | PointTable

CELLS = 400  # a dimension
COARSE = 100  # while a search climbs
STARTS = 3
DRAWS = 10  # random pairs a start, the worst of which it climbs from


@dataclass(frozen=True)
class Compared:
    """What a grid says of two densities.

    ``mass`` of the first on the grid (1 if the grid is wide and fine enough), the largest log-ratio there, and the
    hockey-stick divergence: the integral of (p - e^epsilon q)_+.
    """

    mass: float
    largest: float
    divergence: float


@dataclass(frozen=True)
class Worst(Compared):
    """The worst pair of neighbours that a search met."""

    table: Rows
    neighbour: Rows


@dataclass(frozen=True)
class Grid:
    """Points (w, c) and the measure of their cells: an interior of balls, and a sphere times multipliers."""

    w: Array
    c: Array
    measure: Array

    @classmethod
    def of(cls, d: int, radius: float, bounded: bool, farthest: float, cells: int = CELLS) -> Grid:
        """Cover the ball of that radius and, where it bounds the minimiser, its sphere: multipliers to ``farthest``."""
        edges = np.linspace(0.0, 1.0, cells + 1)
        middle, width = 0.5 * (edges[1:] + edges[:-1]), 1.0 / cells
        turns = np.array([0.0, math.pi]) if d == 1 else 2.0 * math.pi * middle[::4]
        arc = 1.0 if d == 1 else 2.0 * math.pi / len(turns)
        around = np.stack((np.cos(turns), np.sin(turns)), axis=1)[:, :d]
        w = (radius * middle[:, None, None] * around).reshape(-1, d)
        measure = np.repeat((radius * middle) ** (d - 1) * radius * width * arc, len(turns))
        inside = cls(w, np.zeros(len(w)), measure)
        if not bounded:
            return inside
        # multipliers dense near 0: c = farthest m^2
        c = np.tile(farthest * middle**2, len(turns))
        sphere = np.repeat(radius * around, cells, axis=0)
        cell = np.tile(2.0 * farthest * middle * width, len(turns)) * radius ** (d - 1) * arc
        return cls(np.r_[w, sphere], np.r_[inside.c, c], np.r_[measure, cell])

    @classmethod
    def holding(cls, risk: Linear, size: TableSize, d: int, tilt: NoisePlan, cells: int = CELLS) -> Grid:
        """Cover nearly all of the mass that the minimisers of any table of this size have under this tilt."""
        spread = 12.0 * tilt.scale if tilt.noise == "gaussian" else 40.0 * tilt.scale
        push = risk.certificate(size, d, tilt=math.inf).lipschitz
        reach = (push + spread) / risk.regularization
        radius = min(reach, risk.constraint.radius)
        return cls.of(d, radius, risk.constraint.radius < reach, (push + spread) / radius, cells)


def log_density(risk: Linear, size: TableSize, table: Rows, tilt: NoisePlan, grid: Grid) -> Array:
    """Log density of (w, c) at the points of the grid, for the ideal continuous tilt."""
    d = table.d
    vectors, offsets, weight = terms(risk, size, table)
    margins = offsets + grid.w @ vectors.T
    whole = risk.regularization + grid.c
    b = -weight * risk.loss.slope(margins) @ vectors - whole[:, None] * grid.w
    squares = (vectors[:, :, None] * vectors[:, None, :]).reshape(-1, d * d)
    bend = (weight * risk.loss.curvature(margins) @ squares).reshape(-1, d, d) + whole[:, None, None] * np.eye(d)
    jacobian = np.linalg.slogdet(bend)[1]
    on_sphere = grid.c > 0.0
    if on_sphere.any():
        jacobian[on_sphere] = _on_sphere(grid.w[on_sphere], bend[on_sphere])
    return np.asarray(_log_noise(tilt, b) + jacobian)


def _on_sphere(w: Array, bend: Array) -> Array:
    """Log of the Jacobian at points of the sphere: its radius times the curvature along the tangent."""
    norm = np.linalg.norm(w, axis=1)
    if w.shape[1] == 1:
        return np.asarray(np.log(norm))
    tangent = np.stack((-w[:, 1], w[:, 0]), axis=1) / norm[:, None]
    return np.asarray(np.log(norm) + np.log(np.einsum("bi,bij,bj->b", tangent, bend, tangent)))


def _log_noise(tilt: NoisePlan, b: Array) -> Array:
    d, scale = b.shape[1], tilt.scale
    if tilt.noise == "gaussian":
        return np.asarray(-0.5 * (b**2).sum(axis=1) / scale**2 - d * math.log(scale * math.sqrt(2.0 * math.pi)))
    if tilt.noise == "laplace":
        return np.asarray(-np.abs(b).sum(axis=1) / scale - d * math.log(2.0 * scale))
    ball = math.log(2.0 * scale) if d == 1 else math.log(2.0 * math.pi * scale**2)
    return np.asarray(-np.linalg.norm(b, axis=1) / scale - ball)


def compare(
    risk: Linear,
    size: TableSize,
    pair: tuple[Rows, Rows],
    tilt: NoisePlan,
    epsilon: float,
    cells: int = CELLS,
) -> tuple[Compared, Compared]:
    """Compare the densities of two tables, the first with the second and back, on a grid of nearly all their mass.

    ``risk`` has the regulariser and the set in force.
    """
    grid = Grid.holding(risk, size, pair[0].d, tilt, cells)
    p, q = (log_density(risk, size, table, tilt, grid) for table in pair)
    return _contrast(p, q, grid, epsilon), _contrast(q, p, grid, epsilon)


def _contrast(p: Array, q: Array, grid: Grid, epsilon: float) -> Compared:
    here, there = np.exp(p) * grid.measure, np.exp(q) * grid.measure
    seen = p > p.max() - 60.0
    divergence = float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum())
    return Compared(float(here.sum()), float((p - q)[seen].max()), divergence)


def search_densities(
    risk: Linear, size: TableSize, d: int, tilt: NoisePlan, epsilon: float, seed: int, rounds: int
) -> Worst:
    """Climb over neighbouring tables for the largest divergence (for pure noise, the largest log-ratio)."""
    rng = np.random.default_rng(seed)
    adjacency, (kind, classes) = Adjacency(risk.adjacency), tables_of(risk, size)
    pure = tilt.noise != "gaussian"

    def value(found: Compared) -> float:
        return found.largest if pure else found.divergence

    def both(pairs: Neighbours, cells: int) -> tuple[Compared, Compared]:
        return compare(risk, size, pairs.tables(0, kind), tilt, epsilon, cells)

    def coarse(pairs: Neighbours) -> float:
        return max(map(value, both(pairs, COARSE)))

    ends = []
    for _ in range(STARTS):
        drawn = [
            Neighbours.random(rng, 1, size.n, d, 1.0, adjacency, size.positives or 0, classes) for _ in range(DRAWS)
        ]
        reached, pairs = max(((coarse(pairs), pairs) for pairs in drawn), key=lambda end: end[0])
        for step in range(rounds):
            trial = pairs.moved(rng, np.array([10.0 ** (-3.0 * step / rounds * rng.random())]), 1.0, adjacency)
            new = coarse(trial)
            if new > reached:
                reached, pairs = new, trial
        ends.append((reached, pairs))
    pairs = max(ends, key=lambda end: end[0])[1]
    there, back = both(pairs, CELLS)
    table, neighbour = pairs.tables(0, kind) if value(there) >= value(back) else pairs.tables(0, kind)[::-1]
    return Worst(**vars(max(there, back, key=value)), table=table, neighbour=neighbour)
