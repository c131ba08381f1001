"""Profiles of points: Lemmas 10 and 11 of the theory page against the laws that they bound, and the safe side."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from diptych.accounting import OfExchange, OfPairs, OfRecord, gaussian_delta, gaussian_mu, tilt_mu
from diptych.accounting.tilt import ROUNDING
from tests.accounting.test_tilt import rejected

SETTINGS = [(0.25, 1e-5), (1.0, 1e-3), (1.0, 1e-5), (4.0, 1e-5)]
settings = pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
PROFILES = [OfRecord(True), OfRecord(False), *(OfExchange(sign, c) for sign in (True, False) for c in (0.5, 0.7, 1.0))]
profiles = pytest.mark.parametrize("profile", PROFILES, ids=str)


R, TURNS = (np.arange(300) + 0.5) * 9.0 / 300, 2.0 * np.pi * (np.arange(120) + 0.5) / 120
PLANE = R[:, None, None] * np.stack((np.cos(TURNS), np.sin(TURNS)), axis=-1)


def over_the_plane(loss, epsilon: float) -> float:
    """E(1 - e^(epsilon - loss))_+ for a standard Gaussian in the plane, in polar coordinates."""
    counted = -np.expm1(np.minimum(0.0, epsilon - np.array([loss(circle) for circle in PLANE]))).mean(axis=1)
    return float((counted * R * np.exp(-0.5 * R**2)).sum() * 9.0 / 300)


@settings
def test_lemma_10_on_a_line_and_in_a_plane(epsilon, delta) -> None:
    """Its terms are the expectations that they stand for."""
    for profile, law in (
        (OfRecord(True), lambda z, mu: np.maximum(0.0, mu * mu / 2 + mu * z[..., 0])),
        (OfRecord(False), lambda z, mu: mu * mu / 2 + mu * np.abs(z[..., 0])),
    ):
        mu = tilt_mu(epsilon, delta, profile)
        assert over_the_plane(lambda z, law=law, mu=mu: law(z, mu), epsilon) == pytest.approx(delta, rel=0.02)
    mu = 0.9 * gaussian_mu(epsilon, delta)
    start = epsilon / mu - mu / 2
    rayleigh = integrate.quad(
        lambda x: rejected(x, mu) * (start + x) * math.exp(-0.5 * (start + x) ** 2), 0, 40, epsabs=0, limit=500
    )[0]
    assert OfExchange(False, 1.0).delta(mu, epsilon) == pytest.approx(rayleigh, rel=1e-6)


def parallelogram(angle: float, share: float, signed: bool) -> np.ndarray:
    """Points of the boundary of {k e_1 + k' e_2} within the unit disc: one gradient measures at most ``share``."""
    low = 0.0 if signed else -1.0
    t = np.linspace(low, 1.0, 41)
    edge = np.concatenate([np.stack(pair, axis=1) for c in (low, 1.0) for pair in ((t, 0 * t + c), (0 * t + c, t))])
    sides = share * np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
    points = edge @ sides
    return points / np.maximum(1.0, np.linalg.norm(points, axis=1))[:, None]


@pytest.mark.parametrize("one_signed", [True, False])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.75, 0.9, 1.0])
def test_lemma_11_bounds_the_worst_change_at_every_angle(one_signed, share) -> None:
    """The worst Gamma for every b, over the whole parallelogram cut by the circle, at several angles."""
    epsilon, delta = 1.0, 1e-2
    profile = OfExchange(one_signed, share)
    mu, worst = tilt_mu(epsilon, delta, profile), 0.0
    for angle in np.linspace(0.02, math.pi - 0.02, 7):
        points = mu * parallelogram(angle, share, one_signed)
        squares = 0.5 * (points**2).sum(axis=1)

        def loss(z, points=points, squares=squares):
            return np.maximum(0.0, (z @ points.T + squares).max(axis=-1))

        worst = max(worst, over_the_plane(loss, epsilon))
    print(f"one sign {one_signed}, share {share}: {worst / delta:.3f} of delta")
    assert worst <= delta * (1.0 + 5e-3)
    assert worst >= 0.55 * delta


def test_the_angle_of_an_arc() -> None:
    """The largest value of 2 arcsin(c sin t) - t, searched; its ends."""
    t = np.linspace(0.0, math.pi / 2, 200_001)
    for share in (0.5, 0.55, 0.6, 0.75, 0.9, 1.0):
        searched = (2.0 * np.arcsin(share * np.sin(t)) - t).max()
        assert OfExchange(True, share).angle == pytest.approx(searched, abs=1e-9)
    assert OfExchange(True, 0.5).angle == 0.0
    assert OfExchange(True, 1.0).angle == pytest.approx(math.pi / 2)


@settings
def test_the_fewer_ways_a_record_has_the_less_noise(epsilon, delta) -> None:
    needed = [
        1.0 / tilt_mu(epsilon, delta, profile)
        for profile in (OfRecord(True), OfExchange(True, 0.5), OfExchange(True, 0.7), OfPairs(False))
    ]
    assert needed[0] == pytest.approx(1.0 / gaussian_mu(epsilon, delta), rel=1e-6)  # no more than a plain release
    assert all(less <= more * (1 + 1e-9) for less, more in itertools.pairwise(needed))
    assert tilt_mu(epsilon, delta, OfExchange(False, 1.0)) >= tilt_mu(epsilon, delta, OfPairs(False))


@profiles
@given(st.tuples(st.floats(1e-3, 20.0), st.floats(1e-14, 0.3)), st.floats(0.02, 3.0), st.floats(1.001, 2.0))
def test_delta_grows_with_mu_and_falls_with_epsilon(profile, budget, mu, factor) -> None:
    epsilon = budget[0]
    here = profile.delta(mu, epsilon)
    assert 0.0 <= here <= profile.delta(factor * mu, epsilon) <= 1.0
    assert profile.delta(mu, factor * epsilon) <= here


@profiles
@given(st.tuples(st.floats(1e-3, 20.0), st.floats(1e-14, 0.3)))
def test_calibration_ends_on_the_safe_side_and_at_the_edge(profile, budget) -> None:
    epsilon, delta = budget
    mu = tilt_mu(epsilon, delta, profile)
    allowed = delta / (1.0 + ROUNDING)
    assert profile.delta(mu, epsilon) <= allowed
    assert profile.delta(mu * (1.0 + 1e-12), epsilon) > allowed * (1.0 - 1e-9)
    assert mu <= gaussian_mu(epsilon, delta) * (1 + 1e-12) or gaussian_delta(mu, epsilon) <= delta


@profiles
def test_nothing_overflows(profile) -> None:
    for mu, epsilon in ((1e-8, 1.0), (1e3, 1.0), (1.0, 1e4), (40.0, 800.0), (200.0, 1e4)):
        assert 0.0 <= profile.delta(mu, epsilon) <= 1.0
    assert profile.delta(1e3, 1.0) == 1.0
