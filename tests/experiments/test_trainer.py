from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diptych.algorithms import ObjectivePerturbation, OutputPerturbation
from diptych.experiments import experiments_of
from diptych.experiments.protocol import (
    APPROXIMATE,
    CROSS_VALIDATED,
    EXACT,
    NOTIONS,
    OBJECTIVE,
    OUTPUT,
    PUBLIC,
    PURE,
    Cell,
    Rule,
    Series,
    Tuning,
)
from diptych.experiments.readers import find_sources
from diptych.experiments.trainer import Trainer
from diptych.experiments.workbench import Workbench, auc
from diptych.noise import bit_source
from diptych.risks import minimise
from diptych.spec import Budget

TUNING = Tuning(epsilon=50.0, folds=3, grid=(0.01, 1.0))


@pytest.fixture
def trainer(folder: Path) -> Trainer:
    return Trainer(Workbench(find_sources(folder, ["ijcnn1"])["ijcnn1"], "public"))


def cell(series: Series, epsilon: float = 2.0, rule: Rule = PUBLIC, notion=APPROXIMATE) -> Cell:
    return Cell("ijcnn1", "public", series, notion, epsilon, rule, 4, TUNING)


@pytest.mark.parametrize("notion", NOTIONS.values(), ids=lambda notion: notion.name)
@pytest.mark.parametrize("constants", ["defended", "paper"])
@pytest.mark.parametrize(("name", "algorithm"), [(OUTPUT, OutputPerturbation()), (OBJECTIVE, ObjectivePerturbation())])
def test_models_are_those_that_the_algorithm_releases(trainer: Trainer, name, algorithm, constants, notion) -> None:
    series, split = Series(name, "logistic", constants), trainer.bench.split(0)
    budget = notion.budget(2.0, split.train.n)
    for seed in (1, 2):  # the second from a kept minimiser
        release = algorithm.run(series.risk(0.1), split.train, budget, bit_source(seed), constants)
        np.testing.assert_array_equal(trainer.fit(series, split, 0.1, budget, bit_source(seed)), release.coef)


def test_a_cell_holds_one_auc_a_repeat_and_the_public_lambda(trainer: Trainer) -> None:
    outcome = trainer.run(cell(Series(OUTPUT, "logistic")))
    assert len(outcome.scores) == len(outcome.splits) == 4
    assert len(set(outcome.scores)) > 1
    assert trainer.run(cell(Series(OUTPUT, "logistic"))) == outcome
    assert outcome.regularization > 0
    fixed = trainer.run(cell(Series(OUTPUT, "logistic"), rule=Rule("fixed", 0.5)))
    assert fixed.regularization == 0.5


def test_without_privacy_one_fit_a_split_gives_the_optimum(trainer: Trainer) -> None:
    outcome = trainer.run(cell(Series(EXACT, "squared"), math.inf, Rule("fixed", 0.1), PURE))
    split = trainer.bench.split(0)
    w = minimise(Series(EXACT, "squared").risk(0.1), split.train, 1e-10).w
    assert outcome.scores == pytest.approx([auc(split.test.scores(w), split.test.positive)], abs=1e-4)


def test_what_an_algorithm_refuses_becomes_a_note(trainer: Trainer) -> None:
    outcome = trainer.run(cell(Series(OBJECTIVE, "squared", "paper"), rule=Rule("fixed", 0.1)))
    assert outcome.scores == ()
    assert "needs the paper's own loss" in outcome.note
    assert trainer.run(cell(Series(OBJECTIVE, "squared", radius=0.5))).note == ""


def test_cross_validation_takes_the_lambda_of_the_best_mean_auc(trainer: Trainer) -> None:
    series = Series(EXACT, "logistic")
    tuned = cell(series, math.inf, CROSS_VALIDATED, PURE)
    scores = {}
    for lam in TUNING.grid:
        folds = trainer.bench.folds(TUNING.folds)
        means = [
            auc(f.test.scores(trainer.fit(series, f, lam, Budget(math.inf), bit_source(0))), f.test.positive)
            for f in folds
        ]
        scores[lam] = float(np.mean(means))
    assert trainer.tune(tuned) == max(sorted(scores, reverse=True), key=lambda lam: scores[lam])
    with pytest.raises(RuntimeError, match="needs the lambda that was chosen"):
        trainer.run(tuned)
    assert trainer.run(tuned, 0.25).regularization == 0.25


def test_cross_validation_never_takes_a_lambda_that_is_refused(trainer: Trainer) -> None:
    impossible = replace(TUNING, grid=(1e-12, 0.1))  # below what a risk accepts
    tuned = replace(cell(Series(OUTPUT, "logistic"), rule=CROSS_VALIDATED), tuning=impossible)
    assert trainer.tune(tuned) == 0.1


def test_seeds_differ_by_setting_and_repeat_but_not_by_the_number_of_repeats() -> None:
    one = cell(Series(OUTPUT, "logistic"))
    seeds = {one.seed(k) for k in range(50)} | {replace(one, epsilon=3.0).seed(0), replace(one, rule=Rule("x")).seed(0)}
    assert len(seeds) == 52
    assert replace(one, repeats=60).seed(3) == one.seed(3)


def test_seeds_of_the_entries_of_wang_et_al_never_change() -> None:
    cells = list(experiments_of("wang-erm", ["figure-3"])[0].cells("pima"))
    assert [cells[k].seed(0) for k in (0, 4, -1)] == [48697328397547626, 5211048781252343, 62695951912118588]


def test_seeds_follow_settings_that_repr_leaves_out() -> None:
    one = cell(Series(OUTPUT, "logistic"))
    others = [replace(one, size=64), replace(one, series=replace(one.series, how=OutputPerturbation()))]
    assert len({c.seed(0) for c in (one, *others)}) == len({c.fingerprint() for c in (one, *others)}) == 3
