"""Simulations: seeds, values on disk, slopes, sections of a report."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diptych.experiments import figures, registry, run_experiments, write_report
from diptych.experiments.simulation import Line, Simulation
from diptych.experiments.simulation_report import slopes_against_claims
from diptych.experiments.simulator import COLUMNS, VALUES, Place, measure, read_values
from diptych.experiments.slopes import Mean, means_of, slope_of


def falling(place: float, seed: int) -> Mapping[str, float]:
    """Values that follow n^-1/2 and n^-1, the first with some noise."""
    rng = np.random.default_rng(seed)
    return {"slow": place**-0.5 * (1 + 0.05 * rng.normal()), "fast": 1 / place}


TINY = Simulation(
    name="tiny-simulation",
    title="A tiny simulation",
    source="nowhere",
    axis="n",
    places=(10, 100, 1000),
    quantity="distance",
    lines=(Line("slow", slope=-0.5), Line("fast", slope=-0.5, bound=True)),
    measure=falling,
    setting="It is made up",
    repeats=4,
    uncovered=("the moon: too far",),
)


@pytest.fixture
def done(tmp_path: Path) -> Path:
    run_experiments([TINY], tmp_path / "no data", tmp_path / "out", jobs=1)
    return tmp_path / "out"


def test_values_do_not_depend_on_workers_and_are_not_measured_again(done: Path, tmp_path: Path) -> None:
    run_experiments([TINY], tmp_path, tmp_path / "two", jobs=2)
    one, two = (sorted((folder / VALUES).read_text().splitlines()) for folder in (done, tmp_path / "two"))
    assert one == two
    assert len(one) == 1 + 3 * 2 * 4
    seen: list[tuple[str, int]] = []
    run_experiments([TINY], tmp_path, done, jobs=1, watch=lambda *what: (seen.append(what), lambda: None)[1])
    assert seen == [("simulating", 0)]
    assert sorted((done / VALUES).read_text().splitlines()) == one


def test_changed_settings_are_measured_again_and_an_interruption_is_repaired(done: Path, tmp_path: Path) -> None:
    with (done / VALUES).open("a") as file:
        file.write("tiny-simulation,slow,10,")
    run_experiments([replace(TINY, repeats=2)], tmp_path, done, jobs=1)
    rows = read_values(done / VALUES)
    assert len(rows) == 3 * 2 * 2
    assert {row["repeats"] for row in rows} == {"2"}
    assert set(rows[0]) == set(COLUMNS)


def test_seeds_are_of_the_entry_the_place_and_the_number() -> None:
    seeds = {entry.seed(place, k) for entry in (TINY, replace(TINY, name="other")) for place in (1, 2) for k in (0, 1)}
    assert len(seeds) == 8
    assert TINY.seed(1, 0) == replace(TINY, repeats=9).seed(1, 0)


def test_a_line_without_values_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"measures \['fast', 'slow'\], and its lines are \['slow'\]"):
        measure(Place(replace(TINY, lines=TINY.lines[:1]), 10))


def test_slopes_and_their_errors() -> None:
    means = [Mean(10, 2.0, 0.0), Mean(100, 20.0, 0.0), Mean(1000, 200.0, 0.0)]
    assert slope_of(means).value == pytest.approx(1.0)
    assert slope_of(means).error == 0.0
    off = slope_of([Mean(1, 1.0, 0.1), Mean(np.e, 1.0, 0.1)])
    assert off.error == pytest.approx(0.1 * 2**0.5)
    assert slope_of(means[:1]) is None
    assert slope_of([Mean(1, 1.0, 0.1), Mean(2, 0.0, 0.0)]) is None


def test_what_is_not_a_number_has_no_mean() -> None:
    values = (("10", "2"), ("10", "nan"), ("100", "nan"))
    rows = [{"figure": TINY.name, "line": "slow", "place": place, "value": value} for place, value in values]
    assert means_of(TINY, rows) == {"slow": [Mean(10, 2.0, 0.0)]}


def test_verdicts(done: Path) -> None:
    """One follows its claim; one falls faster; turned round, one is steeper and one flatter than claimed."""
    means = means_of(TINY, read_values(done / VALUES))
    slow, fast = slopes_against_claims(TINY, means)
    assert "claimed n^(-0.50) up to logarithms: **as claimed**" in slow
    assert "n^(-1.00 ± 0.00)" in fast
    assert "**faster**" in fast
    other = replace(TINY, lines=(Line("slow", slope=-1.0), Line("fast", slope=0.5)))
    assert [sentence.split("**")[1] for sentence in slopes_against_claims(other, means)] == [
        "slower",
        "flatter than claimed",
    ]
    assert list(slopes_against_claims(replace(TINY, lines=(Line("slow"),)), means)) == []


def test_the_page(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.PAPERS, "yang", (TINY,))
    page = write_report("yang", [TINY], done).read_text(encoding="utf-8")
    assert "## tiny-simulation: A tiny simulation" in page
    assert "![A tiny simulation](tiny-simulation.png)" in page
    assert re.search(r"\| slow \|( 0\.\d+ ± 0\.\d+ \|){3} -0\.\d\d ± 0\.\d\d \(-0\.50\) \|", page)
    assert "| fast | 0.1 ± 0 | 0.01 ± 0 | 0.001 ± 0 | -1.00 ± 0.00 (-0.50) |" in page
    assert "Not covered: the moon: too far." in page
    assert "On data sets" not in page
    assert 1_000 < (done / "tiny-simulation.png").stat().st_size < 200_000
    assert not (done / "summary.csv").exists()


def test_without_matplotlib_the_rest_is_written_and_said(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    said: list[str] = []
    page = write_report("yang", [TINY], done, said.append).read_text(encoding="utf-8")
    assert said == [figures.MISSING]
    assert ".png" not in page


def test_values_are_plain(done: Path) -> None:
    with (done / VALUES).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["place"] for row in rows} == {"10", "100", "1000"}
    assert {float(row["value"]) for row in rows if row["line"] == "fast"} == {0.1, 0.01, 0.001}
