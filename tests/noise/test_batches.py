"""Random batches: their law is the one that is accounted for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from diptych.noise import Batches, Coins, SecureBits, SeededBits, Subsets
from diptych.noise import batches as module
from tests.statistics import ALARM


def split(batches: Batches) -> list[np.ndarray]:
    return [batches.rows[a:b] for a, b in zip(batches.starts[:-1], batches.starts[1:], strict=True)]


def p_value(observed: np.ndarray, expected: np.ndarray) -> float:
    assert expected.min() > 20
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def subset_counts(batches: Batches, n: int, m: int) -> np.ndarray:
    names = {subset: k for k, subset in enumerate(combinations(range(n), m))}
    counts = np.zeros(len(names))
    for rows in split(batches):
        counts[names[tuple(sorted(map(int, rows)))]] += 1
    return counts


@pytest.mark.parametrize(("n", "m"), [(6, 3), (5, 1), (7, 6), (9, 2)])
@pytest.mark.parametrize("source", [SeededBits(1), SecureBits()], ids=["seeded", "secure"])
def test_every_subset_is_as_probable_as_any_other(n, m, source) -> None:
    counts = subset_counts(Subsets.of(n, m).draw(20_000, source), n, m)
    assert p_value(counts, np.full(len(counts), counts.sum() / len(counts))) > ALARM


def test_places_of_a_batch_and_batches_in_a_row_are_independent() -> None:
    """Ordered pairs of subsets of successive batches: 6 times 6 of them, none of which is favoured."""
    rows = [tuple(sorted(map(int, one))) for one in split(Subsets.of(4, 2).draw(40_000, SeededBits(2)))]
    names = {subset: k for k, subset in enumerate(combinations(range(4), 2))}
    codes = np.array([names[one] for one in rows])
    counts = np.bincount(6 * codes[:-1] + codes[1:], minlength=36)
    assert p_value(counts, np.full(36, counts.sum() / 36)) > ALARM


def test_batches_with_a_favourite_are_told_from_subsets() -> None:
    """Negative control: numbers reduced modulo n, as careless samplers do, with three bits."""
    rng = np.random.default_rng(3)
    counts = np.zeros(20)
    names = {subset: k for k, subset in enumerate(combinations(range(6), 3))}
    while counts.sum() < 20_000:
        drawn = rng.integers(8, size=3) % 6
        if len(set(drawn)) == 3:
            counts[names[tuple(sorted(map(int, drawn)))]] += 1
    assert p_value(counts, np.full(20, 1000.0)) < ALARM


def test_shuffles_go_on_where_their_bits_ran_out() -> None:
    """The same bits in many pieces give the same batches, also where a number had been refused."""
    halves = np.random.default_rng(4).integers(0, 2**32, 4000, dtype=np.uint32)
    halves[10:400:7] = 0  # which are refused below most bounds
    whole, pieces = np.arange(1000, dtype=np.int32), np.arange(1000, dtype=np.int32)
    out, parts = np.empty((40, 50), dtype=np.int32), np.empty((40, 50), dtype=np.int32)
    assert module._shuffle(whole, out, halves, 0)[0] == 2000
    done, at, end = 0, 0, 0
    while done < 2000:
        end += 13
        done, used = module._shuffle(pieces, parts, halves[at:end], done)
        at += used
    np.testing.assert_array_equal(out, parts)


def test_small_numbers_are_refused_where_they_would_be_favoured() -> None:
    """Below 3: 2^32 = 1 modulo 3, so the half word 0 must be drawn again."""
    group = np.arange(3, dtype=np.int32)
    out = np.empty((1, 1), dtype=np.int32)
    assert module._shuffle(group, out, np.array([0], dtype=np.uint32), 0) == (0, 0)
    assert module._shuffle(group, out, np.array([0, 2**31], dtype=np.uint32), 0) == (1, 2)


def test_batches_within_classes_are_subsets_of_each() -> None:
    groups = [np.array([1, 4, 5]), np.array([0, 2, 3, 6])]
    drawn = split(Subsets.within(groups, (2, 1)).draw(30_000, SeededBits(5)))
    cells = np.zeros((3, 4))
    pairs = {subset: k for k, subset in enumerate(combinations((1, 4, 5), 2))}
    for rows in drawn:
        assert len(rows) == 3
        cells[pairs[tuple(sorted(map(int, rows[:2])))], [0, 2, 3, 6].index(int(rows[2]))] += 1
    assert p_value(cells.ravel(), np.full(12, 2500.0)) > ALARM


@pytest.mark.parametrize("rate", [0.003, 0.2, 0.75])
def test_every_coin_has_its_rate_and_is_independent_of_others(rate) -> None:
    """The number of heads is binomial; and so three coins, in the same batch and in the next."""
    n, count = 400, 20_000
    batches = Coins(n, rate).draw(count, SeededBits(6))
    sizes = np.diff(batches.starts)
    edges = np.unique(stats.binom.ppf(np.linspace(0.02, 0.98, 13), n, rate))
    cdf = np.concatenate(([0.0], stats.binom.cdf(edges, n, rate), [1.0]))
    observed = np.histogram(sizes, np.concatenate(([-1.0], edges + 0.5, [np.inf])))[0]
    keep = np.diff(cdf) * count > 20
    assert p_value(observed[keep], (np.diff(cdf) * count)[keep]) > ALARM
    heads = np.zeros((count, n), dtype=bool)
    heads[np.repeat(np.arange(count), sizes), batches.rows] = True
    three = np.stack((heads[:-1, 0], heads[:-1, n - 1], heads[1:, 0]))
    law = np.array([np.prod([rate if bit else 1 - rate for bit in map(int, f"{k:03b}")]) for k in range(8)])
    counts = np.bincount(4 * three[0] + 2 * three[1] + three[2], minlength=8)
    keep = law * count > 20
    assert p_value(counts[keep], law[keep] * (count - 1)) > ALARM
    assert stats.binomtest(int(heads.sum()), heads.size, rate).pvalue > ALARM


def test_batches_of_one_size_are_told_from_coins() -> None:
    """Negative control: the right number of records a batch, always."""
    rows = Subsets.of(4, 2).draw(20_000, SeededBits(7)).rows.reshape(-1, 2)
    together = ((rows == 0).any(axis=1) & (rows == 1).any(axis=1)).sum()
    assert stats.binomtest(int(together), 20_000, 1 / 4).pvalue < ALARM


def test_coins_that_always_show_heads_and_tables_of_nobody() -> None:
    assert [list(rows) for rows in split(Coins(3, 1.0).draw(2, SeededBits(8)))] == [[0, 1, 2], [0, 1, 2]]
    assert Coins(10**6, 1e-12).draw(3, SeededBits(9)).rows.size == 0


def test_batches_come_again_from_the_same_seed_only() -> None:
    for sampler in (lambda: Subsets.of(50, 7), lambda: Coins(50, 0.3)):
        a, b, c = (sampler().draw(5, source).rows for source in (SeededBits(1), SeededBits(1), SeededBits(2)))
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a[:5], c[:5])


@pytest.mark.parametrize(("n", "size"), [(3, 4), (3, 0)])
def test_sizes_that_do_not_fit_are_refused(n, size) -> None:
    with pytest.raises(ValueError, match="sizes of batches must be from 1"):
        Subsets.of(n, size)
