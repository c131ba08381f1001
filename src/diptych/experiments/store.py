"""Results on disk: one CSV line a repeat, appended cell by cell, so that an interrupted run can go on.

A cell counts as done if all its lines are there under the fingerprint of its present settings.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from diptych.experiments.protocol import Cell
from diptych.experiments.trainer import Outcome

SETTINGS = (
    "figure",
    "dataset",
    "scaling",
    "adjacency",
    "notion",
    "loss",
    "algorithm",
    "constants",
    "radius",
    "rule",
    "epsilon",
    "line",
    "size",
)
COLUMNS = (*SETTINGS, "lambda", "repeat", "split", "score", "note", "repeats", "fingerprint")


def settings(figure: str, cell: Cell) -> dict[str, str]:
    """Return what identifies a cell within a figure, as text."""
    series = cell.series
    return {
        "figure": figure,
        "dataset": cell.dataset,
        "scaling": cell.scaling,
        "adjacency": str(series.adjacency),
        "notion": cell.notion.name if math.isfinite(cell.epsilon) else "none",
        "loss": series.loss,
        "algorithm": series.algorithm,
        "constants": series.constants,
        "radius": "" if series.radius is None else f"{series.radius:g}",
        "rule": cell.rule.name if cell.rule.value is None else f"{cell.rule.name} {cell.rule.value:g}",
        "epsilon": f"{cell.epsilon:g}",
        "line": series.line,
        "size": "" if cell.size is None else str(cell.size),
    }


def lines(figure: str, cell: Cell, outcome: Outcome, fingerprint: str) -> list[dict[str, str]]:
    """Return the CSV lines of one cell: one a repeat, or one with a note if it could not be run."""
    fixed = settings(figure, cell) | {"lambda": f"{outcome.regularization:.6g}", "fingerprint": fingerprint}
    if outcome.note:
        return [fixed | {"repeat": "", "split": "", "score": "", "note": outcome.note, "repeats": "1"}]
    count = {"note": "", "repeats": str(len(outcome.scores))}
    return [
        fixed | count | {"repeat": str(k), "split": split, "score": f"{value:.6f}"}
        for k, (split, value) in enumerate(zip(outcome.splits, outcome.scores, strict=True))
    ]


@dataclass
class Choices:
    """The CSV file of the lambdas that cross-validation chose, by the fingerprint of what was tuned."""

    path: Path

    def read(self) -> dict[str, float]:
        """Return all choices; a line that an interruption cut short is left out."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        words = [line.strip().split(",") for line in lines if line.endswith("\n")]
        return {pair[0]: float(pair[1]) for pair in words if len(pair) == 2}

    def append(self, fingerprint: str, regularization: float) -> None:
        """Add one choice."""
        cut = self.path.exists() and not self.path.read_text(encoding="utf-8").endswith("\n")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("\n" if cut else "") + f"{fingerprint},{regularization!r}\n")


@dataclass
class Store:
    """The CSV file of all cells."""

    path: Path

    def read(self) -> list[dict[str, str]]:
        """Return the lines of all complete cells; what an interruption cut short is left out."""
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames is None or not set(COLUMNS) <= set(reader.fieldnames):
                return []  # of another version of this library
            rows = [row for row in reader if None not in row.values() and None not in row]
        groups: dict[tuple[str, str], list[dict[str, str]]] = {}
        for row in rows:
            groups.setdefault((row["figure"], row["fingerprint"]), []).append(row)
        return [row for group in groups.values() if len(group) == int(group[0]["repeats"]) for row in group]

    def prepare(self, planned: Iterable[tuple[dict[str, str], str]]) -> set[tuple[str, str]]:
        """Drop lines of planned cells whose settings have changed; return the (figure, fingerprint) that are done."""
        current = {tuple(fixed.values()): fingerprint for fixed, fingerprint in planned}
        kept = []
        for row in self.read():
            wanted = current.get(tuple(row[name] for name in SETTINGS))
            if wanted is None or wanted == row["fingerprint"]:
                kept.append(row)
        self._write(kept)
        return {(row["figure"], row["fingerprint"]) for row in kept}

    def _write(self, rows: list[dict[str, str]]) -> None:
        fresh = self.path.with_suffix(".csv.new")
        with fresh.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        fresh.replace(self.path)

    def append(self, rows: list[dict[str, str]]) -> None:
        """Add the lines of one finished cell."""
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerows(rows)
