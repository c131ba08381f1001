"""Searching and boosting over callables, scores and parts."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.algorithms.private_auc import concordance
from diptych.noise import SeededBits
from diptych.selection import (
    GRAIN,
    CoinTrials,
    Exponential,
    boost,
    clipped_total,
    cut,
    largest_move,
    search,
)
from diptych.spec import TableSize


def test_only_what_is_tried_is_trained_and_one_is_told() -> None:
    trained: list[int] = []

    def train(place: int):
        return lambda: trained.append(place) or place

    found = search(
        [train(k) for k in range(12)], lambda model: 1000 * model, 1, 5.0, SeededBits(1), trials=CoinTrials(0.4)
    )
    assert found.place == found.model == max(trained)
    assert 0 < len(trained) < 12
    assert (found.event.sensitivity, found.event.noise_scale) == (1.0, 0.4)
    with pytest.raises(ValueError, match="candidates is empty"):
        search([], lambda model: 0, 1, 1.0, SeededBits(0))


def test_the_mechanism_chooses() -> None:
    scores = [0, 5]
    picks = [
        search([lambda: 0, lambda: 1], scores.__getitem__, 10**6, 1.0, SeededBits(k), mechanism=Exponential()).place
        for k in range(400)
    ]
    assert 120 < sum(picks) < 280  # as good as a toss


def test_boosting_takes_the_best_of_disjoint_parts() -> None:
    seen: list[np.ndarray] = []

    def train(rows: np.ndarray) -> float:
        seen.append(rows)
        return float(rows.mean())

    def score(model: float, rows: np.ndarray) -> int:
        seen.append(rows)
        return int(1e6 * model)

    found = boost(train, score, 1, math.inf, 100, 4, SeededBits(2), validation=0.2)
    parts, held = seen[:4], seen[-1]
    assert [len(part) for part in parts] == [20] * 4
    assert sorted(np.concatenate([*parts, held])) == list(range(100))
    assert found.model == max(part.mean() for part in parts)
    for n, count, share in ((3, 3, 0.2), (100, 0, 0.2), (100, 2, 1.0)):
        with pytest.raises(ValueError, match="parts must be at least 1"):
            boost(train, score, 1, 1.0, n, count, SeededBits(0), validation=share)


def test_parts_do_not_depend_on_private_labels_and_keep_public_ones_even() -> None:
    assert all(
        np.array_equal(a, b) for a, b in zip(*(cut(50, [0.8, 0.2], SeededBits(1)) for _ in range(2)), strict=True)
    )
    codes = (np.arange(50) < 10).astype(np.int64)
    most, rest = cut(50, [0.8, 0.2], SeededBits(1), codes)
    assert (codes[most].sum(), codes[rest].sum()) == (8, 2)
    assert sorted([*most, *rest]) == list(range(50))


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_one_loss_moves_a_total_by_a_grain_at_most(losses, top) -> None:
    here = np.array(losses)
    for other in (-1.0, 0.0, top, math.inf, math.nan):
        there = here.copy()
        there[0] = other
        assert abs(clipped_total(here, top) - clipped_total(there, top)) <= GRAIN
    assert clipped_total(np.array([0.0, 2 * top, math.nan]), top) == 2 * GRAIN


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("within", [False, True])
def test_no_neighbour_moves_the_concordance_further_than_claimed_and_some_reach_it(n, within) -> None:
    reached: dict[int, int] = {}
    levels = (0.0, 1.0, 2.0)
    for labels in product((False, True), repeat=n):
        positive = np.array(labels)
        if within and (positive.all() or not positive.any()):
            continue
        claimed = largest_move("auc", TableSize(n, int(positive.sum()) if within else None))
        for scores in product(levels, repeat=n):
            here = concordance(np.array(scores), positive)
            for level, label in product(levels, (False, True)):
                if within and label != labels[0]:
                    continue
                other, flipped = np.array(scores), positive.copy()
                other[0], flipped[0] = level, label
                reached[claimed] = max(reached.get(claimed, 0), abs(concordance(other, flipped) - here))
    for claimed, moved in reached.items():
        assert moved == claimed


def test_counts_and_totals_move_by_what_is_claimed() -> None:
    assert largest_move("accuracy", TableSize(9)) == 1
    assert largest_move("loss", TableSize(9)) == GRAIN
