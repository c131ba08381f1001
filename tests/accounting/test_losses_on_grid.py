"""Losses on a grid: one step, closed forms, moments, another library, and the pair that dominates told apart."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from dp_accounting import dp_event, pld

from diptych.accounting import gaussian_delta, sampled_sigma
from diptych.accounting import losses_on_grid as grid
from diptych.accounting.losses_on_grid import grid_delta
from diptych.accounting.sampled import SampledQuery, Spending, log_profile, moment_sigma
from diptych.accounting.steps import EXACT, SAMPLED, is_enough, needed_scale, plan_steps
from diptych.audit import clopper_pearson
from diptych.spec import Budget
from tests.statistics import ALARM


def alike(q: float) -> SampledQuery:
    return SampledQuery(q, 1.0, 1.0)


def test_masses_are_a_law_whose_profile_is_that_of_the_step() -> None:
    spending, step = Spending(alike(0.1), 1.0, 1), 0.01
    masses, lost = grid._one_step(spending, step, 700)
    x = step * np.arange(-700, 701)
    assert masses.min() >= 0.0
    assert masses.sum() + lost == pytest.approx(1.0, abs=1e-9)
    for k in (0, 3, 100, 400):
        t = math.exp(step * k)
        profile = lost + float(np.maximum(masses - t * masses * np.exp(-x), 0.0).sum())
        y = np.log1p(np.expm1(np.array([step * k])) / 0.1)
        assert profile == pytest.approx(math.exp(log_profile(spending.query, 1.0, y)[1][0]), rel=1e-6)


@pytest.mark.parametrize("q", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("multiplier", [0.6, 2.0])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_one_step_spends_its_profile(q, multiplier, epsilon) -> None:
    y = np.log1p(np.expm1(np.array([epsilon])) / q)
    exact = math.exp(log_profile(alike(q), multiplier, y)[1][0])
    if 1e-200 < exact < 0.1:
        assert exact <= grid_delta(Spending(alike(q), multiplier, 1), epsilon, exact) <= 1.06 * exact


@pytest.mark.parametrize("steps", [1, 30, 3000])
@pytest.mark.parametrize(("epsilon", "multiplier"), [(0.5, 5.0), (2.0, 2.0), (1.0, 8.0)])
def test_without_sampling_it_is_the_gaussian_composition(steps, epsilon, multiplier) -> None:
    """Never below it, and within two per cent."""
    sigma = multiplier * math.sqrt(steps)
    exact = gaussian_delta(math.sqrt(steps) / sigma, epsilon)
    assert exact <= grid_delta(Spending(alike(1.0), sigma, steps), epsilon, exact) <= 1.02 * exact


def theirs(q: float, multiplier: float, steps: int, epsilon: float) -> float:
    """Poisson batches, a record added or removed, by dp-accounting: one direction of our pair, so a lower bound."""
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    event = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(multiplier))
    return float(accountant.compose(dp_event.SelfComposedDpEvent(event, steps)).get_delta(epsilon))


@pytest.mark.parametrize(
    ("q", "steps", "epsilon", "delta", "most"),
    [
        (2e-4, 1000, 0.5, 4e-8, 1.05),
        (4e-4, 1000, 1.0, 4e-8, 1.05),
        (2e-4, 1000, 4.0, 4e-8, 1.05),
        (0.01, 1000, 0.1, 1e-6, 1.7),
        (0.1, 100, 1.0, 1e-6, 2.3),
        (0.5, 3, 1.0, 4e-6, 1.05),
    ],
)
def test_another_librarys_account_of_one_direction_lies_just_below(q, steps, epsilon, delta, most) -> None:
    """Ours takes the worse direction at every loss, so it is larger, by the stated factor at most; in sigma, 5 %."""
    sigma = sampled_sigma(alike(q), steps, epsilon, delta)
    ours = grid_delta(Spending(alike(q), sigma, steps), epsilon, delta)
    other = theirs(q, sigma, steps, epsilon)
    print(f"q={q} T={steps} epsilon={epsilon}: {ours:.4g} against {other:.4g}")
    assert 0.995 * other <= ours <= most * other
    assert theirs(q, 0.95 * sigma, steps, epsilon) > delta


@pytest.mark.parametrize("q", [1e-4, 0.01, 0.4])
@pytest.mark.parametrize("steps", [1, 40, 4000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-10), (4.0, 1e-20)])
def test_calibrated_noise_never_gives_more_than_the_epsilon_asked_for(q, steps, epsilon, delta) -> None:
    sigma = sampled_sigma(alike(q), steps, epsilon, delta)
    spending = Spending(alike(q), sigma, steps)
    assert min(spending.moment_delta(epsilon), grid_delta(spending, epsilon, delta)) <= delta
    less = Spending(alike(q), 0.99 * sigma, steps)
    assert min(less.moment_delta(epsilon), grid_delta(less, epsilon, delta)) > delta
    assert sigma <= moment_sigma(alike(q), steps, epsilon, delta)


def test_a_small_delta_keeps_its_digits() -> None:
    """The result does not depend on what is granted to rounding: a finer grid changes it by per cents only."""
    spending = Spending(alike(0.05), 3.0, 200)
    coarse = grid_delta(spending, 3.0, 1e-40)
    assert 0.0 < coarse < 1e-15
    assert coarse == pytest.approx(spending.moment_delta(3.0), rel=0.95)


@pytest.mark.parametrize("multiplier", np.geomspace(0.1, 1e6, 15))
@pytest.mark.parametrize(("q", "steps"), [(0.015, 50), (0.3, 3)])
def test_far_from_the_budget_it_is_still_a_number(q, steps, multiplier) -> None:
    spent = grid_delta(Spending(alike(q), multiplier, steps), 0.5, 1e-12)
    assert spent >= 0.0
    assert (spent > 1e-12) == (multiplier < sampled_sigma(alike(q), steps, 0.5, 1e-12))


def test_grid_of_losses_too_coarse_or_spoilt_is_no_account(monkeypatch) -> None:
    spending = Spending(alike(0.01), 1.0, 10)
    assert grid_delta(spending, 1e-12, 1e-6) == math.inf
    monkeypatch.setattr(grid, "_one_step", lambda *_: (np.array([0.5, -1e-20, 0.5]), 0.0))
    assert grid_delta(spending, 1.0, 1e-6) == math.inf
    sampled_sigma.cache_clear()
    assert sampled_sigma(alike(0.01), 10, 1.0, 1e-6) == moment_sigma(alike(0.01), 10, 1.0, 1e-6)
    sampled_sigma.cache_clear()


@pytest.mark.parametrize("q", [0.02, 0.3])
def test_the_dominating_pair_spends_what_was_promised(q) -> None:
    """Steps of (1-q) N(0) + q N(1) against N(0), their likelihood ratio thresholded; half the noise is caught."""
    steps, epsilon, delta, runs = 30, 1.0, 1e-2, 100_000
    sigma = sampled_sigma(alike(q), steps, epsilon, delta)

    def spent(noise: float) -> tuple[float, float]:
        rng = np.random.default_rng(7)

        def ratio(rate: float) -> np.ndarray:
            held = rng.random((runs, steps)) < rate
            z = noise * rng.normal(size=held.shape) + held
            return np.log1p(q * np.expm1((z - 0.5) / noise**2)).sum(axis=1)

        here, there = ratio(q), ratio(0.0)
        low = clopper_pearson(int((here > epsilon).sum()), runs, ALARM)[0]
        high = clopper_pearson(int((there > epsilon).sum()), runs, ALARM)[1]
        return low - math.exp(epsilon) * high, float(
            (here > epsilon).mean() - math.exp(epsilon) * (there > epsilon).mean()
        )

    honest, caught = spent(sigma), spent(0.5 * sigma)
    print(f"q={q}: delta {honest[1]:.4f} of {delta}; at half the noise at least {caught[0]:.4f}")
    assert honest[0] <= delta < caught[0]
    assert honest[1] >= 0.3 * delta


# --- plans


def test_plans_hide_the_worst_kind_of_record_and_say_how() -> None:
    budget = Budget(1.0, 1e-6)
    queries = (SampledQuery(0.1, 1.0, 1.0), SampledQuery(0.01, 3.0, 2.0))
    plan = plan_steps(budget, queries, 50, "some records a step")
    each = [needed_scale(budget, [query], 50) for query in queries]
    assert plan.scale == max(each)
    assert plan.sensitivity == 3.0
    assert plan.accountant == SAMPLED
    assert plan.sampler.startswith("some records a step; Gaussian noise")
    assert plan_steps(budget, [SampledQuery(1.0, 1.0, 1.0)], 5, "all").accountant == EXACT


def test_sensitivities_scale() -> None:
    budget = Budget(0.7, 1e-7)
    one, ten = (needed_scale(budget, [SampledQuery(0.05, s, 0.5 * s)], 40) for s in (1.0, 10.0))
    assert ten == pytest.approx(10.0 * one, rel=1e-9)


@pytest.mark.parametrize("rates", [(0.05, 0.1), (1.0,), (1e-4,)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-9), (3.0, 1e-5)])
def test_enough_is_what_is_needed_or_more(rates, epsilon, delta) -> None:
    budget = Budget(epsilon, delta)
    queries = [SampledQuery(q, s, 1.0) for s, q in enumerate(rates, 1)]
    for steps in (1, 100):
        needed = needed_scale(budget, queries, steps)
        enough = [is_enough(f * needed, budget, queries, steps) for f in (1e-9, 1e-3, 0.1, 0.99, 1.001, 2.0, 1e3, 1e9)]
        assert enough == [False] * 4 + [True] * 4


@pytest.mark.parametrize("n", [10, 100, 5000])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_one_record_a_step_is_never_quiet(n, epsilon) -> None:
    """Lemma 6 of dp-sgd: below its floor the first step alone spends more; what is needed lies above."""
    steep = math.log1p(n * math.expm1(epsilon))
    floor = 1.0 / math.sqrt(2.0 * steep)
    spent = math.exp(log_profile(alike(1.0 / n), floor, np.array([steep]))[1][0])
    needed = sampled_sigma(alike(1.0 / n), n, epsilon, n**-2.0)
    print(f"n={n} epsilon={epsilon}: {n * spent:.3f}/n at the floor; needed {needed / floor:.2f} of it")
    assert steep >= 1.0
    assert spent > 0.25 / n
    assert needed > floor


def test_calibration_is_remembered() -> None:
    sampled_sigma(alike(0.0123), 77, 1.0, 1e-6)
    start = time.perf_counter()
    for _ in range(100):
        sampled_sigma(alike(0.0123), 77, 1.0, 1e-6)
    assert time.perf_counter() - start < 0.1


@pytest.mark.parametrize(
    ("rate", "steps", "epsilon", "delta"),
    [(2.3773870964624816e-4, 4, 0.07982717872295297, 1.9318978e-8), (1e-4, 4, 0.15, 2.5e-9), (1e-5, 1, 0.05, 1e-10)],
)
def test_laws_that_one_loss_dominates_are_calibrated(rate, steps, epsilon, delta) -> None:
    """There the variance under the tilt is far below the squared mean: their difference would be rounding."""
    sigma = sampled_sigma(SampledQuery(rate, 1.0, 1.0), steps, epsilon, delta)
    assert 0.0 < sigma <= moment_sigma(SampledQuery(rate, 1.0, 1.0), steps, epsilon, delta)
    assert grid_delta(Spending(SampledQuery(rate, 1.0, 1.0), sigma, steps), epsilon, delta) <= delta


def test_a_window_above_epsilon_tells_nothing(monkeypatch) -> None:
    """A tilt so large that sums just above epsilon lie outside: no bound, rather than one that leaves them out."""
    spending = Spending(SampledQuery(1e-3, 1.0, 1.0), 1.0, 1000)
    assert grid_delta(spending, 0.5, 1e-6) < math.inf
    monkeypatch.setattr("diptych.accounting.losses_on_grid._best_tilt", lambda *given: 1e5)
    assert grid_delta(spending, 0.5, 1e-6) == math.inf
