"""Random linear terms: the table of the theory page, the safe side, and Lemmas 3 to 6 against the laws they bound."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from diptych import Budget
from diptych.accounting import OfPairs, gaussian_mu, plan_noise, plan_tilt, tilt_mu
from diptych.accounting.plan import lattice_slack
from diptych.accounting.profiles import STEEPEST
from diptych.accounting.tilt import ROUNDING
from diptych.noise import RESOLUTION, SeededBits

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "objective-perturbation.md"
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SETTINGS = [(0.25, 1e-5), (1.0, 1e-3), (1.0, 1e-5), (4.0, 1e-5), (1.0, 1e-10)]
settings = pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
signs = pytest.mark.parametrize("one_signed", [False, True])
budgets = st.tuples(st.floats(1e-3, 20.0), st.floats(1e-14, 0.3))


def rows_of_the_page() -> list[list[float]]:
    """Return the numbers of the table of sigma/s: delta, epsilon, then a column an analysis."""
    cells = [re.split(r"\s*\|\s*", line.strip().strip("|").strip()) for line in PAGE.read_text().splitlines()]
    rows = [row for row in cells if len(row) == 7 and row[0].startswith("10")]
    return [
        [10.0 ** int(row[0].translate(SUPERSCRIPTS)[2:]), *(float(cell.strip("*")) for cell in row[1:])] for row in rows
    ]


def published(epsilon: float, delta: float) -> float:
    """Algorithm 2, line 12, for a sensitivity of 1."""
    return (2.0 * math.sqrt(2.0 * math.log(1.0 / delta)) + math.sqrt(2.0 * epsilon)) / (2.0 * epsilon)


def quantile_repair(epsilon: float, delta: float) -> float:
    """r = q + sqrt(2 pi) Phi(-q)/delta bounds every quantile of a mean of Rayleigh variables."""
    q = math.sqrt(2.0 * math.log(1.0 / delta))
    r = q + math.sqrt(2.0 * math.pi) * 0.5 * math.erfc(q / math.sqrt(2.0)) / delta
    return (r + math.sqrt(r * r + 2.0 * epsilon)) / (2.0 * epsilon)


def test_the_table_of_the_theory_page() -> None:
    rows = rows_of_the_page()
    assert len(rows) == 5
    for delta, epsilon, *columns in rows:
        want = [
            published(epsilon, delta),
            quantile_repair(epsilon, delta),
            1.0 / tilt_mu(epsilon, delta, OfPairs(False)),
            1.0 / tilt_mu(epsilon, delta, OfPairs(True)),
            1.0 / gaussian_mu(epsilon, delta),
        ]
        np.testing.assert_allclose(columns, want, rtol=0, atol=0.005 + 1e-9)


@given(st.floats(1e-3, 20.0), st.floats(1e-14, 1e-3))
def test_every_step_of_the_analysis_costs_less_noise(epsilon, delta) -> None:
    """Quantile repair > Lemma 4 > Lemma 5 > plain Gaussian; and Lemma 5 is below what was published."""
    scales = [
        quantile_repair(epsilon, delta),
        1.0 / tilt_mu(epsilon, delta, OfPairs(False)),
        1.0 / tilt_mu(epsilon, delta, OfPairs(True)),
        1.0 / gaussian_mu(epsilon, delta),
    ]
    assert all(more > less for more, less in pairwise(scales))
    assert published(epsilon, delta) > scales[2]


@signs
@given(budgets, st.floats(0.02, 3.0), st.floats(1.001, 2.0))
def test_delta_grows_with_mu_and_falls_with_epsilon(one_signed, budget, mu, factor) -> None:
    epsilon = budget[0]
    here = OfPairs(one_signed).delta(mu, epsilon)
    assert 0.0 <= here <= OfPairs(one_signed).delta(factor * mu, epsilon) <= 1.0
    assert OfPairs(one_signed).delta(mu, factor * epsilon) <= here
    if 1e-250 < here < 1.0:
        assert OfPairs(one_signed).delta(factor * mu, epsilon) > here


@signs
@given(budgets)
def test_calibration_ends_on_the_safe_side_and_at_the_edge(one_signed, budget) -> None:
    epsilon, delta = budget
    mu = tilt_mu(epsilon, delta, OfPairs(one_signed))
    allowed = delta / (1.0 + ROUNDING)
    assert OfPairs(one_signed).delta(mu, epsilon) <= allowed
    assert OfPairs(one_signed).delta(mu * (1.0 + 1e-12), epsilon) > allowed * (1.0 - 1e-15)


@signs
@pytest.mark.parametrize(
    ("epsilon", "delta"), [*SETTINGS, (1e-9, 1e-9), (1e-7, 1e-12), (1e-4, 1e-6), (20.0, 1e-14), (0.1, 0.3)]
)
def test_the_safe_side_holds_in_higher_precision(one_signed, epsilon, delta) -> None:
    """Lemma 3's bound in 100 digits, for one of its u: tiny budgets are where doubles would cancel."""
    mu = tilt_mu(epsilon, delta, OfPairs(one_signed))
    a = (epsilon - (np.expm1(STEEPEST) - STEEPEST)) / mu - mu / 2
    near = np.argmin(np.where(a > 0, -STEEPEST - 0.5 * a**2 - 2.0 * np.log(np.maximum(a, 0.5)), np.inf))
    bounds = [precise_delta(mu, epsilon, u, one_signed) for u in STEEPEST[max(0, near - 60) : near + 60]]
    assert Decimal(delta) * Decimal("0.99999") <= min(bounds) <= Decimal(delta)


