from __future__ import annotations

import math

import pytest

from diptych import (
    Adjacency,
    Budget,
    Hinge,
    Logistic,
    NoisyGD,
    ObjectivePerturbation,
    OutputPerturbation,
    SmoothedHinge,
)
from diptych.algorithms import UnsuitableError, algorithms_named, choose, choose_regularization, suitable
from diptych.algorithms.choose import EXACT_REGULARIZATION
from diptych.risks import RankingRisk
from diptych.spec import TableSize


def chosen(n=1000, d=10, epsilon=1.0, delta=1e-6, loss=None, adjacency=Adjacency.REPLACE, positives=None) -> float:
    risk = RankingRisk(loss or Logistic(), adjacency=adjacency)
    return choose_regularization(risk, TableSize(n, positives), d, Budget(epsilon, delta), OutputPerturbation())


def test_more_records_and_more_budget_need_less_regularization() -> None:
    assert chosen(n=100_000) < chosen(n=1000)
    assert chosen(epsilon=4.0) < chosen(epsilon=0.25)
    assert chosen(epsilon=math.inf) == EXACT_REGULARIZATION
    assert chosen(delta=0.0) >= chosen(delta=1e-4)


def test_a_rare_class_needs_more_regularization_where_labels_are_public() -> None:
    within = Adjacency.REPLACE_WITHIN_CLASS
    assert chosen(adjacency=within, positives=10) > chosen(adjacency=within, positives=500)


def test_every_loss_gets_a_usable_value() -> None:
    for loss in (Logistic(3.0, 0.1), SmoothedHinge(1.0, 0.05)):
        assert 1e-5 <= chosen(loss=loss) <= 10


def test_names() -> None:
    both = (OutputPerturbation(), ObjectivePerturbation())
    assert algorithms_named("auto") == both
    assert algorithms_named("auto", automatic=("noisy-gd",)) == (NoisyGD(),)
    assert algorithms_named("objective-perturbation") == both[1:]
    assert algorithms_named(NoisyGD(steps=10)) == (NoisyGD(steps=10),)
    assert algorithms_named(OutputPerturbation("laplace")) == (OutputPerturbation("laplace"),)
    for wrong in ("magic", 3, None, OutputPerturbation):
        with pytest.raises(ValueError, match="algorithm must be one of 'auto', 'output-perturbation'"):
            algorithms_named(wrong)


def test_unsuitable_algorithms_drop_out_and_the_first_refusal_is_heard() -> None:
    three = (*algorithms_named("auto"), NoisyGD())
    assert suitable(three, RankingRisk(Logistic(), 1.0), Budget(1.0, 1e-6), "defended") == three
    assert suitable(three, RankingRisk(Logistic(), 1.0), Budget(1.0), "defended") == three[:2]
    assert suitable(three, RankingRisk(Hinge(), 1.0), Budget(1.0, 1e-6), "defended") == three[2:]
    with pytest.raises(UnsuitableError, match="use loss='smoothed-hinge'"):
        suitable(three, RankingRisk(Hinge(), 1.0), Budget(1.0), "defended")


def test_what_descends_in_few_steps_needs_no_regularization() -> None:
    size, budget = TableSize(5000), Budget(1.0, 1e-6)
    algorithm, risk = choose(RankingRisk(Hinge()), size, 20, budget, [NoisyGD()], auto=True)
    assert (algorithm, risk.regularization) == (NoisyGD(), 0.0)
    assert choose(RankingRisk(Hinge(), 0.5), size, 20, budget, [NoisyGD()], auto=False)[1].regularization == 0.5


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 10.0])
def test_at_a_given_lambda_auto_takes_the_algorithm_that_adds_less_risk(lam) -> None:
    both, size, budget = algorithms_named("auto"), TableSize(5000), Budget(1.0, 1e-6)
    risk = RankingRisk(Logistic(), lam)
    algorithm, kept = choose(risk, size, 20, budget, both, auto=False)
    assert kept == risk
    added = {one.name: one.added_risk(risk, size, 20, budget) for one in both}
    assert added[algorithm.name] == min(added.values())


def test_at_a_free_lambda_auto_takes_the_algorithm_that_needs_less() -> None:
    both, size, budget = algorithms_named("auto"), TableSize(5000), Budget(1.0, 1e-6)
    algorithm, risk = choose(RankingRisk(Logistic()), size, 20, budget, both, auto=True)
    needed = {one.name: choose_regularization(RankingRisk(Logistic()), size, 20, budget, one) for one in both}
    assert risk.regularization == needed[algorithm.name] == min(needed.values())
    exact = choose(RankingRisk(Logistic()), size, 20, Budget(math.inf), both, auto=True)[1]
    assert exact.regularization == EXACT_REGULARIZATION
