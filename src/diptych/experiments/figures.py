"""Figures of finished experiments as PNG files. Matplotlib is loaded here and only when a figure is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from diptych.experiments.points import Point, select
from diptych.experiments.protocol import EXACT, OBJECTIVE, OUTPUT, WITHIN, Experiment, Series
from diptych.experiments.series import EPOCHS, GD, NOISY, ONLINE, OURS, SGD

MISSING = "Figures need Matplotlib, which is not installed: pip install 'diptych[plot]'. CSV and Markdown are written."
COLOURS = {
    (OUTPUT, "plain"): "#1f77b4",
    (OBJECTIVE, "plain"): "#d62728",
    (OUTPUT, "shifted-logistic"): "#17becf",
    (OBJECTIVE, "shifted-logistic"): "#ff7f0e",
}
LINES = {  # of papers, by algorithm
    GD: "#1f77b4",
    NOISY: "#2ca02c",
    EPOCHS: "#d62728",
    ONLINE: "#9467bd",
    SGD: "#8c564b",
}
DOTS = 80  # an inch


def can_draw() -> bool:
    """Whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(experiment: Experiment, points: Sequence[Point], path: Path) -> None:
    """Draw one experiment: a column of panels a data set, a row a rule for lambda (else a notion)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    here = select(points, figure=experiment.name)
    datasets = [name for name in experiment.datasets if select(here, dataset=name)]
    field = "rule" if experiment.axis == "epsilon" else "notion"
    rows = [r.name for r in experiment.rules] if field == "rule" else [n.name for n in experiment.notions]
    figure = Figure(figsize=(3.4 * len(datasets), 2.6 * len(rows) + 0.9), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(rows), len(datasets), squeeze=False)
    for i, row in enumerate(rows):
        for j, dataset in enumerate(datasets):
            panel = panels[i][j]
            _panel(panel, experiment, select(here, dataset=dataset, **{field: row}), with_notion=field == "rule")
            if experiment.axis == "size":
                _open_lines(panel, experiment, select(here, dataset=dataset))
            elif field == "notion":
                _baselines(panel, experiment, select(here, dataset=dataset))
            panel.set_title(f"{dataset}, {_row_title(field, row)}", fontsize=9)
            panel.tick_params(labelsize=8)
    panels[0][0].set_ylabel(experiment.measure, fontsize=9)
    handles = dict(zip(*reversed(panels[0][0].get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=max(1, len(datasets)),
        fontsize=8,
        frameon=False,
    )
    figure.savefig(path, dpi=DOTS, metadata={"Software": None})


def _row_title(field: str, row: str) -> str:
    if field == "notion":
        return row
    return "λ public" if row == "public" else "λ cross-validated (not charged)"


def _panel(panel: Any, experiment: Experiment, here: Sequence[Point], *, with_notion: bool) -> None:
    for series in experiment.series:
        for notion in experiment.notions:
            line = select(here, notion=notion.name, **_fields(series))
            if line:
                label = series.label + (f", {notion.name}" if with_notion and len(experiment.notions) > 1 else "")
                label += ", labels private" if series.line and series.adjacency is not WITHIN else ""
                _line(panel, series, _ordered(line, experiment.axis), label, pure=notion.pure)
    if with_notion:
        _baselines(panel, experiment, here)
    lowest = min((p.mean for p in here), default=0.5)
    panel.set_ylim(max(0.4, math.floor(20 * lowest) / 20), 1.005)
    panel.set_xlabel({"epsilon": "ε", "lambda": "λ", "size": "n"}[experiment.axis], fontsize=9)
    if experiment.axis != "epsilon":
        panel.set_xscale("log")
    if experiment.axis == "size":
        panel.set_xticks(experiment.sizes, labels=experiment.sizes, minor=False)
        panel.minorticks_off()
    panel.grid(alpha=0.3)


def _fields(series: Series) -> dict[str, object]:
    radius = "" if series.radius is None else f"{series.radius:g}"
    return {
        "algorithm": series.algorithm,
        "loss": series.loss,
        "constants": series.constants,
        "adjacency": str(series.adjacency),
        "radius": radius,
        "line": series.line,
    }


def _ordered(line: Sequence[Point], axis: str) -> list[tuple[float, Point]]:
    places = [({"epsilon": p.epsilon, "lambda": p.regularization}.get(axis) or float(p.size), p) for p in line]
    return sorted(places, key=lambda item: item[0])


def _line(panel: Any, series: Series, line: Sequence[tuple[float, Point]], label: str, *, pure: bool) -> None:
    panel.errorbar(
        [x for x, _ in line],
        [p.mean for _, p in line],
        yerr=[2.0 * p.error for _, p in line],
        label=label,
        color=_colour(series),
        linestyle=_style(series),
        marker="o" if pure else "^",
        markersize=3.5,
        linewidth=1.2,
        elinewidth=0.8,
    )


def _colour(series: Series) -> str:
    if series.line:
        return "black" if series.line == OURS else LINES[series.algorithm]
    return COLOURS.get((series.algorithm, series.loss), COLOURS[series.algorithm, "plain"])


def _style(series: Series) -> str:
    if series.constants == "paper":
        return "--"
    return ":" if series.line and series.adjacency is not WITHIN else "-"


def _open_lines(panel: Any, experiment: Experiment, here: Sequence[Point]) -> None:
    """Draw the lines without noise, along the training size."""
    for series in (s for s in experiment.series if not s.private):
        line = _ordered(select(here, notion="none", **_fields(series)), "size")
        style = "-." if series.algorithm == ONLINE else (0, (1, 3))
        panel.plot([x for x, _ in line], [p.mean for _, p in line], color="grey", linestyle=style, label=series.label)


def _baselines(panel: Any, experiment: Experiment, here: Sequence[Point]) -> None:
    for series in dict.fromkeys(s.baseline() for s in experiment.series):
        exact = select(here, algorithm=EXACT, loss=series.loss, adjacency=str(series.adjacency))
        if exact:
            best = max(p.mean for p in exact)
            shade = ":" if series.loss != "shifted-logistic" else "-."
            panel.axhline(best, color="grey", linestyle=shade, linewidth=1.0, label=series.label)
