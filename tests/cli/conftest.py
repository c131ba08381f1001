"""A command line that runs in this process, and small tables for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from diptych.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Run:
    """Run ``diptych`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run_here(*words: object) -> Answer:
        with pytest.raises(SystemExit) as leaving:
            main([str(word) for word in words])
        return Answer(int(leaving.value.code or 0), *capsys.readouterr())

    return run_here


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ill = rng.random(300) < 0.4
    return pd.DataFrame(
        {
            "age": rng.normal(50 + 10 * ill, 10).round(1),
            "smoker": rng.random(300) < 0.3 + 0.3 * ill,
            "visits": rng.poisson(3 + ill),
            "state": np.where(ill, "ill", "healthy"),
        }
    )


BOUNDS = """\
[bounds]
age = [0, 120]
smoker = [0, 1]
visits = [0, 20]
"""


@pytest.fixture
def files(tmp_path, frame, run) -> None:
    """Put the table, its bounds and a model of it into the folder."""
    frame.to_csv("table.csv", index=False)
    frame.to_parquet("table.parquet", index=False)
    (tmp_path / "bounds.toml").write_text(BOUNDS)


@pytest.fixture
def fit(run, files) -> Run:
    """Run ``diptych fit`` with what it needs, and more."""

    def fit_here(*more: object, table="table.csv", bounds=("--bounds", "bounds.toml"), epsilon=2) -> Answer:
        needed = ("--target", "state", "--epsilon", epsilon, "--output", "model.json")
        return run("fit", table, *needed, *bounds, *more)

    return fit_here
