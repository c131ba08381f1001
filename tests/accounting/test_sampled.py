"""Noise on random batches: the profile attacked, moments against direct integrals, closed forms, another library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import NeighboringRelation, dp_event, rdp
from scipy import integrate, stats

from diptych.accounting import gaussian_delta, gaussian_mu
from diptych.accounting.sampled import SampledQuery, Spending, log_moment, log_profile, moment_sigma

RATES = [2e-4, 0.01, 0.3, 0.9]
PLANE = np.linspace(-12.0, 12.0, 241)
CELL = (PLANE[1] - PLANE[0]) ** 2


def density(centre: np.ndarray) -> np.ndarray:
    """A unit Gaussian in the plane, on a grid."""
    x, y = np.meshgrid(PLANE, PLANE, indexing="ij")
    return np.exp(-0.5 * ((x - centre[0]) ** 2 + (y - centre[1]) ** 2)) / (2.0 * math.pi)


def divergence(q: float, points: np.ndarray, t: float) -> float:
    """Hockey-stick divergence of the mixtures around a third point, integrated."""
    apart, here, there = (density(point) for point in points)
    return float(np.maximum((1 - q) * apart + q * here - t * ((1 - q) * apart + q * there), 0.0).sum() * CELL)


def configuration(rng: np.random.Generator, out: float, swap: float) -> np.ndarray:
    """Three points of the plane: the first within ``out`` of the others, which are within ``swap`` of each other."""
    while True:
        angles, radii = rng.uniform(0, 2 * math.pi, 2), out * rng.choice([0.0, 0.5, 1.0, 1.0], 2)
        ends = radii[:, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1)
        if np.linalg.norm(ends[0] - ends[1]) <= swap + 1e-12:
            return np.concatenate((np.zeros((1, 2)), ends))


@pytest.mark.parametrize("q", [0.05, 0.3, 0.8, 1.0])
@pytest.mark.parametrize(("out", "swap"), [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)])
def test_no_three_points_exceed_the_profile_and_some_come_near(q, out, swap) -> None:
    rng, worst = np.random.default_rng(1), 0.0
    query = SampledQuery(q, out, swap)
    for _ in range(60):
        y = np.array([abs(rng.normal()) * 2.0])
        log_t, log_h = log_profile(query, 1.0, y)
        points = configuration(rng, out, swap)
        worst = max(worst, divergence(q, points, math.exp(log_t[0])) / math.exp(log_h[0]))
    print(f"q={q} out={out} swap={swap}: {worst:.3f}")
    assert worst <= 1 + 3e-3  # of the sums over the grid
    assert worst >= (0.99 if out == swap or q == 1 else 0.95)


def test_a_profile_for_three_per_cent_less_is_refuted() -> None:
    """Negative control."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    log_t, log_h = log_profile(SampledQuery(0.3, 1 / 1.03, 1 / 1.03), 1.0, np.array([2.0]))
    assert divergence(0.3, points, math.exp(log_t[0])) > 1.02 * math.exp(log_h[0])


@pytest.mark.parametrize("mu", [0.01, 0.5, 3.0, 40.0])
def test_a_batch_of_everything_has_the_gaussian_profile(mu) -> None:
    y = np.array([0.0, 1e-3, 0.5, 2.0, 30.0]) * mu
    computed = np.exp(log_profile(SampledQuery(1.0, 5.0, mu), 1.0, y)[1])
    exact = np.array([gaussian_delta(mu, one) if one else 2 * stats.norm.cdf(mu / 2) - 1 for one in y])
    np.testing.assert_allclose(computed, exact, rtol=1e-9, atol=1e-250)
    assert (computed >= exact * (1 - 1e-12)).all()


