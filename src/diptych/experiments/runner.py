"""Runs experiments in worker processes: plans, skips what is done, tunes, trains, writes each cell as it finishes.

Results depend on the settings alone: not on the number of workers, nor on the order in which they finish.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from diptych.experiments import workers
from diptych.experiments.protocol import CROSS_VALIDATED, Cell, Experiment
from diptych.experiments.readers import Source, find_sources
from diptych.experiments.simulation import Simulation
from diptych.experiments.simulator import run_simulations
from diptych.experiments.store import Choices, Store, lines, settings
from diptych.experiments.workers import Task

CELLS, CHOICES = "cells.csv", "tuning.csv"
Watch = Callable[[str, int], "Callable[[], None]"]


@dataclass(frozen=True)
class Job:
    """One computation, and the figures that want its result."""

    cell: Cell
    figures: tuple[str, ...]
    fingerprint: str


def silent(label: str, total: int) -> Callable[[], None]:  # noqa: ARG001
    """Show nothing."""
    return lambda: None


def run_experiments(
    entries: Sequence[Experiment | Simulation],
    folder: Path | None,
    output: Path,
    *,
    repeats: int | None = None,
    jobs: int = 2,
    only: Iterable[str] = (),
    watch: Watch = silent,
) -> list[Experiment | Simulation]:
    """Run what is not done yet, and return the entries as they were run.

    Parameters
    ----------
    entries
        What to run: tables and figures of data sets, simulations.
    folder, output
        Where the data sets are (simulations need none), and where the CSV files go.
    repeats
        In place of each entry's own number.
    jobs
        Worker processes.
    only
        Names of data sets; none means all.
    watch
        Called with a label and a number of steps; what it returns is called after each step.
    """
    entries = [replace(e, repeats=repeats or e.repeats) for e in entries]
    experiments = [e for e in entries if isinstance(e, Experiment)]
    simulations = [e for e in entries if isinstance(e, Simulation)]
    every = {name for e in experiments for name in e.datasets}
    if experiments and folder is None:
        raise ValueError("data is missing: these entries run on data sets; name the folder that holds them (--data).")
    sources = find_sources(folder, set(only) or every) if experiments and folder else {}
    output.mkdir(parents=True, exist_ok=True)
    if simulations:
        run_simulations(simulations, output, jobs, watch)
    if experiments:
        _run_cells(experiments, sources, output, jobs, watch)
    return list(entries)


def _run_cells(
    experiments: Sequence[Experiment], sources: Mapping[str, Source], output: Path, jobs: int, watch: Watch
) -> None:
    """Train all cells that are not done yet."""
    planned = plan(experiments, sources)
    store = Store(output / CELLS)
    done = store.prepare((settings(f, job.cell), job.fingerprint) for job in planned for f in job.figures)
    todo = [job for job in planned if any((f, job.fingerprint) not in done for f in job.figures)]
    chosen = _tune([job.cell for job in todo], sources, Choices(output / CHOICES), jobs, watch)
    tasks = [Task(sources[job.cell.dataset], job.cell, chosen.get(_tuned(job.cell))) for job in todo]
    step = watch("training", len(tasks))
    for number, outcome in workers.results(workers.train, tasks, jobs):
        job = todo[number]
        for figure in job.figures:
            if (figure, job.fingerprint) not in done:
                store.append(lines(figure, job.cell, outcome, job.fingerprint))
        step()


def plan(experiments: Iterable[Experiment], sources: Mapping[str, Source]) -> list[Job]:
    """Return the cells of all experiments, each once, with the figures that show it."""
    facts = _facts(sources)
    figures: dict[Cell, list[str]] = {}
    for dataset in sources:
        for experiment in experiments:
            for cell in experiment.cells(dataset) if dataset in experiment.datasets else ():
                figures.setdefault(cell, []).append(experiment.name)
    return [
        Job(cell, tuple(names), cell.fingerprint(*facts[cell.dataset]))
        for cell, names in sorted(figures.items(), key=lambda item: list(sources).index(item[0].dataset))
    ]


def _facts(sources: Mapping[str, Source]) -> dict[str, tuple[str, ...]]:
    """Return what results depend on besides settings: the data, the number of splits, the code."""
    code = workers.code_digest()
    return {name: (source.digest(), str(source.splits), code) for name, source in sources.items()}


def _tuned(cell: Cell) -> Cell | None:
    """Return the cell whose lambda this one borrows: one for all epsilons."""
    if cell.rule != CROSS_VALIDATED:
        return None
    return replace(cell, repeats=0, epsilon=cell.tuning.epsilon if math.isfinite(cell.epsilon) else math.inf)


def _tune(
    cells: Iterable[Cell], sources: Mapping[str, Source], choices: Choices, jobs: int, watch: Watch
) -> Mapping[Cell | None, float]:
    """Return the lambda of each cell that cells borrow theirs from; what is known already is not tuned again."""
    facts, known = _facts(sources), choices.read()
    wanted = {c: c.fingerprint(*facts[c.dataset]) for c in dict.fromkeys(map(_tuned, cells)) if c is not None}
    chosen: dict[Cell | None, float] = {c: known[mark] for c, mark in wanted.items() if mark in known}
    todo = [cell for cell in wanted if cell not in chosen]
    step = watch("cross-validating lambda", len(todo))
    for number, lam in workers.results(workers.tune, [Task(sources[c.dataset], c) for c in todo], jobs):
        cell = todo[number]
        chosen[cell] = lam
        choices.append(wanted[cell], lam)
        step()
    return chosen
