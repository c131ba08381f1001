"""The reproduction of Yang et al.: its simulations at their smallest, its entries, its page on tiny tables."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diptych import Adjacency, Hinge, Logistic
from diptych.algorithms.descent import Schedule
from diptych.experiments import experiments_of, run_experiments, write_report
from diptych.experiments.protocol import Experiment
from diptych.experiments.simulated import Population
from diptych.experiments.simulation import Simulation
from diptych.experiments.slopes import Mean
from diptych.experiments.yang import CORRECTED, OPEN, PRINTED, REALISED
from diptych.experiments.yang_findings import findings, simulated_findings
from diptych.experiments.yang_simulated import theorem_1
from diptych.risks import MetricRisk, RankingRisk, minimise_projected
from diptych.sets import L2Ball, PSDTraceBall
from tests.experiments.conftest import save
from tests.experiments.test_points import point

ENTRIES = {e.name: e for e in experiments_of("yang")}
SIMULATIONS = [e for e in ENTRIES.values() if isinstance(e, Simulation)]
TABLES = [e for e in ENTRIES.values() if isinstance(e, Experiment)]


def test_entries_cover_what_the_paper_proves() -> None:
    assert [e.name for e in SIMULATIONS] == ["stability", "excess-risk", "noise", "complexity", "nuclear-frobenius"]
    claimed = {line.name: line.slope for line in ENTRIES["excess-risk"].lines}
    assert claimed["Algorithm 1"] == claimed["Algorithm 2, realised"] == -0.5
    assert claimed["Algorithm 1, no radius"] == pytest.approx(-1 / 3)
    for entry in TABLES:
        assert {s.loss for s in entry.series} == {"hinge"}
        published = [s for s in entry.series if s.constants == "paper" and s.private]
        assert {s.adjacency for s in published} <= {Adjacency.REPLACE}
        assert {s.regularization for s in entry.series} == {0.0}
    for algorithm in ("sgd-output", "dp-sgd"):
        lines = [s for s in ENTRIES["metrics"].series if s.algorithm == algorithm]
        assert {s.constraint for s in lines} == {"trace", "frobenius"}


@pytest.mark.parametrize("entry", SIMULATIONS, ids=lambda e: e.name)
def test_every_simulation_measures_its_lines_from_a_seed(entry) -> None:
    place = entry.places[0]
    one, again, other = (entry.measure(place, seed) for seed in (1, 1, 2))
    assert set(one) == {line.name for line in entry.lines}
    assert one == again
    assert one != other
    assert all(math.isfinite(value) and value >= 0.0 for value in one.values())


def test_nothing_measured_exceeds_the_realised_bound() -> None:
    for seed in range(3):
        values = ENTRIES["stability"].measure(800, seed)
        for name in ("hinge", "smoothed-hinge"):
            assert 0.0 < values[f"{name}, measured"] <= values[f"{name}, realised bound"]
        assert values["hinge, realised bound"] < values["Theorem 1 (hinge)"]


def test_theorem_1_by_hand() -> None:
    t, n, rare = 300, 40, math.log(20)
    inner = t + math.log(math.e * t) ** 2 * (t / n + rare + math.sqrt(t * rare / n)) ** 2
    assert theorem_1(Schedule(t, 0.01), 2.0, n, 0.05) ** 2 == pytest.approx(4 * math.e * 0.01**2 * 4 * inner)


@pytest.mark.parametrize("risk", [RankingRisk(Hinge(), 0.0, L2Ball(1.0)), MetricRisk(Hinge(), 0.0, PSDTraceBall(1.0))])
def test_the_excess_risk_of_a_population_is_known(risk) -> None:
    """Nowhere below 0 by more than the kink's width, and what the risks of all its records differ by."""
    population, rng = Population(200, 3, apart=0.8, spread=0.5), np.random.default_rng(0)
    table = population.table(risk)
    smooth = replace(risk, loss=Logistic(1.0, 0.5))
    best = minimise_projected(smooth, population.table(smooth), 1e-6).w
    assert population.excess(smooth, best) <= 1e-8
    values = []
    for _ in range(50):
        w = risk.constraint.project(rng.normal(size=risk.dimension(3)))
        values.append(population.excess(risk, w))
        other = risk.constraint.project(rng.normal(size=risk.dimension(3)))
        gap = population.excess(risk, w) - population.excess(risk, other)
        assert gap == pytest.approx(risk.value(w, table) - risk.value(other, table), abs=1e-12)
    assert min(values) > 0.0
    assert np.linalg.norm(table.X, axis=1).max() <= 1.0 + 1e-12


