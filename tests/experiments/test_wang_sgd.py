"""The reproduction of Wang, Lei, Ying and Zhou: problems, lines, what they measure, what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diptych import Adjacency, Budget
from diptych.algorithms.paper_dp_sgd import published_scale
from diptych.experiments import experiments_of, run_experiments, write_report
from diptych.experiments.simulated_linear import CLASSES, NUMBERS, POPULATION, Problem
from diptych.experiments.slopes import Mean
from diptych.experiments.wang_sgd_findings import findings
from diptych.experiments.wang_sgd_simulated import (
    ACCOUNTANT,
    BATCHES,
    FIGURES,
    KINDS,
    OPEN,
    PAIRS_IN_N,
    POINTS_IN_N,
    PUBLISHED,
    RECORDS,
    STEP,
    STEPS,
    label,
    plan_of,
    published,
)
from diptych.noise import SeededBits
from diptych.risks import PairTable, PointRisk, RankingRisk
from diptych.spec import TableSize

ENTRIES = {e.name: e for e in experiments_of("wang-sgd")}
PROBLEMS = [problem for group in FIGURES.values() for problem in group]
IN_N = [*POINTS_IN_N.values(), *PAIRS_IN_N.values()]


def test_entries_are_the_papers_figures_the_same_for_pairs_and_its_theorems() -> None:
    assert list(ENTRIES) == [
        "figure-1",
        "figure-2",
        "pairs-squared",
        "pairs-logistic",
        "noise",
        "excess-points",
        "excess-pairs",
    ]
    assert ENTRIES["figure-1"].places == tuple(np.arange(0.5, 6.0, 0.5))
    assert ENTRIES["figure-2"].places == tuple(np.arange(1.5, 6.5, 0.5))
    assert {ENTRIES[name].repeats for name in FIGURES} == {500}
    for name, group in FIGURES.items():
        assert {line.name for line in ENTRIES[name].lines} == {label(k, p.kappa) for k in KINDS for p in group}
        assert not ENTRIES[name].powers
    claimed = {line.name: line.slope for line in ENTRIES["excess-pairs"].lines}
    assert claimed[f"low noise, {ACCOUNTANT}"] == -1.0
    assert claimed[f"noisy, {ACCOUNTANT}"] == -0.5
    assert claimed[f"low noise, {BATCHES}"] is None


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda e: e.name)
def test_every_simulation_measures_its_lines_from_a_seed(entry) -> None:
    place = entry.places[0]
    one, again, other = (entry.measure(place, seed) for seed in (1, 1, 2))
    assert set(one) == {line.name for line in entry.lines}
    assert list(map(repr, one.values())) == list(map(repr, again.values()))
    assert (entry.name == "noise") == (repr(one) == repr(other))
    assert all(math.isnan(value) or 0.0 <= value < 20.0 for value in one.values())
    missing = {name.split(",")[0] for name, value in one.items() if math.isnan(value)}
    assert missing <= {PUBLISHED}
    assert bool(missing) == (entry.name in ("pairs-squared", "noise"))


# --- what is learned


@pytest.mark.parametrize("problem", [*PROBLEMS, *IN_N], ids=lambda p: f"{p.risk.loss.name}-{p.kappa}")
def test_populations_are_those_of_the_paper(problem) -> None:
    table = problem.table()
    assert table.n == POPULATION
    assert np.linalg.norm(table.X, axis=1) == pytest.approx(1.0)
    assert np.linalg.norm(table.X, axis=1).max() <= 1.0
    if isinstance(problem.risk, PointRisk) and problem.risk.loss.residual:
        assert np.abs(table.y).max() <= 0.5
        assert np.std(table.y - table.X @ NUMBERS) == pytest.approx(problem.kappa, rel=0.06, abs=1e-12)
        return
    positive = table.positive if isinstance(table, PairTable) else table.y > 0
    scores = table.X @ CLASSES
    assert np.abs(scores).min() >= problem.gap * np.linalg.norm(CLASSES)
    wrong = (scores > 0) != positive
    expected = np.array([0.5 * math.erfc(abs(s) / problem.kappa / 2**0.5) if problem.kappa else 0.0 for s in scores])
    assert wrong.sum() == pytest.approx(expected.sum(), abs=6.0 * math.sqrt(expected.sum()))


def test_without_label_noise_a_model_of_no_error_and_in_n_of_no_risk_exists() -> None:
    for problem in PROBLEMS:
        assert (problem.floor() < 1e-9) == (problem.kappa == 0.0)
    for group in (POINTS_IN_N, PAIRS_IN_N):
        least = {name: p.risk.value(np.zeros(10), p.table()) - p.excess(np.zeros(10)) for name, p in group.items()}
        assert least["low noise"] == pytest.approx(0.0, abs=1e-9)
        assert least["noisy"] > 0.01


@pytest.mark.parametrize("problem", IN_N, ids=lambda p: f"{p.risk.loss.name}-{p.kappa}")
def test_nothing_is_below_the_least_risk(problem) -> None:
    rng, table = np.random.default_rng(0), problem.table()
    values = []
    for _ in range(30):
        one, other = (problem.risk.constraint.project(rng.normal(size=10)) for _ in range(2))
        gap = problem.excess(one) - problem.excess(other)
        assert gap == pytest.approx(problem.risk.value(one, table) - problem.risk.value(other, table), abs=1e-12)
        values.append(problem.excess(one))
    assert min(values) > 0.0


def test_errors_by_hand() -> None:
    numbers, classes, pairs = PROBLEMS[0], PROBLEMS[4], PROBLEMS[-1]
    w = np.linspace(-1.0, 1.0, 10)
    table = numbers.table()
    assert numbers.error(w) == pytest.approx(np.mean([(y - x @ w) ** 2 for x, y in zip(table.X, table.y, strict=True)]))
    table = classes.table()
    assert classes.error(w) == np.mean(
        [y != (1.0 if x @ w > 0 else -1.0) for x, y in zip(table.X, table.y, strict=True)]
    )
    table = pairs.table()
    ups, downs = table.X[table.positive] @ w, table.X[~table.positive] @ w
    assert pairs.error(w) == pytest.approx(np.mean(ups[:, None] < downs))


def test_tables_are_fresh_draws() -> None:
    problem, rng = PROBLEMS[0], np.random.default_rng(0)
    one, other = problem.draw(50, rng), problem.draw(50, rng)
    rows = {tuple(row) for row in problem.table().X}
    assert {tuple(row) for row in one.X} <= rows
    assert not np.array_equal(one.X, other.X)


# --- how


@pytest.mark.parametrize(
    "problem", [PROBLEMS[0], PROBLEMS[3], PROBLEMS[6], PROBLEMS[9]], ids=lambda p: p.risk.loss.name
)
def test_plans_are_the_papers_and_ours(problem) -> None:
    """A point or pair a step of 0.01 in the paper's unit, sigma by its closed form; the same steps with less noise."""
    how = published(problem.risk, STEPS, STEP)
    old, new, free = (
        plan_of(problem.risk, how, RECORDS, *rest)
        for rest in ((2.0, "paper"), (2.0, "defended"), (math.inf, "defended"))
    )
    records = 1 if isinstance(problem.risk, PointRisk) else 2
    steepest = old.risk.certificate(TableSize(RECORDS), tilt=math.inf).pair_lipschitz * old.batches.mass
    scale = published_scale(records, STEPS, RECORDS, Budget(2.0, RECORDS**-2.0))
    assert old.noise.scale == pytest.approx(scale * steepest)
    assert new.noise.scale < old.noise.scale
    assert free.noise is None
    assert old.risk.adjacency is Adjacency.REPLACE
    for plan in (old, new, free):
        assert (plan.steps, plan.batches.size, plan.batches.sampling) == (STEPS, records, "uniform")
        assert plan.step_size * plan.batches.mass == pytest.approx(STEP)
    assert plan_of(problem.risk, how, RECORDS, 0.5, "paper") is None or records == 1


