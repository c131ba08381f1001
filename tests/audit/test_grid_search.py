"""Whole private grid searches on tiny tables, told apart: the changed record in the training part, or in the other one.

The split is fixed by the seed of the search in all but its bits: here the record is made to lie where it is wanted, and
the released model (which candidate, and its coefficient) is all that the attack sees.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from diptych import Bounds, GLMClassifier, NoisyGD, PrivateGridSearch
from diptych.accounting import NoisePlan, gaussian_mu
from diptych.audit import distinguish
from diptych.estimators import grid_search
from diptych.noise import SeededBits
from diptych.selection import PermuteAndFlip, plan_share
from diptych.selection.shares import gaussian_budget

ERROR = 1e-8
EPSILON, DELTA = 1.5, 1e-2
# One step of gradient descent from 0: the coefficient is the noisy gradient.
BASE = GLMClassifier(
    algorithm=NoisyGD(1, 0.01), loss="hinge", radius=0.9, bounds=Bounds(norm=1.0), fit_intercept=False, classes=(0, 1)
)


@pytest.fixture(autouse=True)
def quick(monkeypatch) -> None:
    """Plans are public, so that they need not be made anew for each of thousands of runs."""
    for place in ("accounting.plan", "algorithms.noisy_descent", "selection.shares"):
        monkeypatch.setattr(f"diptych.{place}.gaussian_mu", lru_cache(gaussian_mu))
    monkeypatch.setattr("diptych.selection.shares.gaussian_budget", lru_cache(gaussian_budget))
    monkeypatch.setattr(grid_search, "plan_share", lru_cache(plan_share))


def fixed_split(monkeypatch, training: list[int], rest: list[int]) -> None:
    """Put the records where the attack wants them: any split must be private."""
    parts = [np.array(training), np.array(rest)]
    monkeypatch.setattr(grid_search, "cut", lambda *_: parts)


def runner(X: Any, y: Any, seed: int, count: int, trials: str):
    """Releases of one table: the coefficient of the chosen one of several candidates, all alike."""
    source = SeededBits(seed)
    grid = {"intercept_scaling": [float(k) for k in range(1, count + 1)]}  # without an intercept, of no effect
    search = PrivateGridSearch(BASE, grid, epsilon=EPSILON, delta=DELTA, trials=trials)

    def run(_: int) -> np.ndarray:
        search.random_state = int(source.words(1)[0] >> np.uint64(1))
        return np.asarray(search.fit(X, y).best_estimator_.coef_[0])

    return run


TABLES = (
    np.array([[1.0], [1.0], [1.0], [-1.0], [1.0], [-1.0]]),
    np.array([[1.0], [1.0], [-1.0], [-1.0], [1.0], [-1.0]]),
)
LABELS = np.array([1, 1, 1, 0, 1, 0])


def attack_training(trials: str, count: int, runs: int, weaken: float, monkeypatch) -> None:
    """The training part holds the changed record; the scores favour candidates that tell it apart."""
    fixed_split(monkeypatch, [0, 1, 2, 3], [4, 5])

    def told(seeds: tuple[int, int], tables=TABLES):
        sides = (runner(table, LABELS, seed, count, trials) for table, seed in zip(tables, seeds, strict=True))
        return distinguish(*sides, runs, DELTA, ERROR)

    honest, same, mu = told((1, 2)), told((3, 4), (TABLES[0], TABLES[0])), gaussian_mu(EPSILON, DELTA)
    whole = NoisePlan.add

    def add(plan: NoisePlan, value, source):
        steps = max(1, int(plan.lattice.steps(plan.scale) * weaken))
        return whole(replace(plan, scale=steps * plan.lattice.step), value, source)

    monkeypatch.setattr(NoisePlan, "add", add)
    caught = told((5, 6))
    print(f"{trials}, {count}: mu {honest.mu:.2f} of {mu:.2f}; control {caught.mu:.2f}")
    assert honest.epsilon <= EPSILON
    assert honest.mu <= mu
    assert (same.epsilon, same.mu) == (0.0, 0.0)
    assert caught.mu > mu


@pytest.mark.parametrize(("trials", "count"), [("all", 2), ("random", 3)])
def test_a_changed_training_record_is_hidden(trials, count, monkeypatch) -> None:
    """With a tenth of the noise, a few runs tell."""
    attack_training(trials, count, 120, 0.1, monkeypatch)


@pytest.mark.audit
@pytest.mark.parametrize(("trials", "count"), [("all", 2), ("parts", 1)])
def test_a_changed_training_record_is_hidden_at_length(trials, count, monkeypatch) -> None:
    """With half of it, more do."""
    attack_training(trials, count, 2500, 0.5, monkeypatch)


def test_a_changed_validation_record_is_hidden(monkeypatch) -> None:
    """Two models without noise of their own, right and wrong: only the choice between them is private."""
    signs, fitted = {0.1: 1.0, 10.0: -1.0}, {}

    def train(candidate, rows, labels, classes, budget, seed):
        if candidate.radius not in fitted:
            fitted[candidate.radius] = whole_train(candidate, rows, labels, classes, budget, seed)
            fitted[candidate.radius].coef_ = np.array([[signs[candidate.radius]]])
        return fitted[candidate.radius]

    whole_train = grid_search.train_candidate
    monkeypatch.setattr(grid_search, "train_candidate", train)
    fixed_split(monkeypatch, [2, 3], [0, 1])
    X, y = np.array([[1.0], [1.0], [1.0], [-1.0]]), np.array([1, 0, 1, 0])
    other = np.array([1, 1, 1, 0])

    def choices(labels, seed):
        source = SeededBits(seed)
        search = PrivateGridSearch(
            BASE, {"radius": list(signs)}, epsilon=EPSILON, delta=DELTA, trials="all", scoring="accuracy"
        )

        def run(_: int) -> np.ndarray:
            search.random_state = int(source.words(1)[0] >> np.uint64(1))
            return np.array([float(search.fit(X, labels).best_params_["radius"] == 0.1)])

        return run

    honest = distinguish(choices(y, 1), choices(other, 2), 500, 0.0, ERROR)
    same = distinguish(choices(y, 3), choices(y, 4), 200, 0.0, ERROR)
    whole = PermuteAndFlip.pick
    monkeypatch.setattr(PermuteAndFlip, "pick", lambda self, q, s, e, source: whole(self, q, s, 2.0 * e, source))
    caught = distinguish(choices(y, 5), choices(other, 6), 1100, 0.0, ERROR)
    print(f"validation: {honest.epsilon:.2f} of {EPSILON}; control {caught.epsilon:.2f}")
    assert 0.3 * EPSILON < honest.epsilon <= EPSILON
    assert same.epsilon == 0.0
    assert caught.epsilon > EPSILON
