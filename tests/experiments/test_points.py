from __future__ import annotations

import csv
from pathlib import Path

import pytest

from diptych.experiments.points import Comparison, Point, distinct, matched, select, summarise, write_points
from diptych.experiments.store import COLUMNS


def point(mean: float = 0.8, error: float = 0.01, **settings) -> Point:
    fixed = {
        "figure": "figure-1",
        "dataset": "ijcnn1",
        "scaling": "public",
        "adjacency": "replace-within-class",
        "notion": "ε-DP",
        "loss": "logistic",
        "algorithm": "output-perturbation",
        "constants": "paper",
        "radius": "",
        "rule": "public",
        "epsilon": 0.1,
        "regularization": 0.1,
        "repeats": 60,
    }
    return Point(**(fixed | settings), mean=mean, error=error)


def rows(values: dict[str, list[float]], note: str = "") -> list[dict[str, str]]:
    fixed = dict.fromkeys(COLUMNS, "x") | {"epsilon": "0.5", "lambda": "0.1", "note": note}
    return [fixed | {"split": split, "score": str(v)} for split, aucs in values.items() for v in aucs]


def test_errors_are_over_repeats_or_over_the_means_of_splits() -> None:
    (one,) = summarise(rows({"a": [0.7, 0.8, 0.9]}))
    assert (one.mean, one.error, one.repeats) == pytest.approx((0.8, 0.1 / 3**0.5, 3))
    (two,) = summarise(rows({"a": [0.7, 0.9], "b": [0.9, 0.9]}))
    assert (two.mean, two.error) == pytest.approx((0.85, 0.05))
    (single,) = summarise(rows({"a": [0.7]}))
    assert single.error == 0.0
    assert single.text == "0.700 ± 0.000"


def test_notes_make_points_without_values_which_nothing_selects() -> None:
    (noted,) = summarise(rows({"a": [0.0]}, note="refused"))
    assert noted.text == "not covered"
    assert select([noted]) == []


def test_comparisons_count_what_two_standard_errors_tell_apart() -> None:
    new = [point(0.9, epsilon=e, constants="defended") for e in (0.1, 0.2)] + [
        point(0.5, epsilon=0.3, constants="defended")
    ]
    old = [point(0.8, epsilon=0.1), point(0.89, epsilon=0.2), point(0.6, epsilon=0.3), point(0.1, epsilon=0.4)]
    whole = Comparison(tuple(matched(new + old, "constants", "defended", "paper")))
    assert (len(whole.pairs), whole.ahead, whole.behind) == (3, 1, 1)
    assert whole.gain == pytest.approx(0.01 / 3)
    assert whole.widest[0].epsilon == 0.1
    assert whole.worst[0].epsilon == 0.3
    assert whole.of(epsilon=0.2).ahead == 0
    assert list(whole.by("epsilon")) == ["0.1", "0.2", "0.3"]
    assert whole.text == "+0.003 on average, ahead in 1 of 3, behind in 1"


def test_points_of_several_figures_count_once() -> None:
    assert len(distinct([point(), point(figure="figure-2"), point(epsilon=0.2)])) == 2


def test_points_are_written_as_csv(tmp_path: Path) -> None:
    write_points([point(0.123456789)], tmp_path / "summary.csv")
    (line,) = csv.DictReader((tmp_path / "summary.csv").read_text(encoding="utf-8").splitlines())
    assert (line["dataset"], line["mean"], line["notion"]) == ("ijcnn1", "0.123457", "ε-DP")