def test_a_published_step_follows_one_pair() -> None:
    """Two records of different class, without noise: 0.01 times the gradient of their loss."""
    problem = PROBLEMS[9]
    assert isinstance(problem.risk, RankingRisk)
    how = replace(published(problem.risk, 1, STEP), average="last")
    X = np.zeros((RECORDS, 10))
    X[0, 0] = 1.0
    table = PairTable(X, np.arange(RECORDS) % 2 == 0)
    plan = plan_of(problem.risk, how, RECORDS, math.inf, "defended")
    moves = {round(float(how.result(plan, table, SeededBits(k))[0]), 12) for k in range(9000)}
    assert moves == {0.0, 0.005}  # the slope at 0 is 1/2


def test_no_beta_is_no_value() -> None:
    assert (
        plan_of(
            FIGURES["pairs-logistic"][0].risk,
            published(FIGURES["pairs-logistic"][0].risk, STEPS, STEP),
            RECORDS,
            0.5,
            "paper",
        )
        is None
    )


# --- what is said


def flat(name: str, values: dict[str, tuple[float, float]]) -> list[str]:
    entry = ENTRIES[name]
    ends = (entry.places[0], entry.places[-1])
    means = {line: [Mean(p, v, 0.001) for p, v in zip(ends, pair, strict=True)] for line, pair in values.items()}
    return findings([(entry, means)])


