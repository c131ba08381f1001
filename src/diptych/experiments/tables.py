"""Markdown tables of finished experiments: a row a data set, rule and series, a column a notion and epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diptych.experiments.points import Point
from diptych.experiments.protocol import PURE, Experiment, Notion, Rule, Series
from diptych.experiments.store import settings
from diptych.spec import Adjacency

Index = dict[tuple[object, ...], Point]


@dataclass(frozen=True)
class Column:
    """A notion and an epsilon; where lambda runs along the columns, also a rule."""

    notion: Notion
    epsilon: float
    rule: Rule | None = None

    @property
    def head(self) -> str:
        """Its heading."""
        where = f"ε = {self.epsilon:g}" if self.rule is None else f"λ = {self.rule.value:g}"
        return f"{self.notion.name}, {where}"


def table(experiment: Experiment, here: Sequence[Point]) -> list[str]:
    """Return the lines of a table of the points of one experiment."""
    index = {point.key(): point for point in here}
    columns = _columns(experiment)
    lead = ["data", "line"] if experiment.axis == "lambda" else ["data", "λ chosen", "line", "λ"]
    heads = [*lead, *(column.head for column in columns), "without privacy"]
    lines = ["| " + " | ".join(heads) + " |", "| --- " * len(heads) + "|"]
    for dataset in dict.fromkeys(point.dataset for point in here):
        for rule in (None,) if experiment.axis == "lambda" else experiment.rules:
            for series in experiment.series:
                lines.append("| " + " | ".join(_row(experiment, index, dataset, rule, series, columns)) + " |")
    return lines


def _columns(experiment: Experiment) -> list[Column]:
    if experiment.axis == "lambda":
        return [Column(n, e, r) for n in experiment.notions for e in experiment.epsilons for r in experiment.rules]
    return [Column(n, e) for n in experiment.notions for e in experiment.show or experiment.epsilons]


def _row(
    experiment: Experiment, index: Index, dataset: str, rule: Rule | None, series: Series, columns: Iterable[Column]
) -> list[str]:
    def at(which: Series, column: Column) -> Point | None:
        chosen = rule or column.rule
        assert chosen is not None
        cell = experiment.cell(dataset, which, column.notion, column.epsilon, chosen)
        words = settings(experiment.name, cell) | {"epsilon": column.epsilon}
        return index.get(tuple(words.values()))

    points = [at(series, column) for column in columns]
    exact = [at(series.baseline(), Column(PURE, math.inf, r)) for r in (experiment.rules if rule is None else (None,))]
    best = max((p for p in exact if p is not None), key=lambda p: p.mean, default=None)
    lead = [dataset, row_label(series)] if rule is None else [dataset, rule.name, row_label(series), lambdas(points)]
    return [*lead, *("" if p is None else p.text for p in points), "" if best is None else best.text]


def row_label(series: Series) -> str:
    """Return the label of a table's row."""
    return series.label + (", labels private" if series.adjacency is Adjacency.REPLACE else "")


def lambdas(points: Iterable[Point | None]) -> str:
    """Return the range of lambda in a row."""
    values = [p.regularization for p in points if p is not None and not math.isnan(p.regularization)]
    if not values:
        return ""
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"
