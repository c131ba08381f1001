from __future__ import annotations

import math

import pytest

from diptych import Adjacency, Budget, Logistic, OutputPerturbation, SmoothedHinge
from diptych.algorithms import algorithm_named, choose_regularization
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
    assert algorithm_named("auto") == OutputPerturbation()
    assert algorithm_named("output-perturbation") == OutputPerturbation()
    assert algorithm_named(OutputPerturbation("laplace")).noise == "laplace"
    with pytest.raises(ValueError, match="algorithm must be one of 'auto', 'output-perturbation'"):
        algorithm_named("magic")
