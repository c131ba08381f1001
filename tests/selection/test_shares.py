"""What each candidate may spend, from public facts."""

from __future__ import annotations

import math

import pytest

from diptych import Budget
from diptych.accounting import gaussian_mu
from diptych.selection import AllTrials, CoinTrials, UniformTrials, plan_share
from diptych.selection.shares import gaussian_budget

BUDGET, PURE = Budget(1.0, 1e-6), Budget(1.0)


def test_one_candidate_or_disjoint_parts_have_it_all() -> None:
    assert plan_share(BUDGET, 1, "random", dimension=10).budget == BUDGET
    assert plan_share(BUDGET, 20, "parts").budget == BUDGET
    assert plan_share(Budget(math.inf), 20, "auto").budget == Budget(math.inf)


def test_budgets_add_up_and_squares_of_mu_do() -> None:
    share = plan_share(BUDGET, 5, "all")
    assert 5 * share.budget.epsilon <= 1.0
    assert 5 * share.budget.delta <= 1e-6
    assert share.budget.epsilon == pytest.approx(0.2)
    share = plan_share(BUDGET, 5, "all", dimension=100)
    assert math.sqrt(5) * gaussian_mu(share.budget.epsilon, share.budget.delta) <= gaussian_mu(1.0, 1e-6)
    assert share.budget.epsilon > 0.4
    assert share.mu == pytest.approx(gaussian_mu(1.0, 1e-6) / math.sqrt(5), rel=1e-3)


def test_random_trials_leave_a_third_or_more() -> None:
    share = plan_share(PURE, 20, "random")
    assert share.trials == UniformTrials()
    assert 3 * share.budget.epsilon <= 1.0
    assert share.budget.delta == 0.0
    share = plan_share(BUDGET, 20, "random")
    assert (1 + math.exp(1.0)) * 10.5 * share.budget.delta <= 1e-6
    share = plan_share(BUDGET, 20, "random", dimension=100)
    assert share.trials == CoinTrials(0.4)
    assert share.mu is not None
    assert gaussian_mu(share.budget.epsilon, share.budget.delta) <= share.mu
    assert share.budget.epsilon > 0.5


@pytest.mark.parametrize(
    ("count", "dimension", "kind"),
    [(2, 9, AllTrials), (5, 9, CoinTrials), (4, None, AllTrials), (5, None, UniformTrials)],
)
def test_auto_leaves_candidates_untried_where_it_pays(count, dimension, kind) -> None:
    assert isinstance(plan_share(BUDGET, count, "auto", dimension=dimension).trials, kind)


def test_gaussian_noise_is_not_counted_on_where_it_cannot_be() -> None:
    assert plan_share(PURE, 20, "random", dimension=100) == plan_share(PURE, 20, "random")
    vast = plan_share(BUDGET, 20, "random", dimension=10**13)  # lattices would cost too much
    assert vast == plan_share(BUDGET, 20, "random")


def test_refusals() -> None:
    with pytest.raises(ValueError, match="trials must be one of 'auto', 'all', 'random', 'parts'; got 'some'"):
        plan_share(BUDGET, 3, "some")
    with pytest.raises(ValueError, match="epsilon is too small"):
        gaussian_budget(1e-12, 1e-9)
