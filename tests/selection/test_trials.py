"""Which candidates are tried: the laws, exactly."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from diptych.noise import SecureBits, SeededBits
from diptych.selection import AllTrials, CoinTrials, UniformTrials
from tests.statistics import ALARM

RUNS = 20_000


def fits(counts: Counter, law: dict) -> float:
    assert set(counts) <= set(law)
    return float(stats.chisquare([counts[key] for key in law], [RUNS * share for share in law.values()]).pvalue)


@pytest.mark.parametrize("source", [SeededBits(1), SecureBits()], ids=["seeded", "secure"])
def test_coins_try_each_by_itself_and_never_none(source) -> None:
    counts = Counter(tuple(CoinTrials(0.3).draw(3, source)) for _ in range(RUNS))

    def law(rate):
        sets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
        shares = {one: rate ** len(one) * (1 - rate) ** (3 - len(one)) for one in sets}
        return {one: share / sum(shares.values()) for one, share in shares.items()}

    assert fits(counts, law(0.3)) > ALARM
    assert fits(counts, law(0.27)) < ALARM


@pytest.mark.parametrize("source", [SeededBits(1), SecureBits()], ids=["seeded", "secure"])
def test_the_number_of_trials_is_uniform_and_so_is_the_set(source) -> None:
    counts = Counter(tuple(UniformTrials().draw(3, source)) for _ in range(RUNS))
    law = dict.fromkeys([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], 1 / 9) | {(0, 1, 2): 1 / 3}
    assert fits(counts, law) > ALARM
    assert fits(counts, dict.fromkeys(law, 1 / 7)) < ALARM


def test_all_are_all() -> None:
    assert AllTrials().draw(4, SeededBits(0)) == [0, 1, 2, 3]
    assert UniformTrials().draw(1, SeededBits(0)) == [0]


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_rates_are_between_nothing_and_all(rate) -> None:
    with pytest.raises(ValueError, match="rate must be between 0 and 1"):
        CoinTrials(rate)
