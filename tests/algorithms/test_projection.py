"""``jl``: what it releases, plans, promises and refuses; the mapped rows searched, and whole releases told apart."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from diptych import JL, Absolute, Adjacency, Budget, Hinge, Huber, Logistic, NoisyGD, SmoothedHinge, Squared
from diptych.accounting import NoisePlan, gaussian_mu
from diptych.algorithms import UnsuitableError
from diptych.audit import distinguish, search_output
from diptych.kernels.projections import shorten
from diptych.noise import MAPS, RandomMap, SecureBits, SeededBits
from diptych.risks import PointRisk, PointTable, RankingRisk, SparseTable
from diptych.sets import Free, L2Ball
from diptych.spec import TableSize

REPLACE, WITHIN, COMING = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS, Adjacency.ADD_REMOVE
BUDGET = Budget(1.0, 1e-5)
ERROR = 1e-8


def table_of(rng, n=60, d=40) -> PointTable:
    X = rng.normal(size=(n, d))
    return PointTable(X / np.linalg.norm(X, axis=1).max(), np.where(rng.random(n) < 0.5, 1.0, -1.0), n)


# --- what is released


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("adjacency", list(Adjacency), ids=str)
@pytest.mark.parametrize("held", [Free(), L2Ball(0.7)], ids=str)
def test_the_release_is_a_noisy_descent_among_shortened_images_mapped_back(kind, adjacency, held, rng) -> None:
    table, risk = table_of(rng), PointRisk(SmoothedHinge(), 0.01, held, adjacency)
    algorithm = JL(6, kind, 5, 0.3)
    release = algorithm.run(risk, table, BUDGET, SeededBits(2))
    source = SeededBits(2)
    phi = RandomMap.draw(kind, 6, 40, source)
    rows = table.mapped(phi)
    shorten(rows, 1.0)
    inner = replace(risk, constraint=L2Ball(1.4) if held != Free() else Free())
    found = NoisyGD(5, 0.3).run(inner, PointTable(rows, table.y, 60), BUDGET, source)
    np.testing.assert_array_equal(release.coef, phi.back(found.coef))
    assert release.coef.shape == (40,)
    assert release.trace == {**found.trace, "dimension": 6, "map": kind}
    assert release.guarantee.noise_scale == found.guarantee.noise_scale
    assert release.guarantee.mechanism.startswith("random projection to 6 dimensions: 5 steps of gradient descent")


@pytest.mark.parametrize("constant", [0.0, 0.5])
def test_sparse_rows_give_what_dense_ones_do(constant, rng) -> None:
    X = sparse.random(50, 300, 0.05, format="csr", random_state=3)
    y, factors = np.where(rng.random(50) < 0.5, 1.0, -1.0), 1.0 / np.maximum(0.7, np.linalg.norm(X.toarray(), axis=1))
    dense = X.toarray() * factors[:, None]
    dense = np.column_stack((dense, np.full(50, constant))) if constant else dense
    risk = PointRisk(Logistic(), norm=math.hypot(1.0, constant))
    one, two = (
        JL(7).run(risk, table, Budget(math.inf), SeededBits(0))
        for table in (PointTable(dense, y), SparseTable(X, factors, constant, y))
    )
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-9, atol=1e-12)
    assert one.coef.shape == (300 + (constant > 0),)
    assert not one.guarantee.private


def test_with_as_many_dimensions_scores_come_near_those_of_a_descent_on_all_features(rng) -> None:
    """Without privacy, 2000 dimensions of 40 features: Lemma 2 leaves little of a difference."""
    table, risk = table_of(rng), PointRisk(Logistic(), 0.1)
    phi = RandomMap.draw("gaussian", 2000, 40, SeededBits(0))
    few = PointTable(table.mapped(phi), table.y)
    exact, mapped = (
        NoisyGD(300).run(replace(risk, norm=2.0), one, Budget(math.inf), SecureBits()) for one in (table, few)
    )
    there = table.X @ phi.back(mapped.coef)
    assert np.corrcoef(there, table.X @ exact.coef)[0, 1] > 0.98


def test_the_trace_and_the_guarantee_are_public(rng) -> None:
    releases = [
        JL().run(PointRisk(Logistic()), table_of(np.random.default_rng(k)), BUDGET, SeededBits(0)) for k in (1, 2)
    ]
    assert releases[0].trace == releases[1].trace
    assert releases[0].guarantee == releases[1].guarantee
    assert np.any(releases[0].coef != releases[1].coef)


# --- what is planned


def test_dimensions_follow_the_theorems_orders() -> None:
    """(n mu)^(2/3) for smooth losses and n mu for others, within a tenth of the exponent, until memory bounds them."""
    sizes, d = [TableSize(n) for n in (1000, 4000, 16000)], 10**9
    for loss, exponent, most in ((Logistic(), 2 / 3, 3), (Hinge(), 1.0, 2)):
        risk = PointRisk(loss, 0.0, L2Ball(3.0))
        kept = [JL().kept(risk, size, d, Budget(0.5, 1e-6)) for size in sizes[:most]]
        slope = math.log(kept[-1] / kept[0]) / math.log(sizes[most - 1].n / sizes[0].n)
        assert slope == pytest.approx(exponent, abs=0.1)
    assert JL().kept(PointRisk(Hinge(), 0.0, L2Ball(3.0)), TableSize(10**6), d, BUDGET) == 16
    assert JL().kept(PointRisk(Logistic()), TableSize(10**5), 5, BUDGET) == 5
    assert JL(200).kept(PointRisk(Logistic()), TableSize(10), 50, BUDGET) == 50
    assert JL().kept(PointRisk(Logistic()), TableSize(10**4), d, Budget(math.inf)) == 2**24 // 10**4


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(), Absolute()], ids=str)
def test_noise_is_that_of_the_ball_of_twice_the_radius(loss) -> None:
    """A known mistake: constants of the ball of radius B do not hold where the descent runs."""
    risk, size = PointRisk(loss, 0.0, L2Ball(0.5), norm=math.sqrt(2.0)), TableSize(100)
    plan = JL(4, steps=3, step_size=5.0).plan(risk, size, 1000, BUDGET)
    assert plan.risk.constraint.radius == 1.0
    assert plan.risk.diameter == 2.0 * math.sqrt(2.0)
    wide = replace(risk, constraint=L2Ball(1.0), diameter=2.0 * math.sqrt(2.0)).certificate(size, 4, tilt=math.inf)
    assert plan.noise is not None
    assert plan.noise.sensitivity >= math.sqrt(3.0) * wide.gradient_sensitivity
    narrow = risk.certificate(size, 4, tilt=math.inf)
    assert (wide.gradient_sensitivity > narrow.gradient_sensitivity) == (not isinstance(loss, Hinge | Absolute))


def test_public_labels_lose_the_diameter_that_a_map_may_stretch() -> None:
    risk = PointRisk(Hinge(), 0.0, L2Ball(0.2), WITHIN, math.sqrt(2.0), 2.0)
    size = TableSize(10, 5)
    inner = JL().mapped(risk).certificate(size, 4, tilt=math.inf)
    assert inner.gradient_sensitivity == pytest.approx(math.sqrt(2.0) * risk.certificate(size, 4).gradient_sensitivity)


# --- sensitivity, attacked


def images(phi: RandomMap, table: PointTable, stretch: float, short: bool = True) -> PointTable:
    """The rows as the descent sees them; ``stretch`` stands for a map that fails to embed."""
    rows = stretch * table.mapped(phi)
    if short:
        shorten(rows, 1.0)
    return PointTable(rows, table.y, table.n_public)


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("stretch", [1.0, 10.0])
@pytest.mark.parametrize(
    ("loss", "adjacency"),
    [*product([Logistic(), SmoothedHinge(1.0, 0.1)], Adjacency), *product([Huber(0.1)], (REPLACE, COMING))],
    ids=str,
)
def test_gradients_of_shortened_images_move_no_farther_than_planned(kind, stretch, loss, adjacency) -> None:
    """The search is over the rows before the map; the same one without shortening breaks the claim."""
    risk, size = PointRisk(loss, 0.0, L2Ball(0.3), adjacency), TableSize(2, 1 if adjacency is WITHIN else None)
    inner = JL().mapped(risk)
    claimed = inner.certificate(size, 2, tilt=math.inf).gradient_sensitivity
    phi = RandomMap.draw(kind, 2, 4, SeededBits(1))
    w = np.array([-0.6, 0.0]) if adjacency is COMING else np.zeros(2)

    def gradient(table, short=True):
        return inner.gradient(w, images(phi, table, stretch, short))

    found = search_output(gradient, risk, size, 4, claimed, seed=0, batch=8, rounds=60)
    print(f"{kind} {stretch} {loss} {adjacency}: {found.ratio:.3f}")
    assert found.ratio <= 1 + 1e-9
    assert found.ratio >= 0.8
    if stretch > 1.0:
        loose = search_output(lambda table: gradient(table, False), risk, size, 4, claimed, seed=0, batch=8, rounds=60)
        assert loose.ratio > 2.0


# --- whole releases


@pytest.mark.parametrize(
    ("loss", "adjacency"),
    [
        (Hinge(), COMING),
        pytest.param(Hinge(), REPLACE, marks=pytest.mark.audit),
        pytest.param(Absolute(), REPLACE, marks=pytest.mark.audit),
    ],
    ids=str,
)
def test_releases_spend_no_more_than_promised(loss, adjacency, monkeypatch) -> None:
    """The map is known to the attacker, who looks along the direction in which the record moves the release."""
    budget, algorithm, risk = (
        Budget(1.5, 1e-2),
        JL(2, "rademacher", 1, 0.01),
        PointRisk(loss, 0.0, L2Ball(0.9), adjacency),
    )
    monkeypatch.setattr("diptych.algorithms.noisy_descent.gaussian_mu", lru_cache(gaussian_mu))
    monkeypatch.setattr("diptych.accounting.plan.gaussian_mu", lru_cache(gaussian_mu))
    X, y = np.zeros((2, 4)), np.ones(2)
    X[:, 0], other = 1.0, np.array([1.0, -1.0])
    here = PointTable(X, y, 2)
    there = PointTable(X[:1], y[:1], 2) if adjacency is COMING else PointTable(X, other, 2)
    mu = gaussian_mu(budget.epsilon, budget.delta)

    def runner(table, seed):
        source = SeededBits(seed)

        def run(k):
            coef = algorithm.run(risk, table, budget, source).coef
            return coef[:1]  # scores of the record: the map keeps its length, so that they do not depend on it

        return run

    honest = distinguish(runner(here, 0), runner(there, 1), 2000, budget.delta, ERROR)
    null = distinguish(runner(here, 4), runner(here, 5), 2000, budget.delta, ERROR)
    whole = NoisePlan.add

    def half(plan, value, source):
        return whole(replace(plan, scale=plan.lattice.step * (plan.lattice.steps(plan.scale) // 2)), value, source)

    monkeypatch.setattr(NoisePlan, "add", half)
    caught = distinguish(runner(here, 2), runner(there, 3), 4000, budget.delta, ERROR)
    print(f"{loss} {adjacency}: mu {honest.mu:.2f} of {mu:.2f}, control {caught.mu:.2f}")
    assert 0.3 * mu < honest.mu <= mu < caught.mu
    assert (null.epsilon, null.mu) == (0.0, 0.0)


# --- utility


def test_many_features_of_low_rank_cost_less_than_noise_on_all_of_them() -> None:
    """d far above n epsilon: the logistic loss of other records, in the mean of three runs, is less than without jl."""
    rng, n, d, rank = np.random.default_rng(0), 1000, 8000, 4
    basis = np.linalg.qr(rng.normal(size=(d, rank)))[0].T

    def draw():
        z = rng.normal(size=(n, rank))
        z /= np.linalg.norm(z, axis=1)[:, None]
        return PointTable(z @ basis, np.sign(z[:, 0] + 0.1 * rng.normal(size=n)))

    table, fresh = draw(), draw()
    risk = PointRisk(Logistic(), 0.0, L2Ball(8.0))
    losses = {
        algorithm.name: np.mean(
            [
                risk.value(algorithm.run(risk, table, Budget(2.0, 1e-6), SeededBits(seed)).coef, fresh)
                for seed in range(3)
            ]
        )
        for algorithm in (JL(), NoisyGD())
    }
    print(losses)
    assert losses["jl"] < losses["noisy-gd"] - 0.05
    assert losses["jl"] < math.log(2.0) - 0.15


# --- what is refused

REFUSED = [
    (RankingRisk(Logistic()), BUDGET, "defended", "jl is for losses of single records; use algorithm='noisy-gd'"),
    (
        PointRisk(Logistic()),
        Budget(1.0),
        "defended",
        "delta=0 does not suit jl, whose noise is Gaussian; set delta above 0",
    ),
    (PointRisk(Squared()), BUDGET, "defended", "radius is needed for jl with loss='squared'"),
    (PointRisk(Logistic()), BUDGET, "paper", "use constants='defended' for points"),
]


@pytest.mark.parametrize(("risk", "budget", "constants", "message"), REFUSED)
def test_what_the_proof_does_not_cover_is_refused_before_the_data(risk, budget, constants, message) -> None:
    with pytest.raises(UnsuitableError, match=message):
        JL().run(risk, None, budget, SecureBits(), constants)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimension": 0}, "dimension of jl must be a whole number from 1 to 10\\^6, or 'auto'"),
        ({"dimension": 2.0}, "dimension of jl"),
        ({"dimension": True}, "dimension of jl"),
        ({"map": "fourier"}, "map of jl must be one of 'gaussian', 'rademacher', 'sparse'"),
        ({"steps": 0}, "steps of jl"),
        ({"step_size": -1.0}, "step_size of jl"),
    ],
)
def test_settings_that_there_are_not_are_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        JL(**settings)