def precise_delta(mu: float, epsilon: float, u: float, one_signed: bool) -> Decimal:
    """mu e^-u times the bound of E(M - a)_+ by Lemma 4 or 5."""
    with localcontext() as context:
        context.prec = 100
        m, e, v = Decimal(mu), Decimal(epsilon), Decimal(float(u))
        a = (e + 1 + v - v.exp()) / m - m / 2
        if a <= 0:
            return Decimal(1)
        if not one_signed:
            return m * (-v).exp() * ROOT_TWO_PI * precise_tail(a)
        third = precise_excess(2 * a) / 2 if a >= 1 else precise_excess(a)
        return m * (-v).exp() * (2 * precise_excess(a) + third)


def precise_excess(z: Decimal) -> Decimal:
    """E(Z - z)_+ for a standard Gaussian Z."""
    return (-z * z / 2).exp() / ROOT_TWO_PI - z * precise_tail(z)


def precise_tail(z: Decimal) -> Decimal:
    """Phi(-z) by the series of Phi about 0."""
    if z > 18:
        return Decimal(0)  # below 1e-71
    term, total, k = z, z, 0
    while abs(term) > Decimal("1e-99"):
        k += 1
        term *= -z * z / (2 * k)
        total += term / (2 * k + 1)
    return Decimal("0.5") - total / ROOT_TWO_PI


ROOT_TWO_PI = Decimal(
    "2.50662827463100050241576528481104525300698674060993831662992357634229365460784197494659583837805726611600997"
)


# --- Lemma 3: any M


@given(st.lists(st.tuples(st.floats(-3.0, 12.0), st.floats(0.01, 1.0)), min_size=1, max_size=6), st.floats(0.05, 2.0))
def test_lemma_3_bounds_the_divergence_of_any_loss_of_that_form(atoms, mu) -> None:
    """E(1 - e^(epsilon - mu^2/2 - mu M))_+ for M on a few atoms, against every u."""
    m, weight = np.array(atoms).T
    weight /= weight.sum()
    for epsilon in (0.1, 1.0, 5.0):
        exact = weight @ rejected(m - epsilon / mu + mu / 2, mu)
        a = (epsilon + 1.0 + STEEPEST - np.exp(STEEPEST)) / mu - mu / 2
        bound = mu * np.exp(-STEEPEST) * (np.maximum(m - a[:, None], 0.0) @ weight)
        assert exact <= bound[a > 0].min(initial=1.0) + 1e-12


def rejected(excess, mu):
    """(1 - e^(-mu x))_+: the share of an outcome that counts, x beyond epsilon/mu - mu/2."""
    return -np.expm1(-mu * np.maximum(excess, 0.0))


# --- Lemmas 4 and 5: the laws of M that they allow


def rayleigh_divergence(mu: float, epsilon: float) -> float:
    """The divergence if M were the norm of a standard Gaussian in the plane: one pair whose slopes obey the noise."""
    start = max(epsilon / mu - mu / 2, 0.0)
    offset = start - (epsilon / mu - mu / 2)
    return integrate.quad(
        lambda x: rejected(x + offset, mu) * (start + x) * math.exp(-0.5 * (start + x) ** 2), 0, 40, epsabs=0, limit=500
    )[0]


def triangle_divergence(mu: float, epsilon: float, sides: tuple[float, float, float]) -> float:
    """The divergence for M = max(0, G1, G2, G1 + G2), with the sides as standard deviations, in polar coordinates."""
    first, second, both = sides
    covariance = 0.5 * (both**2 - first**2 - second**2)
    values, vectors = np.linalg.eigh(np.array([[first**2, covariance], [covariance, second**2]]))
    turns = 2.0 * np.pi * (np.arange(720) + 0.5) / 720
    g = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * np.stack((np.cos(turns), np.sin(turns))))
    largest = np.maximum(0.0, np.maximum(np.maximum(g[0], g[1]), g[0] + g[1]))
    r = (np.arange(1500) + 0.5) * 14.0 / 1500
    share = rejected(r[:, None] * largest - epsilon / mu + mu / 2, mu).mean(axis=1)
    return float((share * r * np.exp(-0.5 * r**2)).sum() * 14.0 / 1500)


