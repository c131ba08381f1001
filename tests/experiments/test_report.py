from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from diptych.experiments import experiments_of, figures, registry, report, run_experiments, write_report
from diptych.experiments.protocol import PURE, Experiment, Rule
from diptych.experiments.tables import lambdas, row_label


@pytest.fixture
def done(folder: Path, tmp_path: Path, tiny: Experiment) -> tuple[list[Experiment], Path]:
    curves = replace(tiny, uncovered=("the moon: too far",))
    sweep = replace(tiny, name="sweep", axis="lambda", rules=(Rule("fixed", 0.1), Rule("fixed", 1.0)), epsilons=(1.0,))
    listed = replace(tiny, name="listed", kind="table", notions=(PURE,), show=(4.0,))
    return run_experiments([curves, sweep, listed], folder, tmp_path / "out", repeats=2, jobs=1), tmp_path / "out"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_holds_tables_figures_and_reasons(done: tuple[list[Experiment], Path]) -> None:
    entries, output = done
    page = write_report("wang-erm", entries, output).read_text(encoding="utf-8")
    assert "![A tiny figure](tiny.png)" in page
    assert "![A tiny figure](listed.png)" not in page
    assert "Not covered: the moon: too far." in page
    assert "Not run, because the files were not there or not asked for: http." in page
    assert "Its privacy cost is not charged" in page
    for png in ("tiny.png", "sweep.png"):
        assert 1_000 < (output / png).stat().st_size < 150_000
    tables = re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        heads, _, *lines = [cells(line) for line in table.splitlines()]
        assert {len(line) for line in lines} == {len(heads)}
        for line in lines:
            assert all(re.fullmatch(r"0\.\d{3} ± 0\.\d{3}", value) for value in line[4:]), line
    assert len(tables[0].splitlines()) == 2 + 2 * 2 * 3  # data sets, rules, series


def test_values_in_the_page_are_those_of_the_summary(done: tuple[list[Experiment], Path]) -> None:
    entries, output = done
    page = write_report("wang-erm", entries, output).read_text(encoding="utf-8")
    lines = (output / report.SUMMARY).read_text(encoding="utf-8").splitlines()
    sample = next(line.split(",") for line in lines if line.startswith("listed,pima") and ",4," in line)
    assert f"{float(sample[13]):.3f} ± {float(sample[14]):.3f}" in page


def test_without_matplotlib_the_rest_is_written_and_said(
    done: tuple[list[Experiment], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries, output = done
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    said: list[str] = []
    page = write_report("wang-erm", entries, output, said.append)
    assert said == [figures.MISSING]
    assert "pip install 'diptych[plot]'" in said[0]
    assert ".png" not in page.read_text(encoding="utf-8")


def test_an_entry_without_values_says_so(tmp_path: Path, tiny: Experiment) -> None:
    assert "No values" in "\n".join(report.section(tiny, [], None))


def test_row_labels_and_lambdas(tiny: Experiment) -> None:
    assert row_label(tiny.series[0]) == "logistic, output, paper"
    assert lambdas([None]) == ""


def test_the_registry_refuses_unknown_names() -> None:
    assert [e.name for e in experiments_of("wang-erm", ["figure-3"])] == ["figure-3"]
    with pytest.raises(ValueError, match="paper must be one of wang-erm, xue"):
        experiments_of("other")
    with pytest.raises(ValueError, match="figure must be one of figure-1, figure-2"):
        experiments_of("wang-erm", ["figure-9"])
    assert set(registry.PAPERS) == set(registry.TITLES) == set(registry.FINDINGS) == set(registry.PROTOCOLS)


def test_wang_erm_is_as_the_paper_states() -> None:
    one, two, three = (e for e in experiments_of("wang-erm") if e.name.startswith("figure"))
    for entry in (one, two, three):
        assert entry.epsilons == (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
        assert entry.repeats == 60
        assert entry.tuning.epsilon == 0.1
        assert entry.tuning.folds == 10
        assert entry.tuning.grid == (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    assert [n.pure for n in one.notions + two.notions] == [True, False]
    assert two.notions[0].budget(0.1, 1000).delta == 1e-6
    assert {s.loss for s in three.series} == {"squared"}