def test_findings_of_label_noise_and_of_growing_epsilon() -> None:
    values = {label(OPEN, k): (0.1, 0.1) for k in (0.0, 0.4)}
    values |= {label(ACCOUNTANT, 0.0): (0.3, 0.2), label(ACCOUNTANT, 0.4): (0.3, 0.3)}
    values |= {label(PUBLISHED, 0.0): (0.4, 0.4), label(BATCHES, 0.0): (0.3, 0.1)}
    text = "\n".join(flat("figure-2", values))
    assert (
        "*figure-2, accountant's noise*: misclassification rate without label noise: than at κ = 0.4 lower at 1 of 2, "
        "higher at 0 (beyond the best model lower at 1 of 2, higher at 1)." in text
    )
    assert "κ = 0 from 0.2 to 0.1, **nearer**; κ = 0.4 from 0.2 to 0.2, **not nearer**" in text
    assert (
        "mini-batches*: distance above the line without noise, from the least to the largest ε: κ = 0 from 0.2 to 0"
        in text
    )
    assert "**reaches it**" in text
    assert "accountant's noise against the paper's: κ = 0 lower at 2 of 2, higher at 0" in text
    assert "mini-batches by default against one a step without noise: κ = 0 lower at 0 of 2, higher at 1" in text


def test_findings_of_noise_and_excess() -> None:
    text = "\n".join(flat("noise", {f"{PUBLISHED}, points": (8.0, 2.0), f"{ACCOUNTANT}, points": (1.0, 1.0)}))
    assert (
        "the paper asks for 2 to 8 times the noise that is enough; at 4 of 6 ε the paper has no noise to offer" in text
    )
    values = {f"low noise, {OPEN}": (0.4, 0.4 / 32), f"noisy, {OPEN}": (0.3, 0.3)}
    text = "\n".join(flat("excess-points", values))
    assert "claimed n^(-1.00) up to logarithms: **as claimed**" in text
    assert "claimed n^(-0.50) up to logarithms: **slower**" in text
    assert "*excess-points, no noise*: excess risk with low noise against noisy: lower at 1 of 2, higher at 1." in text
    assert findings([]) == []


def test_a_small_run_from_end_to_end(tmp_path: Path) -> None:
    small = {"figure-1": (1.0, 5.5), "pairs-logistic": (0.5,), "noise": (0.5, 2.0), "excess-points": (500, 1000)}
    entries = [replace(ENTRIES[name], places=places, repeats=2) for name, places in small.items()]
    done = run_experiments(entries, None, tmp_path, jobs=1)
    page = write_report("wang-sgd", done, tmp_path).read_text(encoding="utf-8")
    assert "diptych reproduce wang-sgd --output FOLDER" in page
    assert "| mean square error | ε = 1 | ε = 5.5 |\n" in page
    assert "| excess risk | n = 500 | n = 1000 | slope |\n" in page
    assert f"| {PUBLISHED}, κ = 0 |" in page.split("## pairs-logistic")[0]
    assert f"| {PUBLISHED}, κ = 0 |" not in page.split("## pairs-logistic")[1].split("## noise")[0]
    assert "Mean ± standard error over 2 repeats.\n" in page
    assert {path.name for path in tmp_path.iterdir()} == {
        "excess-points.png",
        "figure-1.png",
        "means.csv",
        "noise.png",
        "pairs-logistic.png",
        "simulations.csv",
        "wang-sgd.md",
    }
    lines = (tmp_path / "means.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 12 + 9 + (2 * 4 - 1) + 2 * 8


def test_data_sets_are_asked_for_where_there_are_some(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="data is missing: these entries run on data sets"):
        run_experiments(experiments_of("yang"), None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_problems_are_frozen_facts() -> None:
    assert hash(PROBLEMS[0]) == hash(Problem(PROBLEMS[0].risk, 0.0))
