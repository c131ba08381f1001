"""Markdown tables that hold a paper's lines against ours: a table a data set and adjacency, a row a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from diptych.experiments.points import Point
from diptych.experiments.protocol import PURE, Experiment, Notion, Series
from diptych.experiments.store import settings
from diptych.experiments.tables import lambdas
from diptych.spec import Adjacency

TITLES = {Adjacency.REPLACE: "labels private", Adjacency.REPLACE_WITHIN_CLASS: "labels public"}


@dataclass(frozen=True)
class Column:
    """A notion, an epsilon and a training size."""

    notion: Notion
    epsilon: float
    size: int | None


def comparison(experiment: Experiment, here: Sequence[Point]) -> list[str]:
    """Return the lines of all tables of one experiment."""
    index = {point.key(): point for point in here}
    columns = [Column(n, e, s) for n in experiment.notions for e in experiment.epsilons for s in experiment.sizes]
    lines: list[str] = []
    for dataset in dict.fromkeys(point.dataset for point in here):
        for adjacency, title in TITLES.items():
            rows = list(_rows(experiment, index, dataset, adjacency, columns))
            if rows:
                heads = ["line", "λ", *(_head(experiment, column) for column in columns)]
                lines += ["", f"**{dataset}, {title}**", "", _line(heads), "| --- " * len(heads) + "|"]
                lines += map(_line, rows)
    return lines[1:]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(experiment: Experiment, column: Column) -> str:
    where = f"n = {column.size}" if experiment.axis == "size" else f"ε = {column.epsilon:g}"
    return f"{column.notion.name}, {where}"


def _rows(
    experiment: Experiment,
    index: dict[tuple[object, ...], Point],
    dataset: str,
    adjacency: Adjacency,
    columns: Sequence[Column],
) -> Iterator[list[str]]:
    """Yield a row a label; what needs no privacy stands in the tables of both adjacencies."""
    kept = [s for s in experiment.series if not s.private or s.adjacency is adjacency]
    if not any(s.private for s in kept):
        return
    for label in dict.fromkeys(series.label for series in kept):
        line = [series for series in kept if series.label == label]
        points = [_at(experiment, index, dataset, line, column) for column in columns]
        yield [label, lambdas(points), *("" if p is None else p.text for p in points)]


def _at(
    experiment: Experiment,
    index: dict[tuple[object, ...], Point],
    dataset: str,
    line: Sequence[Series],
    column: Column,
) -> Point | None:
    """Return the point of the first series of a line that has one in this column."""
    for series in line:
        where = column if series.private else replace(column, notion=PURE, epsilon=math.inf)
        for rule in experiment.rules_of(series):
            cell = experiment.cell(dataset, series, where.notion, where.epsilon, rule, where.size)
            words = settings(experiment.name, cell) | {"epsilon": where.epsilon}
            if (point := index.get(tuple(words.values()))) is not None:
                return point
    return None
