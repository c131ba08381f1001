"""online-output: one pass, each record against the earlier ones. Replayed, and its movement derived a second time."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from diptych import Budget, Logistic, SmoothedHinge
from diptych.accounting import gaussian_delta
from diptych.algorithms import OnlineOutput, UnsuitableError
from diptych.algorithms.descent import rounding
from diptych.algorithms.online import movement, one_against_all, one_pass
from diptych.noise import SecureBits, SeededBits, permutation
from diptych.risks import MetricRisk, RankingRisk, minimise
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import OF_PAIRS, TableSize
from tests.descents import APPROXIMATE, name_of, table_for

OPENLY = Budget(math.inf)
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)
RISKS = [
    kind(Logistic(1.0, 0.5), lam, held, adjacency)
    for lam, adjacency in product((0.0, 0.2), OF_PAIRS)
    for kind, held in (
        (RankingRisk, Free()),
        (RankingRisk, L2Ball(0.3)),
        (MetricRisk, PSDFrobeniusBall(1.0)),
        (MetricRisk, PSDTraceBall(2.0)),
    )
]
risks = pytest.mark.parametrize("risk", RISKS, ids=name_of)


# --- what is released


@risks
@pytest.mark.parametrize("budget", [APPROXIMATE, Budget(1.0)], ids=str)
def test_the_release_is_the_noisy_mean_of_one_pass(risk, budget) -> None:
    """The same bits again: the order first, then the noise."""
    table, algorithm, source = table_for(risk, 12), OnlineOutput(0.05), SeededBits(1)
    release = algorithm.run(risk, table, budget, SeededBits(1))
    within, steps, noise = algorithm.plan(risk, table.size(risk.adjacency), 2, budget)
    shuffled, w, path = table.take(permutation(12, source)), within.start(2), []
    for t in range(1, 12):
        gradient = within.newest(w, shuffled, t) + risk.regularization * w
        w = within.constraint.project(w - steps[t - 1] * gradient)
        path.append(w)
    np.testing.assert_array_equal(list(one_pass(within, shuffled, steps)), path)
    noisy = within.constraint.project(noise.add(np.mean(path, axis=0), source))
    np.testing.assert_allclose(release.coef, noisy, rtol=1e-12)
    assert (release.guarantee.sensitivity, release.guarantee.noise_scale) == (noise.sensitivity, noise.scale)
    assert release.trace["steps"] == 11


@risks
@pytest.mark.parametrize("given", [0.01, 0.3, 100.0])
def test_steps_by_hand(risk, given) -> None:
    """min(given, 2/(M + lambda), 1/(lambda t)), M = beta D^2 + lambda whatever the weights 1/N (D^4 for a metric)."""
    size = table_for(risk, 30).size(risk.adjacency)
    _, steps, _ = OnlineOutput(given).plan(risk, size, 2, APPROXIMATE)
    lam = risk.regularization
    longest = 2.0 / ((16.0 if isinstance(risk, MetricRisk) else 4.0) / (4 * 0.5) + 2 * lam)
    t = np.arange(1, 30)
    want = np.minimum(min(given, longest), 1.0 / (lam * t) if lam > 0 else math.inf)
    np.testing.assert_allclose(steps, want, rtol=1e-12)
    _, automatic, _ = OnlineOutput().plan(risk, size, 2, APPROXIMATE)
    assert 0 < automatic.max() <= longest * (1 + 1e-12)
    assert OnlineOutput().plan(risk, size, 2, OPENLY)[1][0] == pytest.approx(longest)


# --- movement


def recursion(certificate, share: float, steps, features: int, place: int) -> float:
    """Theorem 4, step by step, for a record at that place of the order."""
    kick = certificate.gradient_sensitivity / share
    apart, path = 0.0, []
    for t, length in enumerate(steps, 1):
        apart *= 1.0 - length * certificate.strong_convexity
        if t >= max(place, 1):
            apart += length * kick * (1.0 if t == place else 1.0 / t)
        apart += rounding(certificate, length, features) + 9.0 * length * certificate.gradient_error
        path.append(apart)
    return float(np.mean(path))


@risks
@pytest.mark.parametrize("n", [2, 3, 10])
def test_movement_is_the_worst_places_recursion(risk, n) -> None:
    size = table_for(risk, n).size(risk.adjacency)
    within, steps, noise = OnlineOutput(0.1).plan(risk, size, 2, APPROXIMATE)
    certificate, share = within.certificate(size, 2, tilt=math.inf), within.pair_share(size)
    worst = max(recursion(certificate, share, steps, 2, place) for place in range(n))
    assert movement(certificate, share, steps, 2) == pytest.approx(worst, rel=1e-12)
    plain = noise.sensitivity / (math.sqrt(noise.dimension) if noise.noise == "laplace" else 1.0)
    assert worst <= plain <= worst * (1 + 1e-4)


@risks
def test_noise_is_enough_for_the_budget(risk) -> None:
    size = table_for(risk, 30).size(risk.adjacency)
    for law, budget in (("gaussian", APPROXIMATE), ("laplace", Budget(1.0)), ("norm-laplace", Budget(1.0))):
        _, _, noise = OnlineOutput(0.1, law).plan(risk, size, 2, budget)
        ratio = noise.sensitivity / noise.scale
        assert gaussian_delta(ratio, 1.0) <= 1e-3 if law == "gaussian" else ratio <= 1.0


@risks
def test_steps_of_the_greatest_length_carry_no_two_points_apart(risk) -> None:
    """A step against all earlier records contracts by 1 - eta lambda: what the proof of Theorem 4 rests on."""
    rng, n = np.random.default_rng(0), 6
    table = table_for(risk, n)
    size = table.size(risk.adjacency)
    certificate = risk.certificate(size, 2, tilt=math.inf)
    longest = 2.0 / (one_against_all(certificate, risk.mass(size)) + 2.0 * risk.regularization)
    reach = min(risk.constraint.radius, 2.0)
    for _ in range(200):
        one, other = (risk.constraint.project(reach * rng.normal(size=risk.dimension(2))) for _ in range(2))
        t = int(rng.integers(1, n))
        ends = [w - longest * (risk.newest(w, table, t) + risk.regularization * w) for w in (one, other)]
        allowed = (1.0 - longest * risk.regularization) * np.linalg.norm(one - other)
        assert np.linalg.norm(ends[0] - ends[1]) <= allowed + 1e-12


@adjacencies
@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
def test_the_order_is_random_and_each_record_is_new_once(kind, adjacency, monkeypatch) -> None:
    risk, seen = kind(Logistic(), adjacency=adjacency), []
    spied = kind.newest

    def spy(self, w, table, t):
        seen.append((t, tuple(table.X[t])))
        return spied(self, w, table, t)

    monkeypatch.setattr(kind, "newest", spy)
    table, lasts = table_for(risk, 9), set()
    for seed in range(20):
        seen.clear()
        OnlineOutput().run(risk, table, APPROXIMATE, SeededBits(seed))
        assert [t for t, _ in seen] == list(range(1, 9))
        assert len({row for _, row in seen}) == 8
        lasts.add(seen[-1][1])
    assert len(lasts) >= 5


# --- without privacy


@pytest.mark.parametrize("loss", [Logistic(1.0, 0.5), SmoothedHinge()], ids=str)
def test_without_privacy_one_pass_over_many_records_comes_near_the_optimum(loss) -> None:
    """Its pairs weigh each record's earlier partners alike, so with public labels the two risks differ by a factor."""
    risk = RankingRisk(loss, 0.0, L2Ball(2.0))
    table = table_for(risk, 2000, 3)
    best = risk.value(minimise(RankingRisk(loss, 1e-6, L2Ball(2.0)), table, 1e-8).w, table)
    start = risk.value(np.zeros(3), table)
    value = risk.value(OnlineOutput().run(risk, table, OPENLY, SeededBits(0)).coef, table)
    assert best - 1e-6 <= value <= best + 0.15 * (start - best)


@pytest.mark.parametrize("constraint", [PSDFrobeniusBall(1.0), PSDTraceBall(1.0)], ids=str)
def test_without_privacy_one_pass_improves_a_metric(constraint) -> None:
    risk = MetricRisk(Logistic(1.0, 0.5), 0.0, constraint)
    table = table_for(risk, 600, 3)
    w = OnlineOutput().run(risk, table, OPENLY, SeededBits(0)).coef
    assert risk.value(w, table) < risk.value(risk.start(3), table) - 0.01


# --- refusals


def test_what_the_proof_does_not_cover_is_refused() -> None:
    with pytest.raises(
        UnsuitableError, match="constants='paper' does not suit online-output.*rebuilt from descriptions"
    ):
        OnlineOutput().run(RankingRisk(Logistic()), None, APPROXIMATE, SecureBits(), "paper")
    with pytest.raises(UnsuitableError, match="noise='gaussian' cannot give delta = 0"):
        OnlineOutput(noise="gaussian").check(RankingRisk(Logistic()), Budget(1.0))
    with pytest.raises(ValueError, match="noise must be 'auto' or one of"):
        OnlineOutput(noise="pink")
    with pytest.raises(ValueError, match="n must be at least 2"):
        TableSize(1)
