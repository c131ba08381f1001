"""What random trials spend: the bounds against exact laws of the worst candidates that a search finds."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from diptych.accounting import gaussian_mu
from diptych.noise import SeededBits
from diptych.selection import UniformTrials, coin_log_delta, coin_mu
from diptych.selection.spending import log_others

Y = np.linspace(-8.0, 8.0, 1601)  # the trapezoidal rule is exact to 1e-9 for such densities


def told(shifts, rate: float) -> np.ndarray:
    """Densities of (which candidate, its score) for scores N(shift, 1), told with the highest of those tried."""
    shifts = np.asarray(shifts, dtype=float)[:, None]
    density = np.exp(-0.5 * (Y - shifts) ** 2) / math.sqrt(2 * math.pi)
    kept = 1 - rate * ndtr(shifts - Y)  # not tried, or below y
    every = np.prod(kept, axis=0)
    return rate * density * every / kept / (1 - (1 - rate) ** len(shifts))


def hidden(here: np.ndarray, there: np.ndarray, epsilon: float) -> float:
    """Delta of a pair of such laws."""
    return float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum() * (Y[1] - Y[0]))


def worst_pair(count: int, rate: float, mu: float, epsilon: float) -> float:
    """The largest delta over candidates that each score mu higher, lower or the same, from three starting points."""
    found = 0.0
    for start, up in product((0.0, 1.5, -1.5), sorted({0, count // 2, count - 1})):
        base = np.zeros(count)
        base[0] = start
        for first in (-mu, 0.0, mu):
            for sign in (1.0, -1.0):
                moved = base + sign * mu * (np.arange(count) >= count - up)
                moved[0] = base[0] + first
                here, there = told(base, rate), told(moved, rate)
                found = max(found, hidden(here, there, epsilon), hidden(there, here, epsilon))
    return found


CASES = [(2, 0.5), (5, 0.7), (8, 0.3), (20, 0.4)]


@pytest.mark.parametrize(("count", "rate"), CASES)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-4), (0.5, 1e-2), (3.0, 1e-6)])
def test_no_candidates_spend_more_than_the_bound(count, rate, epsilon, delta) -> None:
    mu = coin_mu(epsilon, delta, rate, count)
    assert coin_log_delta(mu, rate, count, epsilon) <= math.log(delta)
    assert coin_log_delta(1.00001 * mu, rate, count, epsilon) > math.log(delta)
    found = worst_pair(count, rate, mu, epsilon)
    loose = next(f for f in np.arange(1.1, 3.0, 0.1) if worst_pair(count, rate, f * mu, epsilon) > delta)
    print(f"{count} at {rate}, {epsilon}, {delta}: delta {found:.2e}; exceeded at {loose:.2f} mu")
    assert 0 < found <= delta
    assert loose < 2.0  # so much less noise would break the promise


@pytest.mark.parametrize(("count", "rate"), CASES)
def test_trials_cost_more_than_one_candidate_and_less_than_all(count, rate) -> None:
    one, some = gaussian_mu(1.0, 1e-6), coin_mu(1.0, 1e-6, rate, count)
    assert some < one
    if count >= 5:
        assert some > 1.5 * one / math.sqrt(count)


def test_a_control_that_ignores_the_others_is_refuted() -> None:
    """As if telling the best of twenty cost what one costs."""
    mu = gaussian_mu(1.0, 1e-2)
    assert worst_pair(20, 0.7, mu, 1.0) > 1e-2


@pytest.mark.parametrize("mu", [0.02, 0.1, 0.7, 2.0])
@pytest.mark.parametrize("rate", [0.05, 0.4, 0.7, 0.95])
def test_the_bound_of_the_others_is_certified_and_tight(mu, rate) -> None:
    orders = np.array([1.3, 2.0, 7.0, 40.0, 900.0])
    claimed = log_others(mu, rate, orders)
    u = np.concatenate((np.linspace(-37.0, 8.2, 400_001), np.random.default_rng(0).uniform(-9, 8.2, 10_000)))
    here, there = ndtr(u), ndtr(u + mu)
    for order, bound in zip(orders, claimed, strict=True):
        exact = order * np.log1p(-rate * here) - (order - 1.0) * np.log1p(-rate * there)
        assert exact.max() <= bound
        assert bound <= max(exact.max(), 0.0) + 2e-4 * order


def test_where_trials_are_few_or_budgets_tiny() -> None:
    assert coin_mu(1.0, 1e-6, 1e-3, 2) < gaussian_mu(1.0, 1e-6)
    with pytest.raises(ValueError, match="rate must be between"):
        coin_mu(1.0, 1e-6, 1.0, 3)
    assert 0.3 < coin_mu(1e-3, 1e-9, 0.5, 10) / gaussian_mu(1e-3, 1e-9) < 0.9


# --- trials of a uniform number, candidates with pure differential privacy


def uniform_law(cells: np.ndarray) -> np.ndarray:
    """Law of (candidate, score) for candidates with such laws on scores 0, 1, ...; of equal scores the first wins.

    Averages over the chance p of being tried, uniform on [0, 1], given that any is: Gauss and Legendre, exact for
    polynomials of this degree.
    """
    count, levels = cells.shape
    nodes, weights = np.polynomial.legendre.leggauss(count + 1)
    law = np.zeros_like(cells)
    for p, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        for i, level in product(range(count), range(levels)):
            above = cells[:, level + 1 :].sum(axis=1) + cells[:, level] * (np.arange(count) < i)
            kept = np.delete(1 - p * above, i)
            law[i, level] += weight * p * cells[i, level] * np.prod(kept)
    return law * (count + 1) / count


def test_a_uniform_number_of_pure_candidates_spends_three_epsilon_and_nearly_as_much() -> None:
    epsilon, worst = 1.0, 0.0
    rng = np.random.default_rng(0)
    for count in (1, 2, 5, 12, 40):
        for top in (*np.geomspace(1e-5, 0.25, 12), *rng.uniform(0, 0.3, 10)):
            plain = np.tile([1 - top, 0.0, top], (count, 1))
            rare = np.exp(epsilon) * top
            lifted = np.tile([1 - rare, 0.0, rare], (count, 1))
            mine, theirs = plain.copy(), lifted.copy()
            mine[0] = [1 - 1e-3 * math.exp(epsilon), 1e-3 * math.exp(epsilon), 0.0]
            theirs[0] = [1 - 1e-3, 1e-3, 0.0]
            a, b = uniform_law(mine), uniform_law(theirs)
            assert a.sum() == pytest.approx(1.0)
            possible = (a > 0) & (b > 0)
            worst = max(worst, float(np.abs(np.log(a[possible] / b[possible])).max()))
    print(f"uniform number: {worst:.3f} of {3 * epsilon}")
    assert 2.3 * epsilon < worst <= 3 * epsilon


def test_the_law_of_uniform_trials_is_that_of_a_uniform_chance() -> None:
    """The number of heads of n coins of a uniform chance is uniform on 0 ... n."""
    assert uniform_law(np.array([[0.3, 0.7]] * 4)).sum() == pytest.approx(1.0)

    source, cells = SeededBits(1), np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.9, 0.0, 0.1]])
    rng, hits, runs = np.random.default_rng(2), np.zeros((3, 3)), 30_000
    for _ in range(runs):
        tried = UniformTrials().draw(3, source)
        scores = {i: int(rng.choice(3, p=cells[i])) for i in tried}
        best = max(tried, key=lambda i: (scores[i], -i))
        hits[best, scores[best]] += 1
    law = uniform_law(cells)
    assert np.abs(hits / runs - law).max() < 6 * 0.5 / math.sqrt(runs)
