"""The private AUC: its statistic, its sensitivity by exhaustion, whole releases attacked."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from diptych import Adjacency, Budget
from diptych.algorithms.private_auc import concordance, plan_auc, private_auc
from diptych.audit import distinguish
from diptych.noise import SeededBits
from diptych.spec import OF_PAIRS, TableSize

ERROR = 1e-8
REPLACE, WITHIN = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS


def statistic(scores, positive, adjacency) -> np.ndarray:
    """The vector that gets noise, from explicit pairs."""
    pairs = sum(np.sign(s - t) for s in scores[positive] for t in scores[~positive])
    if adjacency is WITHIN:
        return np.array([pairs / (2 * positive.sum() * (~positive).sum())])
    return np.array([pairs / (2 * (len(scores) - 1)), positive.sum() / 2])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("adjacency", OF_PAIRS)
def test_no_neighbour_moves_the_statistic_further_than_claimed_and_some_reach_it(adjacency, n) -> None:
    reached: dict[float, float] = {}
    levels = (0.0, 1.0, 2.0)
    for labels in product((False, True), repeat=n):
        positive = np.array(labels)
        if adjacency is WITHIN and (positive.all() or not positive.any()):
            continue
        claimed = 1.0 if adjacency is REPLACE else 1.0 / min(positive.sum(), n - positive.sum())
        for scores in product(levels, repeat=n):
            here = statistic(np.array(scores), positive, adjacency)
            for level, label in product(levels, (False, True)):
                if adjacency is WITHIN and label != labels[0]:
                    continue
                other, flipped = np.array(scores), positive.copy()
                other[0], flipped[0] = level, label
                moved = np.abs(statistic(other, flipped, adjacency) - here).sum()
                reached[claimed] = max(reached.get(claimed, 0.0), moved)
    for claimed, moved in reached.items():
        assert moved == pytest.approx(claimed, rel=1e-12)


def test_plans_cover_the_claims_and_little_more() -> None:
    for size, claimed in ((TableSize(100), 1.0), (TableSize(100, 20), 1 / 20), (TableSize(100, 70), 1 / 30)):
        plan = plan_auc(size, Budget(0.5))
        assert claimed < plan.sensitivity <= claimed * (1 + 1e-6)
        assert plan.scale >= plan.sensitivity / 0.5
        assert plan.scale <= claimed / 0.5 * (1 + 1e-6)


def test_concordance_is_the_auc_in_integers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 60))
        scores, positive = rng.integers(0, 12, size=n).astype(float), rng.random(n) < 0.4
        positive[:2] = (True, False)
        pairs = int(positive.sum()) * int((~positive).sum())
        assert 0.5 + concordance(scores, positive) / (2 * pairs) == pytest.approx(roc_auc_score(positive, scores))
    assert concordance(np.ones(3), np.zeros(3, dtype=bool)) == 0


@pytest.mark.parametrize("adjacency", OF_PAIRS)
def test_little_noise_gives_the_auc_and_more_noise_a_worse_one(adjacency) -> None:
    rng = np.random.default_rng(1)
    positive = rng.random(4000) < 0.2
    scores = rng.normal(size=4000) + positive
    exact = roc_auc_score(positive, scores)
    errors = {}
    for epsilon in (1e3, 1.0, 0.01):
        found = [private_auc(scores, positive, adjacency, Budget(epsilon), SeededBits(k)).value for k in range(60)]
        assert all(0.0 <= value <= 1.0 for value in found)
        errors[epsilon] = float(np.abs(np.array(found) - exact).mean())
    assert errors[1e3] < 1e-5
    assert errors[1e3] < errors[1.0] < 0.005 < errors[0.01]


def test_one_class_is_like_any_other_table_where_labels_are_private() -> None:
    found = private_auc(np.arange(50.0), np.ones(50, dtype=bool), REPLACE, Budget(5.0), SeededBits(0))
    assert 0.0 <= found.value <= 1.0


def test_the_guarantee_says_what_was_done() -> None:
    found = private_auc(np.arange(9.0), np.arange(9) > 4, WITHIN, Budget(0.5, 1e-3), SeededBits(0))
    assert float(found) == found.value
    assert (found.guarantee.epsilon, found.guarantee.delta) == (0.5, 0.0)
    assert found.guarantee.seeded
    assert "the scored model is fixed" in str(found.guarantee)
    assert found.guarantee.sensitivity == pytest.approx(0.25)


@pytest.mark.parametrize("adjacency", OF_PAIRS)
def test_releases_of_the_worst_neighbours_are_told_apart_no_better_than_promised(adjacency) -> None:
    """One record passes all of the other class: the pair that meets the claim with equality."""
    positive = np.array([True, False, False, False, False])
    tables = [np.array([top, 0.0, 0.0, 0.0, 0.0]) for top in (1.0, -1.0)]
    budget = Budget(1.5)
    size = TableSize(5, 1 if adjacency is WITHIN else None)

    def audit(weaken: float, seeds: tuple[int, int], runs: int):
        plan = plan_auc(size, budget)
        steps = max(1, int(plan.lattice.steps(plan.scale) * weaken))
        plan = replace(plan, scale=steps * plan.lattice.step)

        def runner(scores, seed):
            source, value = SeededBits(seed), statistic(scores, positive, adjacency)
            return lambda _: plan.add(value, source)

        return distinguish(*(runner(t, s) for t, s in zip(tables, seeds, strict=True)), runs, 0.0, ERROR)

    honest = audit(1.0, (1, 2), 4000)
    assert 0.3 * budget.epsilon < honest.epsilon <= budget.epsilon
    assert audit(0.5, (3, 4), 8000).epsilon > budget.epsilon
    zero, silent = 0.0 * statistic(tables[0], positive, adjacency), [SeededBits(5), SeededBits(6)]
    same = distinguish(*(lambda _, s=s: plan_auc(size, budget).add(zero, s) for s in silent), 4000, 0.0, ERROR)
    assert same.epsilon == 0.0


@pytest.mark.parametrize("adjacency", OF_PAIRS)
def test_noise_finer_than_rounding_is_refused(adjacency) -> None:
    scores, positive = np.arange(20.0), np.arange(20) > 9
    with pytest.raises(ValueError, match="epsilon is so large"):
        private_auc(scores, positive, adjacency, Budget(1e14), SeededBits(0))
    with pytest.raises(ValueError, match="epsilon is so small"):
        private_auc(scores, positive, adjacency, Budget(1e-300), SeededBits(0))
