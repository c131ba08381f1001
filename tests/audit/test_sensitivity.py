"""The searches are searched themselves: known answers, claims that are too small, and what is no claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diptych import Adjacency, Budget, Logistic, SmoothedHinge
from diptych.algorithms import EpochGD, GDOutput, NoisyGD, OnlineOutput, OutputPerturbation
from diptych.audit import claims, search_gradient, search_output
from diptych.audit.explicit import gradients, parameters
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.sets import PSDTraceBall, pack
from diptych.spec import OF_PAIRS, TableSize

WITHIN = Adjacency.REPLACE_WITHIN_CLASS
adjacencies = pytest.mark.parametrize("adjacency", OF_PAIRS, ids=str)


@adjacencies
def test_the_search_finds_how_far_a_mean_moves(adjacency) -> None:
    """The mean of n rows of the unit ball: 2/n, whatever the labels are."""
    for risk, size in (
        (RankingRisk(Logistic(), adjacency=adjacency), TableSize(4, 1 if adjacency is WITHIN else None)),
        (MetricRisk(Logistic(), adjacency=adjacency), TableSize(4)),
    ):
        found = search_output(lambda table: table.X.mean(axis=0), risk, size, 2, 0.5, seed=0)
        assert 0.99 <= found.ratio <= 1 + 1e-12
        assert found.reached == pytest.approx(np.linalg.norm(found.table.X[-1] - found.neighbour.X[-1]) / 4)
        assert search_output(lambda table: table.X.mean(axis=0), risk, size, 2, 0.5 / 1.03, seed=0).ratio > 1.02


@adjacencies
def test_labels_are_searched_where_they_are_private(adjacency) -> None:
    """The share of a class moves by 1/n, or not at all."""
    for risk, size in (
        (RankingRisk(Logistic(), adjacency=adjacency), TableSize(3, 1 if adjacency is WITHIN else None)),
        (MetricRisk(Logistic(), adjacency=adjacency), TableSize(3)),
    ):
        found = search_output(lambda table: np.bincount(table.codes, minlength=3) / 3, risk, size, 1, 1.0, seed=0)
        assert found.reached == pytest.approx(0.0 if adjacency is WITHIN else math.sqrt(2.0) / 3)


@pytest.mark.parametrize(
    ("risk", "kind"), [(RankingRisk(Logistic()), PairTable), (MetricRisk(Logistic()), MetricTable)]
)
def test_results_get_the_tables_of_their_risk(risk, kind) -> None:
    found = search_output(lambda table: np.array([float(isinstance(table, kind))]), risk, TableSize(3), 2, 1.0, 0, 2, 2)
    assert found.reached == 0.0
    assert isinstance(found.table, kind)


def test_explicit_gradients_are_those_of_either_risk(rng) -> None:
    rows, codes = rng.normal(size=(7, 2)) / 4, rng.integers(2, size=7)
    ranking, metric = RankingRisk(Logistic()), MetricRisk(Logistic(), constraint=PSDTraceBall(2.0))
    w = rng.normal(size=(1, 2))
    found = gradients(ranking, TableSize(7), rows[None], codes[None], parameters(ranking, w))[0]
    np.testing.assert_allclose(found, ranking.gradient(w[0], PairTable(rows, codes)), atol=1e-12)
    packed = rng.normal(size=(1, 3))
    matrices = parameters(metric, packed)
    found = gradients(metric, TableSize(7), rows[None], codes[None], matrices)[0]
    np.testing.assert_allclose(pack(found), metric.gradient(pack(matrices[0]), MetricTable(rows, codes)), atol=1e-12)
    assert np.linalg.eigvalsh(matrices[0]).min() >= -1e-12
    assert np.trace(matrices[0]) <= 2.0 + 1e-12


def test_the_point_that_a_search_names_lies_in_the_set() -> None:
    risk = MetricRisk(SmoothedHinge(), 0.1, PSDTraceBall(0.5))
    found = search_gradient(risk, TableSize(3), 2, seed=0, batch=8, rounds=20)
    np.testing.assert_allclose(risk.constraint.project(found.w), found.w, atol=1e-12)


# --- claims of the descending algorithms


BUDGET = Budget(1.0, 1e-3)


@pytest.mark.parametrize("kind", [RankingRisk, MetricRisk])
@adjacencies
def test_every_noise_has_its_claim(kind, adjacency) -> None:
    """As many as there are results, each in Euclidean norm and for tables of its own size."""
    risk = kind(SmoothedHinge(), adjacency=adjacency)
    size = TableSize(8, 4 if kind is RankingRisk and adjacency is WITHIN else None)
    sizes = EpochGD().parts(size)
    for algorithm, count in ((GDOutput(2), 1), (NoisyGD(2), 1), (EpochGD(2), len(sizes)), (OnlineOutput(), 8)):
        found = list(claims(algorithm, risk, size, 2, BUDGET))
        assert len(found) == count
        for claim in found:
            rows = np.zeros((claim.size.n, 2))
            table = PairTable(rows, np.arange(len(rows)) < 1) if kind is RankingRisk else MetricTable(rows, rows[:, 0])
            assert np.all(np.isfinite(claim.compute(table)))
        assert [claim.size.n for claim in found] == (sizes if algorithm == EpochGD(2) else [8] * count)


def test_claims_do_not_depend_on_the_law_of_the_noise() -> None:
    risk = RankingRisk(SmoothedHinge())
    approximate, pure = (
        next(iter(claims(GDOutput(5, 0.1, noise), risk, TableSize(5), 3, BUDGET))) for noise in ("gaussian", "laplace")
    )
    assert pure.sensitivity == pytest.approx(approximate.sensitivity, rel=1e-5)


@pytest.mark.parametrize("steps", [1, 4, 7])
def test_in_tables_that_are_cut_the_change_comes_into_every_part(steps, monkeypatch) -> None:
    monkeypatch.setattr("diptych.risks.metric.MOST_RECORDS", 2)
    risk = MetricRisk(SmoothedHinge(1.0, 0.1))
    for algorithm in (GDOutput(steps, 0.01), NoisyGD(steps, 0.01)):
        found = list(claims(algorithm, risk, TableSize(6), 2, BUDGET))
        assert len(found) == 6
        rng, moves = np.random.default_rng(0), []
        rows, codes = rng.normal(size=(6, 2)) / 3, rng.integers(2, size=6)
        other = np.r_[rows[:-1], -rows[-1:]]
        for claim in found:
            here, there = (claim.compute(MetricTable(X, codes)) for X in (rows, other))
            moves.append(np.linalg.norm(here - there))
            assert moves[-1] <= claim.sensitivity
        if steps == 1:  # only the first of three parts is at work
            assert np.sum(np.array(moves) > 0) == 2
        else:
            assert min(moves) > 0


def test_what_claims_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="no claims are known of OutputPerturbation"):
        claims(OutputPerturbation(), RankingRisk(Logistic(), 0.1), TableSize(5), 2, BUDGET)
    with pytest.raises(ValueError, match="without privacy nothing is claimed"):
        list(claims(GDOutput(), RankingRisk(Logistic(), 0.1), TableSize(5), 2, Budget(math.inf)))