@settings
def test_lemma_4_bounds_a_plane_a_pair_and_little_is_lost(epsilon, delta) -> None:
    mu = tilt_mu(epsilon, delta, OfPairs(False))
    reached = rayleigh_divergence(mu, epsilon) / delta
    print(f"Lemma 4, epsilon={epsilon:g}, delta={delta:g}: {reached:.3f} of delta")
    assert 0.9 <= reached <= 1.0
    assert rayleigh_divergence(1.05 * mu, epsilon) > delta  # 5 % less noise would be refuted


TRIANGLES = [(1, 1, 0.5), (1, 0.5, 1), (1, 1, 0), (1, 0, 1), (0.5, 0.5, 1), (0.75**0.5,) * 3, (0.9, 0.8, 0.6)]


@settings
def test_lemma_5_bounds_a_triangle_a_pair_and_little_is_lost(epsilon, delta) -> None:
    mu = tilt_mu(epsilon, delta, OfPairs(True))
    reached = [triangle_divergence(mu, epsilon, sides) / delta for sides in TRIANGLES]
    print(f"Lemma 5, epsilon={epsilon:g}, delta={delta:g}: {max(reached):.3f} of delta")
    assert max(reached) <= 1.0
    assert reached[0] >= 0.9
    assert triangle_divergence(1.05 * mu, epsilon, TRIANGLES[0]) > delta  # 5 % less noise would be refuted


def test_one_triangle_breaks_the_plain_gaussian_calibration() -> None:
    """What the published proof leaves out is real: slopes that follow the noise cost more than a fixed direction."""
    mu = gaussian_mu(1.0, 1e-5)
    assert triangle_divergence(mu, 1.0, TRIANGLES[0]) > 1.9e-5


@signs
def test_means_over_pairs_spend_no_more_than_one_pair(one_signed, rng) -> None:
    """Jensen's step, simulated: pairs of a record in the plane, worst slopes for every b, weights that sum to 1."""
    epsilon, delta, draws = 0.5, 0.05, 100_000
    mu = tilt_mu(epsilon, delta, OfPairs(one_signed))
    for pairs in (1, 2, 8):
        x, other, *partners = disc(rng, pairs + 2)
        b = rng.normal(size=(draws, 2))
        if one_signed:
            y, there = b @ x, b @ other
            terms = [np.maximum(0, np.maximum(np.maximum(there - b @ z, b @ z - y), there - y)) for z in partners]
        else:
            terms = [np.linalg.norm(b, axis=1)] * pairs  # in the plane every pair has the same one
        values = rejected(np.mean(terms, axis=0) / (2.0 if one_signed else 1.0) - epsilon / mu + mu / 2, mu)
        assert values.mean() - 6.0 * values.std() / math.sqrt(draws) <= delta
        assert values.mean() > 0.0


def disc(rng, count: int) -> np.ndarray:
    rows = rng.normal(size=(count, 2))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# --- Lemma 6 and the plans


@pytest.mark.parametrize("m", [4.0, 16.0, 64.0])
def test_lemma_6_bounds_the_ratio_of_discrete_and_rounded_laplace(m) -> None:
    """Probability by probability, from the geometric series and the integral; half of eta, all of eta' is reached."""
    k = np.arange(int(30 * m))
    r = math.exp(-1.0 / m)
    p = r**k * (1.0 - r) / (1.0 + r)
    q = np.where(k == 0, -math.expm1(-0.5 / m), 0.5 * (np.exp(-(k - 0.5) / m) - np.exp(-(k + 0.5) / m)))
    assert 0.45 / (2 * m) <= np.log(p / q).max() <= 1.0 / (2 * m)
    assert 0.98 / (8 * m * m) <= np.log(q / p).max() <= 1.0 / (8 * m * m)


@signs
@pytest.mark.parametrize("dimension", [1, 3, 3000])
@pytest.mark.parametrize("budget", [Budget(0.1, 1e-8), Budget(1.0, 1e-6), Budget(8.0, 1e-3), Budget(0.5)], ids=str)
def test_scales_pay_for_sensitivity_and_lattice(one_signed, dimension, budget) -> None:
    sensitivity = 0.0137
    least = 2 ** (RESOLUTION - 1)
    for noise in ("laplace", "norm-laplace") if budget.pure else ("gaussian", "laplace", "norm-laplace"):
        plan = plan_tilt(budget, sensitivity, dimension, noise, profile=OfPairs(one_signed))
        if noise == "gaussian":
            eta, back = lattice_slack(dimension, 0.0, least)
            mu = tilt_mu(budget.epsilon - eta - back, budget.delta * math.exp(-eta), OfPairs(one_signed))
            wanted = sensitivity / mu
        elif noise == "laplace":
            slack = dimension * (1.0 / (2 * least) + 1.0 / (8 * least**2))
            wanted = math.sqrt(dimension) * sensitivity / (budget.epsilon - slack)
        else:
            wanted = sensitivity / budget.epsilon
        assert wanted * (1.0 - 1e-14) <= plan.scale <= wanted * (1.0 + 1e-6)
        assert plan.sensitivity == pytest.approx(sensitivity * math.sqrt(dimension if noise == "laplace" else 1))
        assert least <= plan.scale / plan.lattice.step <= 2 * least + 1
        if noise != "norm-laplace":
            assert plan.lattice.steps(plan.scale) * plan.lattice.step == plan.scale