def test_tables_are_independent_draws() -> None:
    population = Population(50, 2, apart=1.0, spread=0.5)
    risk = RankingRisk(Hinge())
    drawn = population.draw(risk, 1000, np.random.default_rng(0))
    rows = {tuple(row) for row in population.table(risk).X}
    assert {tuple(row) for row in drawn.X} <= rows
    assert drawn.n == 1000
    assert abs(drawn.positives - 500) < 100


def test_findings_are_computed() -> None:
    where = {"figure": "auc", "dataset": "pima", "size": "512", "epsilon": 1.0, "adjacency": "replace"}
    points = [
        replace(point(**where, line=PRINTED, constants="paper"), mean=0.5, error=0.01),
        replace(point(**where, line=CORRECTED, constants="paper"), mean=0.6, error=0.01),
        replace(point(**where, line=REALISED, constants="defended"), mean=0.8, error=0.01),
        replace(point(**{**where, "epsilon": math.inf}, line=OPEN, constants="paper"), mean=0.85, error=0.01),
    ]
    text = "\n".join(findings(points))
    assert "against *Algorithm 2 as printed*, labels private: +0.300 on average, ahead in 1 of 1" in text
    assert "against *Algorithm 2 corrected*, labels private: +0.200 on average" in text
    assert "ε = 1: against the same descent without noise -0.050 on average, ahead in 0 of 1, behind in 1" in text
    assert findings([]) == []


def test_simulated_findings_say_so_when_a_bound_is_broken() -> None:
    entry = ENTRIES["stability"]
    means = {line.name: [Mean(200, 1.0, 0.1)] for line in entry.lines}
    assert "by 1 of the realised bound, never more" in simulated_findings([(entry, means)])[0]
    means["hinge, measured"] = [Mean(200, 2.0, 0.1)]
    assert "MORE THAN THE BOUND" in simulated_findings([(entry, means)])[0]
    norms = ENTRIES["nuclear-frobenius"]
    means = {line.name: [Mean(3, 1.0 + ("Frobenius" in line.name), 0.1)] for line in norms.lines}
    text = simulated_findings([(norms, means)])
    assert (
        "Algorithm 1*: the nuclear norm has the lower excess risk at 1 of 1 dimensions and the higher one at 0"
        in text[0]
    )


def test_a_small_run_from_end_to_end(folder: Path, tmp_path: Path) -> None:
    save(folder / "diabetic_retinopathy.npz", 140, 5)
    entries = [
        replace(ENTRIES["noise"], places=(20, 40), repeats=1),
        replace(ENTRIES["auc"], sizes=(48,), epsilons=(1.0,), repeats=2, datasets=("pima",)),
        replace(ENTRIES["metrics"], sizes=(32,), epsilons=(1.0,), repeats=2, datasets=("diabetic_retinopathy",)),
        replace(ENTRIES["pure"], sizes=(48,), epsilons=(1.0,), repeats=2, datasets=("pima",)),
    ]
    done = run_experiments(entries, folder, tmp_path / "out", jobs=1)
    page = write_report("yang", done, tmp_path / "out").read_text(encoding="utf-8")
    assert "not covered:" not in page
    assert "| Algorithm 2 as printed, paper | 0 |" in page
    assert "| Algorithm 2, Frobenius norm, defended | 0 |" in page
    assert "equation (5) as printed asks for" in page
    for algorithm in ("sgd-output", "dp-sgd"):
        assert f"*metrics*, `{algorithm}`: nuclear against Frobenius norm:" in page
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cells.csv",
        "means.csv",
        "noise.png",
        "simulations.csv",
        "summary.csv",
        "yang.md",
    }
