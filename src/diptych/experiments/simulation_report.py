"""The sections of simulations in a report: a figure, a table of means, with fitted slopes where powers are claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from diptych.experiments import figures
from diptych.experiments.simulation import Line, Simulation
from diptych.experiments.slopes import Means, slope_of

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")


def draw(simulation: Simulation, means: Means, path: Path) -> None:
    """Draw all lines with two standard errors; where powers are claimed, both axes are logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    many = len(simulation.lines) > len(COLOURS)
    figure = Figure(figsize=(6.4, 4.9 if many else 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    for number, line in enumerate(simulation.lines):
        kept = [one for one in means.get(line.name, []) if one.mean > 0.0]
        if kept:
            panel.errorbar(
                [one.place for one in kept],
                [one.mean for one in kept],
                yerr=[min(2.0 * one.error, 0.99 * one.mean) for one in kept],
                label=line.name,
                color=COLOURS[(number if line.hue is None else line.hue) % len(COLOURS)],
                linestyle=line.style or ("--" if line.bound else "-"),
                marker=None if line.bound else "o",
                markersize=3.5,
                linewidth=1.2,
            )
    if simulation.powers:
        panel.set_xscale("log")
        panel.set_yscale("log")
    panel.set_xticks(simulation.places, labels=[f"{place:g}" for place in simulation.places])
    panel.minorticks_off()
    panel.set_xlabel(simulation.axis, fontsize=9)
    panel.set_ylabel(simulation.quantity, fontsize=9)
    panel.grid(alpha=0.3)
    if many:
        figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    else:
        panel.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=figures.DOTS, metadata={"Software": None})


def section(simulation: Simulation, means: Means, picture: str | None) -> list[str]:
    """Return heading, figure, table and what is not covered."""
    lines = ["", f"## {simulation.name}: {simulation.title}", "", f"{simulation.source}. {simulation.setting}."]
    if not means:
        return [*lines, "", "No values: it was not run."]
    if picture:
        lines += ["", f"![{simulation.title}]({picture})"]
    words = f"Mean ± standard error over {simulation.repeats} repeats"
    if simulation.powers:
        words += (
            f"; the slope is that of log {simulation.quantity} against log {simulation.axis}, in brackets the one that "
            "is claimed"
        )
    lines += ["", f"{words}.", ""]
    heads = [simulation.quantity, *(f"{simulation.axis} = {place:g}" for place in simulation.places)]
    heads += ["slope"] * simulation.powers
    lines += [_row(heads), "| --- " * len(heads) + "|"]
    lines += [_row(_cells(simulation, line, means)) for line in simulation.lines if line.name in means]
    return [*lines, *(f"\nNot covered: {text}." for text in simulation.uncovered)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(simulation: Simulation, line: Line, means: Means) -> list[str]:
    known, slope = {one.place: one for one in means[line.name]}, slope_of(means[line.name])
    claimed = "" if line.slope is None else f" ({line.slope:+.2f})"
    values = [known[place].text if place in known else "" for place in simulation.places]
    return [line.name, *values, *([f"{slope.text}{claimed}" if slope else ""] * simulation.powers)]


def slopes_against_claims(simulation: Simulation, means: Means) -> Iterator[str]:
    """Say of each line with a claimed slope what was fitted, and whether the line falls (or grows) as claimed."""
    for line in simulation.lines:
        slope = slope_of(means.get(line.name, []))
        if line.slope is None or slope is None:
            continue
        apart = slope.value - line.slope
        sure = 2.0 * slope.error + 0.05  # of a power: what logarithms may add over the places at hand
        verdict = "as claimed" if abs(apart) <= sure else "faster" if apart * line.slope > 0 else "slower"
        if line.slope > 0 and verdict != "as claimed":
            verdict = "steeper than claimed" if apart > 0 else "flatter than claimed"
        yield (
            f"*{simulation.name}, {line.name}*: {simulation.quantity} follows {simulation.axis}^({slope.text}), "
            f"claimed {simulation.axis}^({line.slope:+.2f}) up to logarithms: **{verdict}**."
        )
