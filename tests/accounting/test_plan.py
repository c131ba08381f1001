"""Noise plans: safe, on the lattice, the quietest that the budget allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from diptych import Budget
from diptych.accounting import gaussian_mu, plan_noise
from diptych.accounting.plan import lattice_slack
from diptych.noise import SeededBits

BUDGETS = [Budget(0.1, 1e-8), Budget(1.0, 1e-6), Budget(8.0, 1e-3), Budget(0.5), Budget(4.0)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("dimension", [1, 3, 50, 3000])
def test_scales_pay_for_sensitivity_and_rounding(budget, dimension) -> None:
    sensitivity = 0.0137
    for noise in ("gaussian", "laplace", "norm-laplace"):
        if budget.pure and noise == "gaussian":
            continue
        plan = plan_noise(budget, sensitivity, dimension, noise)
        if noise == "gaussian":
            rounded = sensitivity + math.sqrt(dimension) * plan.lattice.step
            assert rounded / plan.scale <= gaussian_mu(budget.epsilon, budget.delta)
            assert plan.scale <= 1.01 * sensitivity / gaussian_mu(budget.epsilon, budget.delta)
        else:
            rounded = {"laplace": math.sqrt(dimension) * sensitivity + dimension * plan.lattice.step}.get(
                noise, sensitivity
            )
            assert rounded / plan.scale <= budget.epsilon
            assert plan.scale <= 1.01 * rounded / budget.epsilon
        assert rounded <= plan.sensitivity * (1 + 1e-12)
        if noise != "norm-laplace":
            assert plan.lattice.steps(plan.scale) * plan.lattice.step == plan.scale


@pytest.mark.parametrize("noise", ["gaussian", "laplace", "norm-laplace"])
def test_mean_square_is_that_of_the_draws(noise) -> None:
    plan, source = plan_noise(Budget(1.0, 1e-4), 0.1, 6, noise), SeededBits(4)
    draws = np.array([plan.add(np.zeros(6), source) for _ in range(4000)])
    assert (draws**2).sum(axis=1).mean() == pytest.approx(plan.mean_square, rel=0.1)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 100])
def test_auto_takes_the_quietest_law(budget, dimension) -> None:
    auto = plan_noise(budget, 0.1, dimension)
    allowed = ("laplace", "norm-laplace") if budget.pure else ("gaussian", "laplace")
    others = [plan_noise(budget, 0.1, dimension, noise) for noise in allowed]
    assert auto.noise in allowed
    assert auto.mean_square <= min(plan.mean_square for plan in others) * (1 + 1e-5)
    if dimension == 1 and budget.pure:
        assert auto.noise == "laplace"  # as quiet as norm-Laplace there, and exact


@pytest.mark.parametrize("noise", ["gaussian", "laplace", "norm-laplace"])
def test_releases_lie_on_the_lattice(noise) -> None:
    plan = plan_noise(Budget(1.0, 1e-5), 0.3, 4, noise)
    release = plan.add(np.array([0.1, -2.0, math.pi, 0.0]), SeededBits(1))
    steps = release / plan.lattice.step
    np.testing.assert_array_equal(steps, np.rint(steps))


@pytest.mark.parametrize("dimension", [1, 4, 9])
def test_lattice_slack_bounds_the_ratio_of_the_laws(dimension) -> None:
    """docs/theory/lattice-noise.md, Lemma 2, coordinate by coordinate, at a lattice coarse enough to show it."""
    steps = 8
    z = np.arange(-30 * steps, 30 * steps + 1)
    log_p = -(z**2) / (2 * steps**2) - math.log(np.exp(-(z**2) / (2 * steps**2)).sum())
    far, near = norm.logsf((np.abs(z) - 0.5) / steps), norm.logsf((np.abs(z) + 0.5) / steps)
    log_ratio = log_p - (far + np.log1p(-np.exp(near - far)))
    eta, back = lattice_slack(dimension, 1.0, steps)
    assert 0.5 * eta < log_ratio.max() * dimension <= eta * (1 + 1e-6)
    inside = np.abs(z) <= steps * (math.sqrt(dimension) + 41.0) / math.sqrt(dimension)
    assert 0.2 * back < -log_ratio[inside].min() * dimension <= back * (1 + 1e-6)


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="noise='gaussian' cannot give delta = 0"):
        plan_noise(Budget(1.0), 0.1, 2, "gaussian")
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        plan_noise(Budget(1.0), 0.1, 2, "uniform")
    for sensitivity in (0.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="sensitivity must be a finite number above 0"):
            plan_noise(Budget(1.0), sensitivity, 2)
    with pytest.raises(ValueError, match="epsilon is so large"):
        plan_noise(Budget(1e12), 1e-3, 2).check_range(100.0)


def test_floating_noise_is_named_as_an_assumption() -> None:
    assert plan_noise(Budget(1.0), 0.1, 5, "norm-laplace").assumptions
    assert not plan_noise(Budget(1.0), 0.1, 5, "laplace").assumptions
