from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from diptych.algorithms import DESCENDING
from diptych.experiments import descents
from diptych.experiments.descents import Descents, components
from diptych.experiments.protocol import APPROXIMATE_N, PURE, Cell, Series, Tuning
from diptych.experiments.readers import find_sources
from diptych.experiments.series import EPOCHS, EUCLIDEAN, GD, METRIC, NOISY, ONLINE, RANKING
from diptych.experiments.trainer import Trainer
from diptych.experiments.workbench import Split, Workbench, neighbour_accuracy
from diptych.experiments.workers import Task, _groups
from diptych.experiments.xue import ours
from diptych.noise import bit_source
from diptych.risks import MetricTable
from diptych.sets import pack, unpack
from diptych.spec import Adjacency, Budget

LAMBDA = {GD: 0.1, ONLINE: 0.1, NOISY: 0.0, EPOCHS: 0.0}


@pytest.fixture
def split(folder: Path) -> Split:
    return Workbench(find_sources(folder, ["pima"])["pima"], "public").split(0, 64)


def series(algorithm: str, task: str, constants: str = "defended") -> Series:
    return Series(algorithm, "logistic", constants, Adjacency.REPLACE, 1.0, task=task, line="x")


@pytest.mark.parametrize("notion", [PURE, APPROXIMATE_N], ids=lambda notion: notion.name)
@pytest.mark.parametrize("task", [RANKING, METRIC])
@pytest.mark.parametrize(
    ("algorithm", "constants"),
    [(GD, "paper"), (GD, "defended"), (EPOCHS, "paper"), (NOISY, "paper"), (NOISY, "defended"), (ONLINE, "defended")],
)
def test_models_are_those_that_the_algorithm_releases(split: Split, task, algorithm, constants, notion) -> None:
    if algorithm == NOISY and notion.pure:
        pytest.skip("its noise is Gaussian")
    one, lam, kept = series(algorithm, task, constants), LAMBDA[algorithm], Descents()
    table = split.train if task == RANKING else MetricTable(split.train.X, split.train.codes)
    risk = one.risk(lam) if task == RANKING else one.metric_risk(lam)
    for seed, epsilon in ((1, 2.0), (2, 0.5)):  # the second may use a kept result
        budget = notion.budget(epsilon, split.train.n)
        release = DESCENDING[algorithm]().run(risk, table, budget, bit_source(seed), constants)
        np.testing.assert_array_equal(kept.fit(one, split, lam, budget, bit_source(seed)), release.coef)


def test_one_trajectory_serves_all_epsilons_and_notions(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, result = [], descents.result
    monkeypatch.setattr(descents, "result", lambda *given: calls.append(given) or result(*given))
    kept, one = Descents(), series(GD, METRIC, "paper")
    for epsilon in (0.5, 1.0, math.inf):
        for delta in (0.0, 0.01):
            kept.fit(one, split, 0.1, Budget(epsilon, delta), bit_source(0))
    assert len(calls) == 1
    kept.fit(one, split, 0.2, Budget(1.0), bit_source(0))
    assert len(calls) == 2


def test_workers_get_shared_trajectories_together(folder: Path) -> None:
    source = find_sources(folder, ["pima"])["pima"]
    paper, other = series(GD, METRIC, "paper"), series(GD, METRIC)
    kinds = [paper, other, replace(paper, line="open", private=False), other, replace(paper, task=RANKING)]
    tasks = [Task(source, Cell("pima", "public", s, PURE, 1.0 + k, None, 1, Tuning())) for k, s in enumerate(kinds)]  # type: ignore[arg-type]
    assert list(_groups(tasks)) == [[0, 2], [1], [3], [4]]


def test_accuracy_agrees_with_scikit_learn(split: Split, rng) -> None:
    matrix = rng.normal(size=(3, 3))
    known = KNeighborsClassifier(3).fit(split.train.X @ matrix, split.train.positive)
    expected = known.score(split.test.X @ matrix, split.test.positive)
    assert neighbour_accuracy(matrix, split.train, split.test) == pytest.approx(expected, abs=1e-12)


def test_components_give_the_distance_of_the_metric(rng) -> None:
    root, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    matrix = root @ root.T
    assert np.sum((x @ components(pack(matrix))) ** 2) == pytest.approx(x @ matrix @ x)


def test_a_euclidean_cell_needs_no_training(folder: Path) -> None:
    bench = Workbench(find_sources(folder, ["pima"])["pima"], "public")
    plain = Series(EUCLIDEAN, "logistic", task=METRIC, line="Euclidean", regularization=0.0, private=False)
    from diptych.experiments.protocol import Rule

    outcome = Trainer(bench).run(Cell("pima", "public", plain, PURE, math.inf, Rule("fixed", 0.0), 2, Tuning(), 64))
    expected = [neighbour_accuracy(np.eye(3), bench.split(k, 64).train, bench.split(k, 64).test) for k in range(2)]
    assert outcome.scores == pytest.approx(expected, abs=1e-12)


def test_the_metric_of_ours_is_the_euclidean_one_with_distances_along_one_direction_doubled(split: Split) -> None:
    for one in ours(METRIC):
        (notion,) = one.notions
        w = Descents().fit(one, split, 0.0, notion.budget(8.0, split.train.n), bit_source(3))
        values = np.linalg.eigvalsh(unpack(w))
        np.testing.assert_allclose(values / values[0], [*np.ones(split.train.d - 1), 4.0], rtol=1e-9)