def test_a_loss_of_one_sign_needs_less_gaussian_noise_and_no_other_difference() -> None:
    for noise in ("laplace", "norm-laplace"):
        plans = [plan_tilt(Budget(1.0, 1e-5), 0.2, 3, noise, profile=OfPairs(sign)) for sign in (True, False)]
        assert plans[0] == plans[1]
    sharp, loose = (plan_tilt(Budget(1.0, 1e-5), 0.2, 3, "gaussian", profile=OfPairs(sign)) for sign in (True, False))
    assert sharp.scale == pytest.approx(loose.scale * 3.89 / 4.26, rel=2e-3)
    assert sharp.scale > plan_noise(Budget(1.0, 1e-5), 0.2, 3, "gaussian").scale


@pytest.mark.parametrize("budget", [Budget(0.1, 1e-8), Budget(8.0, 1e-3), Budget(0.5), Budget(4.0)], ids=str)
@pytest.mark.parametrize("dimension", [1, 2, 8, 100])
def test_auto_takes_the_quietest_law(budget, dimension) -> None:
    auto = plan_tilt(budget, 0.1, dimension, profile=OfPairs(True))
    allowed = ("laplace", "norm-laplace") if budget.pure else ("gaussian", "laplace")
    others = [plan_tilt(budget, 0.1, dimension, noise, profile=OfPairs(True)) for noise in allowed]
    assert auto.noise in allowed
    assert auto.mean_square <= min(plan.mean_square for plan in others) * (1 + 1e-5)


def test_draws_lie_on_the_lattice_and_have_the_planned_size() -> None:
    for noise in ("gaussian", "laplace", "norm-laplace"):
        plan, source = plan_tilt(Budget(1.0, 1e-4), 0.1, 6, noise, profile=OfPairs(True)), SeededBits(4)
        draws = np.array([plan.add(np.zeros(6), source) for _ in range(3000)])
        np.testing.assert_array_equal(draws / plan.lattice.step, np.rint(draws / plan.lattice.step))
        assert (draws**2).sum(axis=1).mean() == pytest.approx(plan.mean_square, rel=0.12)
        assert np.linalg.norm(draws, axis=1).max() < plan.farthest


REFUSED = [
    ((Budget(1.0), 0.1, 2, "gaussian"), "noise='gaussian' cannot give delta = 0"),
    ((Budget(1.0), 0.1, 2, "uniform"), "noise must be 'auto' or one of"),
    ((Budget(1.0), 0.0, 2, "auto"), "sensitivity must be a finite number above 0"),
    ((Budget(1.0), math.inf, 2, "auto"), "sensitivity must be a finite number above 0"),
    ((Budget(1.0), math.nan, 2, "auto"), "sensitivity must be a finite number above 0"),
    ((Budget(1e-10), 0.1, 3000, "laplace"), "epsilon=1e-10 is too small for Laplace noise in 3000 dimensions"),
    ((Budget(1e-12, 1e-9), 0.1, 9, "gaussian"), "epsilon=1e-12 is too small for Gaussian noise in 9 dimensions"),
    ((Budget(1.0, 1e-250), 0.1, 2, "gaussian"), "delta must be 0 or at least 1e-200"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_cannot_be_planned_is_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        plan_tilt(*arguments, profile=OfPairs(True))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)])
def test_budgets_that_gaussian_noise_cannot_meet_are_refused(epsilon, delta) -> None:
    with pytest.raises(ValueError, match="epsilon must be positive and finite"):
        tilt_mu(epsilon, delta, OfPairs(True))


def test_nothing_overflows() -> None:
    for mu, epsilon in ((1e-8, 1.0), (1e3, 1.0), (1.0, 1e4), (40.0, 800.0), (200.0, 1e4)):
        assert 0 <= OfPairs(True).delta(mu, epsilon) <= OfPairs(False).delta(mu, epsilon) <= 1
    assert OfPairs(True).delta(1e3, 1.0) == 1.0
    assert tilt_mu(1e5, 1e-6, OfPairs(True)) > 400
