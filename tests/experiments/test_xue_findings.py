"""The sentences follow the values."""

from __future__ import annotations

import math
from itertools import product

import pytest

from diptych.experiments.points import Point
from diptych.experiments.series import APPROXIMATE_N, OURS
from diptych.experiments.xue_findings import findings
from tests.experiments.test_findings import about
from tests.experiments.test_points import point

NEAR = APPROXIMATE_N.name


def at(mean: float, line: str, epsilon: float = 1.0, **settings) -> Point:
    fixed = {"figure": "table-4", "dataset": "pima", "notion": NEAR, "size": "256", "adjacency": "replace"}
    return point(mean, 0.01, line=line, epsilon=epsilon, **(fixed | {"constants": "defended"} | settings))


@pytest.mark.parametrize(("mean", "word"), [(0.7, "passes"), (0.64, "does not pass")])
def test_ours_against_the_best_printed_figure(mean: float, word: str) -> None:
    points = [at(mean, OURS, epsilon, published=0.64) for epsilon in (0.5, 2.0)]
    (sentence,) = about(findings(points), "*table-4, pima, labels private*")
    assert f"ours {word} the best" in sentence
    assert f"**{2 if mean == 0.7 else 0} of 2**" in sentence


def test_printed_figures_out_of_reach_are_counted_in_standard_errors() -> None:
    points = [
        at(mean, "DPEGD", epsilon, constants="paper", published=0.64)
        for epsilon, mean in ((0.5, 0.54), (1.0, 0.63), (2.0, 0.7))
    ]
    points.append(at(0.61, "non-private, convex", math.inf, notion="none"))  # 0.63 at most
    points.append(at(0.7, "DPEGD", 0.8, constants="paper", published=0.65))
    sentences = findings(points)
    (sentence,) = about(sentences, "*table-4, DPEGD* with the published noise")
    assert "**1 of 4** cells, and is passed in 2" in sentence
    assert (
        "printed 0.640, measured 0.540 ± 0.010, 10.0 standard errors (pima, (ε, 1/n)-DP, ε = 0.5, n = 256)" in sentence
    )
    assert "In 1 of these cells even our lines without noise stay below" in sentence
    assert (
        f"In 1 of them the printed one rises less than half as much, printed against measured: "
        f"DPEGD, pima, {NEAR}: +0.000 against +0.160"
        in about(sentences, "With the published noise, the AUC of 1 of 1")[0]
    )


def test_metrics_are_held_against_the_euclidean_one() -> None:
    plain = at(0.7, "Euclidean", math.inf, figure="table-2", notion="none")
    open_ = at(0.75, "non-private, convex", math.inf, figure="table-2", notion="none", published=0.72)
    worse = at(0.6, "DPGDSC", figure="table-2", constants="paper")
    sentences = findings([plain, open_, worse, at(0.71, OURS, figure="table-2")])
    assert "pima: +0.050 on average, ahead in 1 of 1" in about(sentences, "Learned metrics without noise")[0]
    private = about(sentences, "Private metrics against the Euclidean one")
    assert "DPGDSC, paper constants: pima: -0.100 on average, ahead in 0 of 1, behind in 1" in private[0]
    assert "ours: pima: +0.010 on average" in private[1]
    assert "+0.030 against what is printed" in about(sentences, "*table-2, pima*: without noise")[0]


def test_claims_constants_and_labels() -> None:
    gains = {"OffPairC": 0.0, "DPEGD": 0.1, "DPGDC2": 0.05}
    points = [
        at(0.6 + gain + 0.02 * (c == "defended"), line, constants=c, adjacency=a)
        for (line, gain), (c, a) in product(
            gains.items(), (("paper", "replace"), ("defended", "replace"), ("defended", "replace-within-class"))
        )
    ]
    sentences = findings(points)
    assert "**holds**" in about(sentences, "*DPEGD outperforms OffPairC*")[0]
    assert "DPGDC2: +0.020 on average" in about(sentences, "Defended constants and schedules")[0]
    assert "OffPairC: +0.000 on average" in about(sentences, "Labels private")[0]


def test_the_printed_repetitions_are_named() -> None:
    (sentence,) = about(findings([at(0.7, OURS, figure="table-3")]), "The printed Table 3")
    assert "in 27 of 54 cells (at ε = 1, 1.5, 2)" in sentence


def test_nothing_measured_nothing_said() -> None:
    assert findings([]) == []
