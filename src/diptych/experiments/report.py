"""The report of a reproduction: a summarised CSV, figures, and a Markdown page with computed findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from diptych.experiments import figures, simulation_report
from diptych.experiments.comparisons import comparison
from diptych.experiments.points import Point, select, summarise, write_points
from diptych.experiments.protocol import Experiment
from diptych.experiments.published import with_published
from diptych.experiments.registry import FINDINGS, PAPERS, PROTOCOLS, SIMULATED, TITLES, Entry, Simulated, needs_data
from diptych.experiments.runner import CELLS
from diptych.experiments.simulation import Simulation
from diptych.experiments.simulator import VALUES, read_values
from diptych.experiments.slopes import means_of, write_means
from diptych.experiments.store import Store
from diptych.experiments.tables import table

SUMMARY, MEANS = "summary.csv", "means.csv"
Say = Callable[[str], None]


def write_report(paper: str, entries: Sequence[Entry], output: Path, say: Say = lambda _: None) -> Path:
    """Write ``summary.csv`` (simulations: ``means.csv``), PNGs and the Markdown page; return the page's path.

    Only finished cells and places of these entries enter. ``say`` is told, in a line, what could not be drawn.
    """
    experiments = [e for e in entries if isinstance(e, Experiment)]
    points = [p for p in summarise(Store(output / CELLS).read()) if p.figure in {e.name for e in experiments}]
    points = with_published(experiments, points)
    if experiments:
        write_points(points, output / SUMMARY)
    rows = read_values(output / VALUES)
    simulated = [(e, means_of(e, rows)) for e in entries if isinstance(e, Simulation)]
    if simulated:
        write_means(simulated, output / MEANS)
    drawn = _draw(experiments, points, simulated, output, say)
    page = output / f"{paper}.md"
    page.write_text("\n".join(_page(paper, experiments, points, simulated, drawn)) + "\n", encoding="utf-8")
    return page


def _draw(
    experiments: Iterable[Experiment], points: Sequence[Point], simulated: Simulated, output: Path, say: Say
) -> dict[str, str]:
    curves = [e for e in experiments if e.kind == "curves" and select(points, figure=e.name)]
    measured = [(e, means) for e, means in simulated if means]
    names = {name: f"{name}.png" for name in [*(e.name for e in curves), *(e.name for e, _ in measured)]}
    if not names or not figures.can_draw():
        if names:
            say(figures.MISSING)
        return {}
    for experiment in curves:
        figures.draw(experiment, points, output / names[experiment.name])
    for simulation, means in measured:
        simulation_report.draw(simulation, means, output / names[simulation.name])
    return names


def _page(
    paper: str,
    experiments: Sequence[Experiment],
    points: Sequence[Point],
    simulated: Simulated,
    drawn: dict[str, str],
) -> list[str]:
    lines = [f"# Reproduction: {paper}", "", f"{TITLES[paper]}.", ""]
    lines += [
        "```",
        f"diptych reproduce {paper} {'--data FOLDER ' if needs_data(PAPERS[paper]) else ''}--output FOLDER",
        "```",
        "",
        *PROTOCOLS[paper](experiments, points),
    ]
    lines += [
        "",
        "## Findings",
        "",
        "Computed from the values below; *ahead* and *behind* mean by two standard errors.",
        "",
    ]
    found = SIMULATED[paper](simulated) if paper in SIMULATED else []
    lines += [f"- {sentence}" for sentence in (*found, *FINDINGS[paper](points))]
    for simulation, means in simulated:
        lines += simulation_report.section(simulation, means, drawn.get(simulation.name))
    for experiment in experiments:
        lines += section(experiment, points, drawn.get(experiment.name))
    return lines


def section(experiment: Experiment, points: Sequence[Point], picture: str | None) -> list[str]:
    """Return heading, figure, table and what is not covered, of one experiment."""
    here = [p for p in points if p.figure == experiment.name]
    lines = ["", f"## {experiment.name}: {experiment.title}", "", f"{experiment.source}."]
    if not here:
        return [*lines, "", "No values: none of its data sets was run."]
    missing = [name for name in experiment.datasets if not any(p.dataset == name for p in here)]
    if missing:
        lines += ["", f"Not run, because the files were not there or not asked for: {', '.join(missing)}."]
    if picture:
        lines += ["", f"![{experiment.title}]({picture})"]
    lines += ["", *(table if experiment.optimum else comparison)(experiment, here)]
    lines += [f"\nNot covered: {text}." for text in experiment.uncovered]
    notes = dict.fromkeys((p.dataset, p.line or p.algorithm, p.loss, p.constants, p.note) for p in here if p.note)
    return [*lines, *(f"\nNot covered: {', '.join(note[:4])}: {note[4]}" for note in notes)]
