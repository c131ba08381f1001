"""Printed figures beside measured ones: which belongs to which point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from diptych.experiments.points import Point
from diptych.experiments.protocol import Experiment, Published
from diptych.experiments.series import OURS

NON_PRIVATE = "non-private"


def with_published(experiments: Iterable[Experiment], points: Sequence[Point]) -> list[Point]:
    """Return the points, each with its printed figure if there is one.

    Beside a line of the paper stands its own figure; beside ours the best private one of the same cell; beside a line
    without privacy the mean of what is printed for it (once a notion, though the data set and size are the same).
    """
    printed = {experiment.name: experiment.published for experiment in experiments}
    return [_with(point, printed.get(point.figure, ())) for point in points]


def _with(point: Point, printed: Iterable[Published]) -> Point:
    here = [p for p in printed if p.dataset == point.dataset and str(p.size) == point.size]
    if point.line.startswith(NON_PRIVATE):
        values = [p.value for p in here if p.line == point.line]
        return replace(point, published=fmean(values)) if values else point
    cell = [p for p in here if p.notion == point.notion and p.epsilon == point.epsilon]
    own = [p.value for p in cell if p.line == point.line]
    if point.line == OURS:
        own = [max(values)] if (values := [p.value for p in cell if not p.line.startswith(NON_PRIVATE)]) else []
    return replace(point, published=own[0]) if own else point
