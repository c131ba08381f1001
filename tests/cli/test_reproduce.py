"""``diptych reproduce`` on tiny tables, end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diptych.cli.app import app


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, n in (("ijcnn1_train", 120), ("ijcnn1_test", 60)):
        y = np.where(rng.random(n) < 0.4, 1, -1)
        np.savez(tmp_path / f"{name}.npz", X=rng.normal(size=(n, 2)) + (y == 1)[:, None], y=y)
    return tmp_path


def run(*arguments: object):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_a_tiny_reproduction_from_end_to_end(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    options = ("--data", data, "--output", output, "--repeats", 2, "--jobs", 1, "--only", "ijcnn1")
    done = run("wang-erm", *options, "--figure", "figure-3, scaling")
    assert done.exit_code == 0, done.output
    page = (output / "wang-erm.md").read_text(encoding="utf-8")
    assert "![Test AUC against ε, least squares](figure-3.png)" in page
    assert "squared, objective, defended, ball of radius 0.5" in page
    assert "objective perturbation with the paper's constants: the paper leaves it out" in page
    assert "*ijcnn1, squared loss: about 0.9 at ε = 0.5*" in page
    assert {path.name for path in output.iterdir()} == {
        "cells.csv",
        "figure-3.png",
        "summary.csv",
        "tuning.csv",
        "wang-erm.md",
    }


def test_a_tiny_table_beside_its_printed_figures(tmp_path: Path) -> None:
    rng, output = np.random.default_rng(1), tmp_path / "out"
    y = np.where(rng.random(300) < 0.4, 1, -1)
    np.savez(tmp_path / "pima.npz", X=rng.normal(size=(300, 2)) + (y == 1)[:, None], y=y)
    options = ("--data", tmp_path, "--output", output, "--repeats", 2, "--jobs", 1, "--only", "pima")
    done = run("xue", *options, "--figure", "table-4")
    assert done.exit_code == 0, done.output
    page = (output / "xue.md").read_text(encoding="utf-8")
    assert "## table-4: AUC against ε, n = 256" in page
    assert "| DPEGD, paper | 0 |" in page
    assert "(0.645) |" in page
    assert "Not run, because the files were not there or not asked for: diabetic_retinopathy." in page
    assert {path.name for path in output.iterdir()} == {"cells.csv", "summary.csv", "xue.md"}


def test_simulations_need_no_data(tmp_path: Path) -> None:
    done = run("wang-sgd", "--output", tmp_path / "out", "--jobs", 1, "--figure", "noise")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "wang-sgd.md").read_text(encoding="utf-8")
    assert "*noise, pairs*: the paper asks for 3.91 to 9.42 times the noise that is enough" in page
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "means.csv",
        "noise.png",
        "simulations.csv",
        "wang-sgd.md",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wang-erm", "--data", "nowhere-at-all"), "there is no folder"),
        (("wang-erm", "--data", "."), "holds no known data set"),
        (("wang-erm", "--data", ".", "--only", "moon"), "moon is not a known data set"),
        (("other", "--data", "."), "paper must be one of wang-erm, xue, yang, wang-sgd"),
        (("yang",), "data is missing: these entries run on data sets; name the folder that holds them (--data)."),
        (("wang-erm", "--data", ".", "--figure", "figure-9"), "figure must be one of figure-1"),
    ],
)
def test_refusals_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run(*arguments, "--output", tmp_path / "out")
    assert refused.exit_code != 0
    assert message in " ".join(refused.output.split())
    assert not (tmp_path / "out").exists()
