from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from diptych.experiments.readers import find_sources
from diptych.experiments.workbench import Workbench, auc, in_fold


def bench(folder: Path, name: str) -> Workbench:
    return Workbench(find_sources(folder, [name])[name], "public")


def test_auc_agrees_with_scikit_learn_ties_included(rng) -> None:
    for _ in range(20):
        scores, positive = rng.integers(0, 9, size=60).astype(float), rng.random(60) < 0.4
        assert auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


def test_published_parts_serve_every_repeat(folder: Path) -> None:
    ijcnn = bench(folder, "ijcnn1")
    assert ijcnn.split(0) is ijcnn.split(17)
    assert (ijcnn.split(0).train.n, ijcnn.split(0).test.n) == (240, 120)


def test_random_splits_are_disjoint_stratified_and_reproducible(folder: Path) -> None:
    one, again = bench(folder, "pima"), bench(folder, "pima")
    splits = [one.split(k) for k in range(4)]
    assert len({split.name for split in splits}) == 4
    assert {(s.train.n, s.train.positives, s.test.positives) for s in splits} == {
        (splits[0].train.n, splits[0].train.positives, splits[0].test.positives)
    }
    assert splits[0].train.n + splits[0].test.n == 150
    np.testing.assert_array_equal(splits[2].train.X, again.split(2).train.X)
    assert not np.array_equal(splits[0].test.X, splits[1].test.X)


def test_large_data_sets_share_a_few_splits(folder: Path) -> None:
    (folder / "pima.npz").rename(folder / "kddcup99_http.npz")
    http = bench(folder, "http")
    assert http.split(1) is http.split(7)
    assert http.split(1) is not http.split(2)


def test_folds_hold_out_every_training_record_once(folder: Path) -> None:
    ijcnn = bench(folder, "ijcnn1")
    folds = list(ijcnn.folds(5))
    assert sum(fold.test.n for fold in folds) == 240
    assert all(fold.train.n + fold.test.n == 240 for fold in folds)
    held = np.sort(np.concatenate([fold.test.X[:, 0] for fold in folds]))
    np.testing.assert_array_equal(held, np.sort(ijcnn.split(0).train.X[:, 0]))


def test_classes_are_dealt_evenly(rng) -> None:
    y = rng.random(103) < 0.2
    folds = in_fold(y, 5, seed=0)
    for mask in (y, ~y):
        counts = np.bincount(folds[mask], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_drawn_training_parts_are_nested_and_leave_the_rest_for_testing(folder: Path) -> None:
    pima = bench(folder, "pima")
    small, large = pima.split(3, 32), pima.split(3, 64)
    assert (large.train.n, large.test.n) == (64, 86)
    assert small.name != large.name
    np.testing.assert_array_equal(small.train.positive, large.train.positive[:32])
    assert pima.split(3, 64) is large
    assert not np.array_equal(pima.split(4, 64).train.X, large.train.X)
    with pytest.raises(ValueError, match="150 for training leave none for testing"):
        pima.split(0, 150)
