"""The integrated densities are audited themselves: mass, moments, a known shift, and nothing where nothing is."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from diptych import Adjacency, Budget, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.accounting import NoisePlan, OfPairs, gaussian_delta, plan_tilt
from diptych.audit import compare, search_densities
from diptych.audit.densities import Grid, log_density
from diptych.audit.explicit import explicit_gradients, pair_weight
from diptych.risks import PairTable, RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import OF_PAIRS, TableSize

LOSSES = [Logistic(), Logistic(1.0, 0.25), Squared(), SquaredHinge(), SmoothedHinge(1.0, 0.5)]
SETS = [Free(), L2Ball(0.3)]
LAWS = ["gaussian", "laplace", "norm-laplace"]
SIZE = TableSize(4)


def tilt_of(noise: str, d: int, scale: float) -> NoisePlan:
    """Noise of exactly that scale: of what budget does not matter here."""
    return replace(plan_tilt(Budget(1.0, 1e-3), 1.0, d, noise, profile=OfPairs(one_signed=True)), scale=scale)


def table_of(d: int, seed: int = 0, positives: int = 2) -> PairTable:
    rows = np.random.default_rng(seed).normal(size=(4, d))
    return PairTable(rows / np.linalg.norm(rows, axis=1).max(), np.arange(4) < positives)


def b_on(grid: Grid, risk: RankingRisk, table: PairTable):
    """The linear terms that lead to the points of a grid, from explicit pairs."""
    X, positive = (np.broadcast_to(part, (len(grid.w), *part.shape)) for part in (table.X, table.positive))
    gradient = explicit_gradients(risk.loss, X, positive, grid.w, pair_weight(SIZE))
    return -gradient - (risk.regularization + grid.c)[:, None] * grid.w


CURVED = [
    (d, loss, constraint)
    for d, loss, constraint in product((1, 2), LOSSES, SETS)
    if math.isfinite(loss.slope_bound(constraint.radius)) and (d == 1 or loss in LOSSES[1:4])
]


@pytest.mark.parametrize(("d", "loss", "constraint"), CURVED, ids=str)
@pytest.mark.parametrize("noise", LAWS)
def test_mass_and_moments_are_those_of_the_noise(d, loss, constraint, noise) -> None:
    """A wrong Jacobian, inside or on the sphere, would change the mass or the second moment of b."""
    risk, tilt = RankingRisk(loss, 0.5, constraint), tilt_of(noise, d, 0.3)
    grid = Grid.holding(risk, SIZE, d, tilt)
    for table in (table_of(d), table_of(d, positives=4)):
        mass = np.exp(log_density(risk, SIZE, table, tilt, grid)) * grid.measure
        b = b_on(grid, risk, table)
        assert mass.sum() == pytest.approx(1.0, abs=1e-2)
        assert mass @ (b**2).sum(axis=1) == pytest.approx(tilt.mean_square, rel=0.02)
    on_sphere = float(mass[grid.c > 0].sum())
    assert 0.05 < on_sphere < 0.95 if np.isfinite(constraint.radius) else on_sphere == 0.0


def test_a_wrong_jacobian_is_seen() -> None:
    """Negative control of the mass: the density without the Hessian of the pairs."""
    risk, tilt = RankingRisk(Logistic(), 0.1), tilt_of("gaussian", 1, 0.3)
    table = PairTable(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.arange(4) < 2)
    grid = Grid.holding(risk, SIZE, 1, tilt)
    density = stats.norm.pdf(b_on(grid, risk, table)[:, 0], scale=tilt.scale)
    right = np.exp(log_density(risk, SIZE, table, tilt, grid))
    assert right @ grid.measure == pytest.approx(1.0, abs=1e-6)
    assert density * risk.regularization @ grid.measure < 0.8


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("constraint", SETS, ids=str)
def test_probabilities_on_the_line_are_those_of_the_noise(noise, constraint) -> None:
    """w(b) falls in b, so P(w <= w0) = P(b >= b(w0)); the noise is symmetric."""
    risk, tilt, table = RankingRisk(Logistic(1.0, 0.25), 0.5, constraint), tilt_of(noise, 1, 0.3), table_of(1)
    law = stats.norm(scale=0.3) if noise == "gaussian" else stats.laplace(scale=0.3)
    grid = Grid.holding(risk, SIZE, 1, tilt)
    mass = np.exp(log_density(risk, SIZE, table, tilt, grid)) * grid.measure
    middles = np.sort(grid.w[np.abs(grid.w[:, 0]) < 0.29, 0])
    for edge in (middles[1:] + middles[:-1])[:: max(1, len(middles) // 5)] / 2:
        at = b_on(Grid(np.array([[edge]]), np.zeros(1), np.ones(1)), risk, table)[0, 0]
        assert mass[grid.w[:, 0] <= edge].sum() == pytest.approx(law.sf(at), abs=4e-3)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("noise", LAWS)
def test_the_same_table_twice_shows_nothing(d, noise) -> None:
    risk = RankingRisk(Logistic(), 1.0, L2Ball(0.5))
    for found in compare(risk, SIZE, (table_of(d), table_of(d)), tilt_of(noise, d, 0.3), 0.1):
        assert found.largest == 0.0
        assert found.divergence == 0.0


def straight(noise: str) -> tuple[RankingRisk, TableSize, tuple[PairTable, PairTable], NoisePlan]:
    """Two tables whose gradients differ by 4/9 at every w of the ball: all margins lie where the slope is 1."""
    risk = RankingRisk(SmoothedHinge(1.0, 0.5), 10.0, L2Ball(0.1))
    pair = tuple(PairTable(np.array([[1.0], [1.0], [last]]), np.array([True, True, False])) for last in (1.0, -1.0))
    return risk, TableSize(3), pair, tilt_of(noise, 1, 0.5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_a_plain_shift_costs_what_the_gaussian_profile_says(epsilon) -> None:
    for found in compare(*straight("gaussian"), epsilon):
        assert found.divergence == pytest.approx(gaussian_delta(4 / 9 / 0.5, epsilon), rel=1e-2)
        assert found.mass == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("noise", ["laplace", "norm-laplace"])
def test_a_plain_shift_costs_what_laplace_says(noise) -> None:
    for found in compare(*straight(noise), 0.5):
        assert found.largest == pytest.approx(4 / 9 / 0.5, rel=1e-9)
        shift, epsilon = 4 / 9 / 0.5, 0.5
        assert found.divergence == pytest.approx(1.0 - math.exp((epsilon - shift) / 2.0), rel=2e-2)


def test_both_directions_are_compared() -> None:
    """A table with pairs and one with none curve differently: the two directions are not the same."""
    risk, tilt = RankingRisk(Logistic(), 0.5), tilt_of("laplace", 1, 2.0)
    pair = table_of(1), table_of(1, positives=4)
    there, back = compare(risk, SIZE, pair, tilt, 0.05)
    assert compare(risk, SIZE, pair[::-1], tilt, 0.05) == (back, there)
    assert there.largest != pytest.approx(back.largest, rel=1e-3)


@pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("noise", LAWS)
def test_the_search_finds_the_worst_shift(adjacency, d, noise) -> None:
    """Where every slope is 1 the worst neighbours are known: s = 4/9, or 2 for a lone positive."""
    risk = RankingRisk(SmoothedHinge(1.0, 0.5), 10.0, L2Ball(0.1), adjacency)
    size = TableSize(3, 1 if adjacency is Adjacency.REPLACE_WITHIN_CLASS else None)
    shift = risk.certificate(size, d).gradient_sensitivity
    assert shift == pytest.approx(2.0 if size.positives else 4 / 9)
    tilt = tilt_of(noise, d, shift)
    found = search_densities(risk, size, d, tilt, 0.5, seed=0, rounds=60 if d == 1 else 25)
    if noise == "gaussian":
        worst = gaussian_delta(1.0, 0.5)
        assert 0.9 * worst <= found.divergence <= worst * (1 + 1e-2)
    else:
        assert 0.93 <= found.largest <= (math.sqrt(d) if noise == "laplace" else 1.0) * (1 + 1e-9)
