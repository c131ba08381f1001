"""The mechanisms against their exact laws, and those laws against the promise, by a search over neighbouring scores."""

from __future__ import annotations

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy import integrate, stats

from diptych.audit import distinguish
from diptych.noise import SecureBits, SeededBits
from diptych.selection import MECHANISMS, Exponential, NoisyMax, PermuteAndFlip
from diptych.selection.generalised import generalised, shortfalls
from tests.statistics import ALARM

RUNS = 20_000
SCORES, SENSITIVITY, EPSILON = (3, 7, 6, 7, -2), 2, 1.3
ERROR = 1e-8


def permute_and_flip(scores, sensitivity, epsilon) -> np.ndarray:
    heads = np.exp(epsilon * (np.array(scores) - max(scores)) / (2 * sensitivity))
    law = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for place in order:
            law[place] += left * heads[place]
            left *= 1 - heads[place]
    return law / math.factorial(len(scores))


def exponential(scores, sensitivity, epsilon) -> np.ndarray:
    weights = np.exp(epsilon * (np.array(scores) - max(scores)) / (2 * sensitivity))
    return weights / weights.sum()


def noisy_max(scores, sensitivity, epsilon) -> np.ndarray:
    noise = stats.laplace(scale=2 * sensitivity / epsilon)

    def density(y: float, place: int) -> float:
        others = [noise.cdf(y - score) for other, score in enumerate(scores) if other != place]
        return float(noise.pdf(y - scores[place]) * math.prod(others))

    kinks, far = sorted(set(scores)), 40 * sensitivity / epsilon
    edges = [kinks[0] - far, *kinks, kinks[-1] + far]
    return np.array(
        [
            sum(integrate.quad(density, a, b, args=(place,))[0] for a, b in pairwise(edges))
            for place in range(len(scores))
        ]
    )


LAWS = {"permute-and-flip": permute_and_flip, "exponential": exponential, "noisy-max": noisy_max}


def sample(mechanism, epsilon, source) -> np.ndarray:
    drawn = [mechanism.pick(SCORES, SENSITIVITY, epsilon, source) for _ in range(RUNS)]
    return np.bincount(drawn, minlength=len(SCORES))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("source", [SeededBits(1), SecureBits()], ids=["seeded", "secure"])
def test_choices_follow_the_law_and_no_other(name, source) -> None:
    counts = sample(MECHANISMS[name], EPSILON, source)
    law = LAWS[name](SCORES, SENSITIVITY, EPSILON)
    assert law.sum() == pytest.approx(1.0, abs=1e-6)
    assert stats.chisquare(counts, RUNS * law / law.sum()).pvalue > ALARM
    for wrong in (1.2 * EPSILON, 0.8 * EPSILON):
        other = LAWS[name](SCORES, SENSITIVITY, wrong)
        assert stats.chisquare(counts, RUNS * other / other.sum()).pvalue < ALARM


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_neighbour_is_told_apart_better_than_promised_and_some_nearly_as_well(name) -> None:
    """Every score moves by -s, 0 or s: the ratio of exact laws."""
    worst, sensitivity, epsilon = 0.0, 2, 1.1
    for scores in [(0, 0), (0, 9), (0, 4, 8), (0, 30, 30)]:
        here = LAWS[name](scores, sensitivity, epsilon)
        for moves in product((-sensitivity, 0, sensitivity), repeat=len(scores)):
            there = LAWS[name](tuple(a + b for a, b in zip(scores, moves, strict=True)), sensitivity, epsilon)
            worst = max(worst, float(np.abs(np.log(here / there)).max()))
    print(f"{name}: {worst / epsilon:.4f} of epsilon")
    assert 0.85 * epsilon < worst <= epsilon * (1 + 1e-6)


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism() -> None:
    for scores in product((0, 2, 5), repeat=3):
        least = [law(scores, 1, 1.0) @ np.array(scores) for law in (permute_and_flip, exponential)]
        assert least[0] >= least[1] - 1e-12


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_an_audit_finds_no_more_than_epsilon_and_catches_half_the_noise(mechanism) -> None:
    epsilon = 1.5
    tables = ((0, 4), (2, 2))

    def runner(scores, seed, factor=1.0):
        source = SeededBits(seed)
        return lambda _: np.eye(2)[mechanism.pick(scores, 2, factor * epsilon, source)]

    honest = distinguish(runner(tables[0], 1), runner(tables[1], 2), 3000, 0.0, ERROR)
    same = distinguish(runner(tables[0], 5), runner(tables[0], 6), 3000, 0.0, ERROR)
    caught = distinguish(runner(tables[0], 3, 2.0), runner(tables[1], 4, 2.0), 6000, 0.0, ERROR)
    print(f"{mechanism.name}: {honest.epsilon:.2f} of {epsilon}; control {caught.epsilon:.2f}")
    assert 0.3 * epsilon < honest.epsilon <= epsilon
    assert same.epsilon == 0.0
    assert caught.epsilon > epsilon


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_without_privacy_the_first_best_is_chosen(mechanism) -> None:
    assert mechanism.pick([3, 9, 9, 1], 1, math.inf, SeededBits(0)) == 1
    assert mechanism.pick([5], 10**9, 0.5, SeededBits(0)) == 0


