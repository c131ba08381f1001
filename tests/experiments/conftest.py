"""A folder of tiny data sets under known names, and a tiny experiment on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diptych.experiments.protocol import (
    APPROXIMATE,
    CROSS_VALIDATED,
    OBJECTIVE,
    OUTPUT,
    PUBLIC,
    PURE,
    Experiment,
    Series,
    Tuning,
)


def make_table(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1).astype(np.int8)
    return rng.normal(size=(n, d)) + 0.8 * (y == 1)[:, None], y


def save(path: Path, n: int, seed: int) -> None:
    X, y = make_table(n, 3, seed)
    np.savez_compressed(path, X=X.astype(np.float32), y=y)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    save(data / "ijcnn1_train.npz", 240, 0)
    save(data / "ijcnn1_test.npz", 120, 1)
    save(data / "pima.npz", 150, 2)
    return data


@pytest.fixture
def tiny() -> Experiment:
    return Experiment(
        name="tiny",
        title="A tiny figure",
        source="nowhere",
        datasets=("ijcnn1", "pima", "http"),
        series=(
            Series(OUTPUT, "logistic", "paper"),
            Series(OUTPUT, "logistic"),
            Series(OBJECTIVE, "logistic"),
        ),
        notions=(PURE, APPROXIMATE),
        epsilons=(1.0, 4.0),
        rules=(PUBLIC, CROSS_VALIDATED),
        repeats=3,
        tuning=Tuning(epsilon=1.0, folds=2, grid=(0.1, 1.0)),
    )
