"""Runs simulations in worker processes, and keeps every value in one CSV: a line a place, curve and repeat.

A place counts as done if all its lines are there under the fingerprint of its present settings and code.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych.experiments import workers
from diptych.experiments.simulation import Simulation

VALUES = "simulations.csv"
COLUMNS = ("figure", "line", "place", "repeat", "value", "repeats", "fingerprint")
Watch = Callable[[str, int], "Callable[[], None]"]


@dataclass(frozen=True)
class Place:
    """What a worker needs to know."""

    simulation: Simulation
    place: float


def measure(task: Place) -> list[Mapping[str, float]]:
    """Measure all repeats at one place."""
    simulation = task.simulation
    values = [simulation.measure(task.place, simulation.seed(task.place, k)) for k in range(simulation.repeats)]
    names = {line.name for line in simulation.lines}
    for one in values:
        if set(one) != names:
            raise RuntimeError(f"{simulation.name} measures {sorted(one)}, and its lines are {sorted(names)}.")
    return values


def run_simulations(simulations: Sequence[Simulation], output: Path, jobs: int, watch: Watch) -> None:
    """Measure what is not done yet, and write it place by place."""
    code, path = _code_digest(), output / VALUES
    wanted = {(s.name, place): s.fingerprint(place, code) for s in simulations for place in s.places}
    kept = [row for row in read_values(path) if row["fingerprint"] == wanted.get(_key(row), row["fingerprint"])]
    _write(path, kept)
    done = {(*_key(row), row["fingerprint"]) for row in kept}
    todo = [Place(s, p) for s in simulations for p in s.places if (s.name, p, wanted[s.name, p]) not in done]
    step = watch("simulating", len(todo))
    for number, values in workers.results(measure, todo, jobs):
        _append(path, todo[number], values, wanted[todo[number].simulation.name, todo[number].place])
        step()


def _key(row: Mapping[str, str]) -> tuple[str, float]:
    return row["figure"], float(row["place"])


def _code_digest() -> str:
    """Return a digest of the code that values depend on: the library's, and all modules of this room."""
    own = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*simulat*.py")))
    return workers.code_digest() + hashlib.sha256(own).hexdigest()[:16]


def read_values(path: Path) -> list[dict[str, str]]:
    """Return the lines of all complete places; what an interruption cut short is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if None not in row.values() and set(COLUMNS) <= set(row)]
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["figure"], row["place"], row["line"], row["fingerprint"]), []).append(row)
    return [row for group in groups.values() if len(group) == int(group[0]["repeats"]) for row in group]


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    fresh = path.with_suffix(".csv.new")
    with fresh.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    fresh.replace(path)


def _append(path: Path, task: Place, values: Sequence[Mapping[str, float]], fingerprint: str) -> None:
    fixed = {"figure": task.simulation.name, "place": f"{task.place:g}", "fingerprint": fingerprint}
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        for line in task.simulation.lines:
            for repeat, one in enumerate(values):
                value = {"line": line.name, "repeat": repeat, "value": f"{one[line.name]:.9g}", "repeats": len(values)}
                writer.writerow(fixed | value)