@pytest.mark.parametrize("mechanism", [PermuteAndFlip(), Exponential(), NoisyMax()], ids=lambda one: one.name)
def test_scores_beyond_doubles_are_chosen_between(mechanism) -> None:
    huge = 10**30
    assert mechanism.pick([huge, huge + 10**6], 1, 2.0, SeededBits(0)) == 1


@pytest.mark.parametrize(
    ("scores", "sensitivity", "epsilon", "words"),
    [
        ([], 1, 1.0, "scores is empty"),
        ([1], 0, 1.0, "sensitivity must be"),
        ([1], 0.5, 1.0, "sensitivity must be"),
        ([1], 1, 0.0, "epsilon must be"),
    ],
)
def test_bad_settings_are_refused(scores, sensitivity, epsilon, words) -> None:
    for mechanism in MECHANISMS.values():
        with pytest.raises(ValueError, match=words):
            mechanism.pick(scores, sensitivity, epsilon, SeededBits(0))


# --- the generalised mechanism


def test_shortfalls_move_by_at_most_one_and_reach_it() -> None:
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(3000):
        count = int(rng.integers(2, 5))
        gammas = [int(g) for g in rng.integers(1, 9, size=count)]
        gammas[0] *= int(rng.integers(2))
        scores = [int(q) for q in rng.integers(-20, 20, size=count)]
        moved = [q + int(rng.choice([-1, 0, 1])) * g for q, g in zip(scores, gammas, strict=True)]
        here, there = (shortfalls(one, gammas, 3) for one in (scores, moved))
        worst = max(worst, *(float(abs(a - b)) for a, b in zip(here, there, strict=True)))
    assert worst == 1.0


def test_the_generalised_mechanism_follows_its_law() -> None:
    scores, gammas, epsilon, source = (10, 12, 30), (0, 1, 20), 1.5, SeededBits(3)
    price = 2 * math.log(3 / 0.05) / epsilon
    falls = np.array([float(fall) for fall in shortfalls(scores, gammas, price)])

    def law(epsilon) -> np.ndarray:
        weights = np.exp(-epsilon * falls / 2)
        return RUNS * weights / weights.sum()

    counts = np.bincount([generalised(scores, gammas, epsilon, source) for _ in range(RUNS)], minlength=3)
    assert stats.chisquare(counts, law(epsilon)).pvalue > ALARM
    assert stats.chisquare(counts, law(1.2 * epsilon)).pvalue < ALARM


def test_a_candidate_of_large_sensitivity_costs_those_of_small_ones_nothing() -> None:
    """The claim on accuracy; the exponential mechanism, which knows one sensitivity only, misses it."""
    scores, gammas, epsilon, confidence = (0, 50, 60), (1, 1, 1000), 1.0, 0.1
    reached = max(q - 4 * g * math.log(3 / confidence) / epsilon for q, g in zip(scores, gammas, strict=True))
    source = SeededBits(4)
    good = [scores[generalised(scores, gammas, epsilon, source, confidence)] >= reached for _ in range(2000)]
    plain = [scores[Exponential().pick(scores, 1000, epsilon, source)] >= reached for _ in range(2000)]
    assert np.mean(good) >= 1 - confidence
    assert np.mean(plain) < 0.8


def test_settings_of_the_generalised_mechanism_are_refused() -> None:
    source = SeededBits(0)
    for scores, gammas, epsilon, confidence, words in [
        ([], [], 1.0, 0.1, "one number a candidate"),
        ([1, 2], [1], 1.0, 0.1, "as many"),
        ([1, 2], [0, 0], 1.0, 0.1, "at most one of them 0"),
        ([1, 2], [-1, 0], 1.0, 0.1, "at least 0"),
        ([1, 2], [1, 1], 0.0, 0.1, "epsilon must be"),
        ([1, 2], [1, 1], 1.0, 1.0, "confidence"),
    ]:
        with pytest.raises(ValueError, match=words):
            generalised(scores, gammas, epsilon, source, confidence)
    assert generalised([1, 3, 2], [1, 1, 1], math.inf, source) == 1
    assert generalised([1], [0], 1.0, source) == 0
