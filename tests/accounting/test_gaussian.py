"""The Gaussian profile against an integral, a table of published values, and the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from diptych.accounting import compose, gaussian_delta, gaussian_mu


def hockey_stick(mu: float, epsilon: float) -> float:
    """Integral of (p - e^epsilon q)_+ for unit Gaussians mu apart."""
    start = epsilon / mu + mu / 2  # p > e^epsilon q beyond it
    value, _ = integrate.quad(
        lambda x: stats.norm.pdf(x - mu) - math.exp(epsilon) * stats.norm.pdf(x), start, start + 40, epsabs=0, limit=500
    )
    return value


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 8.0])
def test_profile_is_the_hockey_stick_divergence(mu, epsilon) -> None:
    want = hockey_stick(mu, epsilon)
    if want > 1e-200:
        assert gaussian_delta(mu, epsilon) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(
    ("delta", "epsilon", "mu"),
    [
        (1e-5, 0.5, 0.142),
        (1e-5, 1, 0.268),
        (1e-5, 2, 0.502),
        (1e-5, 4, 0.925),
        (1e-5, 6, 1.310),
        (1 / 768, 1, 0.400),
        (1 / 768, 4, 1.240),
    ],
)
def test_known_values(delta, epsilon, mu) -> None:
    assert gaussian_mu(epsilon, delta) == pytest.approx(mu, abs=6e-4)


@given(st.floats(1e-4, 50), st.floats(1e-14, 0.4))
def test_calibration_ends_on_the_safe_side_and_near_it(epsilon, delta) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(mu, epsilon) <= delta
    assert gaussian_delta(mu * 1.001, epsilon) > delta * (1 - 1e-6)


def test_the_safe_side_holds_in_higher_precision() -> None:
    """Sum the Gaussian series in exact fractions where cancellation is worst: small epsilon and delta."""
    for epsilon, delta in ((1e-6, 1e-10), (1e-3, 1e-9), (0.1, 1e-6)):
        mu = gaussian_mu(epsilon, delta)
        assert precise_delta(mu, epsilon) <= delta


def precise_delta(mu: float, epsilon: float) -> float:
    """Phi by its Taylor series in fractions of 400 bits, exp likewise."""
    bits = 400

    def cut(x: Fraction) -> Fraction:
        return Fraction(round(x * 2**bits), 2**bits)

    def phi(x: Fraction) -> Fraction:
        term, total, k = x, x, 0
        while abs(term) > Fraction(1, 2 ** (bits - 20)):
            k += 1
            term = cut(-term * x * x / (2 * k))
            total += term / (2 * k + 1)
        return Fraction(1, 2) + total / ROOT_TWO_PI

    def exp(x: Fraction) -> Fraction:
        term = total = Fraction(1)
        k = 0
        while abs(term) > Fraction(1, 2 ** (bits - 20)):
            k += 1
            term = cut(term * x / k)
            total += term
        return total

    m, e = Fraction(mu), Fraction(epsilon)
    return float(phi(cut(m / 2 - e / m)) - exp(e) * phi(cut(-m / 2 - e / m)))


ROOT_TWO_PI = Fraction(
    "2.50662827463100050241576528481104525300698674060993831662992357634229365460784197494659583837805726611600997"
)


def test_nothing_overflows() -> None:
    for mu, epsilon in ((1e-8, 1.0), (1e3, 1.0), (1.0, 1e4), (40.0, 800.0), (200.0, 1e4)):
        assert 0 <= gaussian_delta(mu, epsilon) <= 1
    assert gaussian_mu(1e5, 1e-6) > 400
    assert gaussian_delta(1e3, 1.0) == 1.0


def test_smaller_budgets_mean_smaller_mu() -> None:
    grid = [gaussian_mu(epsilon, 1e-6) for epsilon in np.geomspace(1e-3, 100, 40)]
    assert np.all(np.diff(grid) > 0)


def test_composition_is_euclidean() -> None:
    assert compose([3.0, 4.0]) == 5.0
    assert compose([0.1] * 100) == pytest.approx(1.0)
    assert compose([]) == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)])
def test_budgets_that_gaussian_noise_cannot_meet_are_refused(epsilon, delta) -> None:
    with pytest.raises(ValueError, match="epsilon must be positive and finite"):
        gaussian_mu(epsilon, delta)


def test_a_delta_below_all_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="delta must be 0 or at least 1e-200"):
        gaussian_mu(1e-9, 1e-320)
    mu = gaussian_mu(1.0, 1e-200)
    assert gaussian_delta(mu, 1.0) <= 1e-200
