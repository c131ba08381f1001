"""The reproduction of Xue et al.: its entries, its printed figures, its page, on tiny tables."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from diptych.experiments import experiments_of, run_experiments, write_report
from diptych.experiments.comparisons import comparison
from diptych.experiments.protocol import APPROXIMATE_N, Experiment
from diptych.experiments.published import with_published
from diptych.experiments.series import EUCLIDEAN, METRIC, OURS, RANKING
from diptych.experiments.xue import ours
from diptych.experiments.xue_published import TABLE_2, TABLE_3, TABLE_4
from diptych.spec import Adjacency
from tests.experiments.conftest import save
from tests.experiments.test_points import point

TABLES = {e.name: e for e in experiments_of("xue")}


def value(table, *key) -> float:
    (found,) = [p.value for p in table if (p.dataset, p.line, p.notion, p.epsilon, p.size) == key]
    return found


def test_printed_figures_are_those_of_the_paper() -> None:
    near = APPROXIMATE_N.name
    assert (len(TABLE_2), len(TABLE_3), len(TABLE_4)) == (2 * 13 * 3, 2 * 9 * 6, 2 * 9 * 4)
    assert value(TABLE_2, "diabetic_retinopathy", "DPEGD", near, 1.0, 512) == 0.6636
    assert value(TABLE_2, "pima", "non-private, convex", "ε-DP", 1.0, 128) == 0.718
    assert value(TABLE_3, "pima", "DPGDC2", near, 0.8, 128) == 0.7211
    assert value(TABLE_4, "pima", "DPEGD", "ε-DP", 0.5, 256) == 0.5916
    assert value(TABLE_4, "diabetic_retinopathy", "OffPairC", near, 2.0, 256) == 0.6292


def test_entries_are_as_the_paper_states() -> None:
    assert TABLES["table-2"].sizes == (128, 256, 512)
    assert TABLES["table-3"].sizes == (128,)
    assert TABLES["table-4"].epsilons == (0.5, 0.8, 1.0, 2.0)
    assert {TABLES[name].epsilons for name in ("figures-1-3", "figures-2-4")} == {(0.8,)}
    assert APPROXIMATE_N.budget(1.0, 128).delta == 1.0 / 128
    for entry in TABLES.values():
        assert entry.repeats == 20
        lines = [s for s in entry.series if s.published]
        assert all(s.radius == 1.0 and s.loss == "logistic" for s in lines)
        assert {s.adjacency for s in lines if s.constants == "paper"} == {Adjacency.REPLACE}
        strongly = {s.regularization for s in lines if s.line in ("OffPairStrC", "DPGDSC")}
        assert strongly <= {1e-2 if lines[0].task == METRIC else 1e-3}
        assert {s.regularization for s in lines if s.line in ("OffPairC", "DPGDC2", "DPEGD")} <= {0.0}
    assert any(s.algorithm == EUCLIDEAN for s in TABLES["table-2"].series)


def test_every_printed_line_is_run_where_it_is_printed() -> None:
    for entry in TABLES.values():
        for dataset in entry.datasets:
            run = {(c.series.line, c.notion.name, c.epsilon, c.size) for c in entry.cells(dataset)}
            for p in entry.published:
                own = ("ε-DP", math.inf) if p.line.startswith("non-private") else (p.notion, p.epsilon)
                assert (p.line, *own, p.size) in run


@pytest.mark.parametrize("task", [RANKING, METRIC])
def test_ours_is_one_setting_a_notion(task) -> None:
    series = ours(task)
    assert len(series) == 4
    assert len({replace(s, adjacency=Adjacency.REPLACE) for s in series}) == 2


def test_printed_figures_go_beside_their_lines() -> None:
    where = {"figure": "table-4", "dataset": "pima", "size": "256", "epsilon": 0.5, "notion": "ε-DP"}
    own, best, other = (point(**where, line=line) for line in ("DPGDSC", OURS, "DPGDC2"))
    open_ = point(figure="table-2", dataset="pima", size="128", epsilon=math.inf, line="non-private, convex")
    printed = [p.published for p in with_published(TABLES.values(), [own, best, other, open_, point()])]
    assert printed[:2] == [0.5916, 0.5916]
    assert printed[3] == pytest.approx((0.7173 + 0.7180) / 2)
    assert math.isnan(printed[2])  # Gaussian noise only
    assert math.isnan(printed[4])
    assert replace(own, published=0.6).text == "0.800 ± 0.010 (0.600)"


@pytest.fixture
def small(folder: Path) -> list[Experiment]:
    save(folder / "diabetic_retinopathy.npz", 140, 5)
    table, figure = TABLES["table-2"], TABLES["figures-2-4"]
    sizes = (32, 64)
    printed = tuple(replace(p, size=64) for p in table.published if p.size == 128)
    keep = tuple(s for s in table.series if s.line in (EUCLIDEAN.capitalize(), "DPGDSC", "non-private, convex", OURS))
    return [
        replace(table, repeats=2, sizes=sizes, published=printed, series=keep, datasets=("pima",)),
        replace(figure, repeats=2, sizes=sizes),
    ]


def test_a_small_run_from_end_to_end(folder: Path, tmp_path: Path, small: list[Experiment]) -> None:
    outputs = [tmp_path / "one", tmp_path / "two"]
    for jobs, output in enumerate(outputs, 1):
        done = run_experiments(small, folder, output, jobs=jobs)
    assert len({tuple(sorted((o / "cells.csv").read_text().splitlines())) for o in outputs}) == 1
    page = write_report("xue", done, outputs[0]).read_text(encoding="utf-8")
    assert "![AUC against the training size, ε = 0.8, general convex](figures-2-4.png)" in page
    assert "**pima, labels public**" in page
    assert re.search(r"\| DPGDSC, paper \| 0.01 \| 0\.\d{3} ± 0\.\d{3} \| 0\.\d{3} ± 0\.\d{3} \(0\.640\) ", page)
    assert re.search(r"\| Euclidean \| 0 \|( 0\.\d{3} ± 0\.\d{3} \|){4}", page)
    assert re.search(r"\| ours \| 0 to 3 \| 0\.\d{3} ± 0\.\d{3} \| 0\.\d{3} ± 0\.\d{3} \(0\.713\) ", page)
    assert "*table-2, DPGDSC* with the published noise" in page
    assert "not covered:" not in page
    with (outputs[0] / "summary.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["published"] for row in rows if row["line"] == "DPGDSC" and row["size"] == "64"} == {"0.6403", "0.6451"}
    assert 1_000 < (outputs[0] / "figures-2-4.png").stat().st_size < 200_000


def test_tables_are_rectangular_and_empty_without_points(small: list[Experiment]) -> None:
    assert comparison(small[0], []) == []


def test_training_sizes_that_leave_no_test_are_noted(folder: Path, tmp_path: Path, small: list[Experiment]) -> None:
    run_experiments([replace(small[0], sizes=(150,))], folder, tmp_path / "out", jobs=1)
    assert "leave none for testing" in (tmp_path / "out" / "cells.csv").read_text()
