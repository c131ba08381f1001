"""The recursions for distances along a sequence, against the same recursions step by step and record by record."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from diptych.kernels.drift import WIDER, Law, Sequence
from diptych.noise import SeededBits, draw_indices

LAWS = [
    Law(1.0, 0.0, 0.0, 1.0, 0.0),
    Law(0.97, 0.0, 0.0, 0.5, 1e-3),
    Law(1.0, 1.0, 1e-5, 1.0, 1e-4),
    Law(1.0, 2.0, 0.0, 0.1, 0.0),
    Law(0.9, 1.0, 0.0, 1.0, 0.0),
]


def mean_of_record(draws, record: int, n: int, law: Law, classes=None) -> float:
    """The recursion of docs/theory/sgd-output.md, with counts made afresh for every step."""
    apart, total = 0.0, 0.0
    for s in range(1, len(draws)):
        new, earlier = draws[s], draws[:s]
        pairs = earlier != new if classes is None else classes[earlier] != classes[new]
        q = pairs.mean()
        y = q if new == record else (pairs & (earlier == record)).mean()
        if record in draws[: s + 1]:
            blur = law.blur * (new != record)
            apart = np.sqrt((law.keep * apart) ** 2 + (law.kink * (q - y)) ** 2 + blur) + law.kick * y + law.slack
        total += apart
    return total / len(draws)


def worst_of(draws, n: int, law: Law, classes=None) -> float:
    return max(mean_of_record(draws, record, n, law, classes) for record in range(n))


def slackened(draws, law: Law) -> float:
    """Of a linear law the slack counts from the first step on, whoever is drawn first."""
    if law.kink > 0.0 or law.slack == 0.0:
        return 0.0
    return law.slack * len(draws) / 2.0


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("n", "steps"), [(2, 7), (3, 12), (7, 90), (30, 200)])
@pytest.mark.parametrize("labelled", [False, True])
def test_the_worst_record_is_found(law, n, steps, labelled) -> None:
    classes = (np.arange(n) % 3 == 0).astype(int) if labelled else None
    for seed in range(3):
        draws = draw_indices(n, steps, SeededBits(seed))
        want = worst_of(draws, n, law, classes)
        got = Sequence(draws, n, classes).worst_mean(law)
        assert want <= got <= want * (1.0 + 2e-6) + slackened(draws, law)
        if law.slack == 0.0 or law.kink > 0.0:
            assert got == pytest.approx(want * WIDER, rel=1e-6)


@pytest.mark.parametrize("law", [LAWS[2], LAWS[3], Law(0.999, 1.0, 0.0, 1.0, 1e-5)], ids=str)
def test_blocks_never_give_less_and_little_more(law) -> None:
    """Longer than 2048 steps: blocks of several."""
    n, steps = 6, 9000
    for seed, classes in product(range(2), (None, np.arange(6) % 2)):
        draws = draw_indices(n, steps, SeededBits(seed))
        got, want = Sequence(draws, n, classes).worst_mean(law), _fast_worst(draws, n, law, classes)
        assert want <= got <= want * (1.005 if law.keep == 1.0 else 1.05)


def _fast_worst(draws, n: int, law: Law, classes) -> float:
    """All records at once."""
    counts, apart, total, seen = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for s in range(1, len(draws)):
        counts[draws[s - 1]] += 1.0
        seen[draws[s - 1]] = True
        new = draws[s]
        pairs = np.arange(n) != new if classes is None else classes != classes[new]
        q = (counts * pairs).sum() / s
        y = np.where(pairs, counts / s, 0.0)
        y[new] = q
        blur = np.where(np.arange(n) == new, 0.0, law.blur)
        moved = np.sqrt((law.keep * apart) ** 2 + (law.kink * (q - y)) ** 2 + blur) + law.kick * y + law.slack
        seen[new] = True
        apart = np.where(seen, moved, 0.0)
        total += apart
    return float(total.max() / len(draws))


def test_long_sequences_of_two_records_are_on_the_safe_side() -> None:
    """Where squares cancel: two records, each half of all draws, and no pair without the one that changes."""
    draws = draw_indices(2, 200_000, SeededBits(0))
    law = Law(1.0, 1.0, 0.0, 1.0, 0.0)
    got, want = Sequence(draws, 2).worst_mean(law), _fast_worst(draws, 2, law, None)
    assert want <= got <= want * (1.0 + 1e-5)


def test_records_that_are_never_drawn_and_sequences_without_pairs_drift_nowhere() -> None:
    law = Law(1.0, 1.0, 0.0, 1.0, 0.0)
    assert Sequence(np.zeros(20, dtype=np.intp), 5).worst_mean(law) == 0.0
    assert Sequence(np.arange(4), 6, np.array([0, 0, 0, 0, 1, 1])).worst_mean(law) == 0.0
    assert Sequence(np.array([0]), 3).worst_mean(law) == 0.0