def direct(q: float, mu: float, order: float) -> float:
    """M - 1 as an integral over noise: psi(u) = (1 + u)^a - 1 - a u at u = q (L - 1), and at 1 - a, where L > 1."""

    def excess(z: float) -> float:
        u = q * math.expm1(mu * z - 0.5 * mu * mu)
        both = [math.expm1(a * math.log1p(u)) - a * u for a in (order, 1.0 - order)]
        return sum(both) * stats.norm.pdf(z)

    end = mu * (order + 0.5) + 10.0
    return integrate.quad(excess, mu / 2, end, limit=500, points=[min(end, mu * order)], epsabs=0.0, epsrel=1e-8)[0]


@pytest.mark.parametrize("q", RATES)
@pytest.mark.parametrize("mu", [0.1, 0.8, 2.0])
@pytest.mark.parametrize("order", [1.5, 2.0, 4.7, 9.0])
def test_moments_are_those_of_the_dominating_pair(q, mu, order) -> None:
    moment = math.expm1(log_moment(SampledQuery(q, 1.0, 1.0), 1.0 / mu, order))
    assert moment == pytest.approx(direct(q, mu, order), rel=1e-6)


@pytest.mark.parametrize(("n", "m"), [(5000, 1), (5000, 64), (100, 30)])
@pytest.mark.parametrize("multiplier", [0.7, 1.5, 6.0])
def test_moments_never_exceed_those_of_wang_balle_and_kasiviswanathan(n, m, multiplier) -> None:
    """Their bound for whole orders, without replacement, as dp-accounting has it (with our own sensitivity)."""
    steps = 100
    for order in (2, 3, 5, 16, 40):
        theirs = rdp.RdpAccountant([order], NeighboringRelation.REPLACE_ONE)
        event = dp_event.SampledWithoutReplacementDpEvent(n, m, dp_event.GaussianDpEvent(multiplier))
        theirs.compose(event, steps)
        ours = log_moment(SampledQuery(m / n, 1.0, 1.0), multiplier, order) / (order - 1)
        assert ours <= float(theirs._rdp[0]) / steps * (1 + 1e-6)


def test_the_other_account_of_moments_needs_up_to_twice_the_noise() -> None:
    """Its leading term is four times ours where a step takes many records."""
    n, m, steps, epsilon, delta = 5000, 500, 200, 1.0, 1e-6
    sigma = moment_sigma(SampledQuery(m / n, 1.0, 1.0), steps, epsilon, delta)
    theirs = []
    for factor in (0.9, 1.0, 2.2):
        accountant = rdp.RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        event = dp_event.SampledWithoutReplacementDpEvent(n, m, dp_event.GaussianDpEvent(factor * sigma))
        theirs.append(accountant.compose(event, steps).get_epsilon(delta))
    assert theirs[0] > theirs[1] >= epsilon * (1 - 1e-3) > 0
    assert theirs[2] < epsilon * 1.01


@pytest.mark.parametrize("steps", [1, 7, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_batch_of_everything_composes_exactly(steps, epsilon) -> None:
    query = SampledQuery(1.0, 9.0, 2.0)
    sigma = moment_sigma(query, steps, epsilon, 1e-6)
    assert sigma == pytest.approx(2.0 * math.sqrt(steps) / gaussian_mu(epsilon, 1e-6), rel=1e-12)
    assert Spending(query, sigma, steps).moment_delta(epsilon) <= 1e-6


@pytest.mark.parametrize("q", RATES)
@pytest.mark.parametrize("steps", [1, 50, 5000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-5), (1.0, 1e-8), (6.0, 1e-30)])
def test_calibrated_noise_never_gives_more_than_the_epsilon_asked_for(q, steps, epsilon, delta) -> None:
    query = SampledQuery(q, 1.0, 0.7)
    sigma = moment_sigma(query, steps, epsilon, delta)
    assert Spending(query, sigma, steps).moment_delta(epsilon) <= delta
    assert Spending(query, 0.99 * sigma, steps).moment_delta(epsilon) > delta


@pytest.mark.parametrize("values", [(0.0, 1, 1), (1.5, 1, 1), (0.5, 0.0, 1), (0.5, 1, math.inf), (math.nan, 1, 1)])
def test_what_is_no_query_is_refused(values) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \(0, 1\], out and swap finite and above 0"):
        SampledQuery(*values)
