"""Means of simulated values, as a CSV, and the powers of an axis that they follow."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from diptych.experiments.simulation import Simulation


@dataclass(frozen=True)
class Mean:
    """The mean of one line at one place, and its standard error."""

    place: float
    mean: float
    error: float

    @property
    def text(self) -> str:
        """Mean and standard error, to three digits of the mean."""
        return f"{self.mean:.3g} ± {self.error:.1g}"


@dataclass(frozen=True)
class Slope:
    """The power of the axis that fits a line, and the standard error that the values' errors leave it."""

    value: float
    error: float

    @property
    def text(self) -> str:
        """Value and standard error."""
        return f"{self.value:+.2f} ± {self.error:.2f}"


Means = dict[str, list[Mean]]


def means_of(simulation: Simulation, rows: Iterable[Mapping[str, str]]) -> Means:
    """Return the means of each line of a simulation that has values, along its axis; what is not a number is none."""
    values: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        if row["figure"] == simulation.name and not math.isnan(float(row["value"])):
            values.setdefault((row["line"], float(row["place"])), []).append(float(row["value"]))
    means: Means = {}
    for line in simulation.lines:
        places = [place for place in simulation.places if (line.name, place) in values]
        if places:
            means[line.name] = [_mean(place, values[line.name, place]) for place in places]
    return means


def _mean(place: float, values: Sequence[float]) -> Mean:
    return Mean(place, fmean(values), stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0)


def slope_of(means: Sequence[Mean]) -> Slope | None:
    """Fit log mean = a + slope log place by least squares; None where fewer than two means are above 0."""
    kept = [one for one in means if one.mean > 0.0]
    if len(kept) < 2:
        return None
    x = np.log([one.place for one in kept])
    weights = (x - x.mean()) / float(np.sum((x - x.mean()) ** 2))
    spread = np.array([one.error / one.mean for one in kept])
    value = float(weights @ np.log([one.mean for one in kept]))
    return Slope(value, float(np.sqrt(np.sum((weights * spread) ** 2))))


def write_means(simulated: Iterable[tuple[Simulation, Means]], path: Path) -> None:
    """Write a line a simulation, curve and place."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("figure", "line", "place", "mean", "error", "repeats"))
        for simulation, means in simulated:
            for name, values in means.items():
                for one in values:
                    numbers = (f"{one.place:g}", f"{one.mean:.6g}", f"{one.error:.2g}", simulation.repeats)
                    writer.writerow((simulation.name, name, *numbers))
