"""The sentences follow the values: the same makers say the opposite of opposite values."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from diptych.experiments.points import Point
from diptych.experiments.wang_erm_findings import findings
from tests.experiments.test_points import point

NOTIONS = ("ε-DP", "(ε, 1/n²)-DP")


def grid(objective: float, defended: float, shifted: float = 0.05) -> list[Point]:
    """Means 0.7 + epsilon, plus these gains."""
    points = []
    for notion, rule, epsilon in product(NOTIONS, ("public", "cross-validated"), (0.1, 0.2, 0.5)):
        figure = "figure-1" if notion == NOTIONS[0] else "figure-2"
        for algorithm, constants in product(("output", "objective"), ("paper", "defended")):
            mean = 0.6 + epsilon / 2 + objective * (algorithm == "objective") + defended * (constants == "defended")
            fixed = {"notion": notion, "rule": rule, "epsilon": epsilon, "constants": constants}
            base = point(mean, 0.001, figure=figure, algorithm=f"{algorithm}-perturbation", **fixed)
            points.append(base)
            if constants == "defended":
                points.append(replace(base, loss="shifted-logistic", mean=mean + shifted))
            if algorithm == "output":
                points.append(replace(base, figure="figure-3", loss="squared", mean=mean - 0.05))
    return points


def about(sentences: list[str], start: str) -> list[str]:
    found = [s for s in sentences if s.startswith(start)]
    assert found, start
    return found


@pytest.mark.parametrize(
    ("gain", "verdict"), [(0.1, "**holds**"), (-0.1, "**does not hold**"), (0.0, "**cannot be told")]
)
def test_objective_against_output(gain: float, verdict: str) -> None:
    for sentence in about(findings(grid(gain, 0.1)), "*Objective perturbation outperforms"):
        assert verdict in sentence
        assert f"{gain:+.3f} on average" in sentence


def test_the_target_is_judged_by_the_values() -> None:
    low, high = findings(grid(0.0, 0.0)), findings(grid(0.3, 0.0))
    assert all("**does not hold**" in s for s in about(low, "*ijcnn1, logistic loss"))
    assert all("**holds**" in s for s in about(high, "*ijcnn1, logistic loss"))
    assert "never (best 0.850 at ε = 0.5)" in about(low, "*ijcnn1, logistic loss")[0]
    assert "objective, ε-DP: from ε = 0.1" in about(high, "*ijcnn1, logistic loss")[0]
    assert "does not pass" in about(low, "ijcnn1, shifted logistic")[0]
    assert "passes 0.9 below" in about(high, "ijcnn1, shifted logistic")[0]


def test_constants_losses_and_monotonicity_are_reported_with_their_numbers() -> None:
    sentences = findings(grid(0.0, 0.07))
    for sentence in about(sentences, "Defended against the paper's constants"):
        assert "+0.070 on average, ahead in 6 of 6, behind in 0 (+0.070 at ε = 0.1, +0.070 at ε = 0.5)" in sentence
    assert all("**holds**" in s for s in about(sentences, "*Output perturbation does worse with least squares"))
    assert "0 go down" in about(sentences, "*AUC rises with ε*")[0]
    assert "+0.050 on average" in about(sentences, "The shifted logistic loss against the plain one")[0]


def test_a_rare_win_is_not_called_a_rule() -> None:
    points = grid(0.0, 0.1)
    lift = next(p for p in points if p.algorithm == "objective-perturbation" and p.loss == "logistic")
    points[points.index(lift)] = replace(lift, mean=lift.mean + 0.1)
    sentences = about(findings(points), "*Objective perturbation outperforms")
    assert any("holds clearly in only 1 of 12 cells" in s for s in sentences)


def test_small_lambda_scaling_easy_sets_and_private_labels() -> None:
    fixed = [
        point(0.6 + gain, 0.001, figure="lambda", rule=f"fixed {lam:g}", algorithm=f"{name}-perturbation")
        for lam, best in ((1e-4, 0.3), (1.0, 0.0))
        for name, gain in (("output", 0.0), ("objective", best))
    ]
    (sentence,) = about(findings(fixed), "*The advantage of objective perturbation")
    assert "λ = 0.0001: +0.300 on average, ahead in 1 of 1" in sentence
    assert sentence.index("0.0001") < sentence.index("λ = 1:")
    assert "**holds**" in sentence
    turned = [replace(p, rule="fixed 1" if p.rule != "fixed 1" else "fixed 0.0001") for p in fixed]
    assert "**does not hold**" in about(findings(turned), "*The advantage")[0]
    columns = [point(0.7), point(0.6, figure="scaling", scaling="columns")]
    assert "-0.100 on average" in about(findings(columns), "Column scaling against public")[0]
    easy = [point(0.95, dataset="http"), point(0.5, dataset="http", algorithm="objective-perturbation")]
    assert "**does not hold everywhere**" in about(findings(easy), "*http")[0]
    labels = [
        point(0.8, figure="constants", constants="defended", adjacency=a) for a in ("replace", "replace-within-class")
    ]
    assert "+0.000 on average" in about(findings(labels), "Labels private")[0]


def test_nothing_measured_nothing_said() -> None:
    assert findings([]) == []
