"""Means and standard errors of finished cells, and comparisons between them. No judgement: see the findings."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any


@dataclass(frozen=True)
class Point:
    """One cell: what it stands for, its mean test score and standard error, repeats, the (median) lambda.

    The score is an AUC, or the accuracy of a metric's neighbours. ``published`` is the printed figure, if there is one.
    """

    figure: str
    dataset: str
    scaling: str
    adjacency: str
    notion: str
    loss: str
    algorithm: str
    constants: str
    radius: str
    rule: str
    epsilon: float
    regularization: float
    repeats: int
    mean: float
    error: float
    note: str = ""
    line: str = ""
    size: str = ""
    published: float = math.nan

    def key(self, *leave_out: str) -> tuple[object, ...]:
        """Return what identifies the cell, but for these fields."""
        names = IDENTITY if not leave_out else [name for name in IDENTITY if name not in leave_out]
        return tuple(getattr(self, name) for name in names)

    @property
    def text(self) -> str:
        """Mean and standard error, to three digits."""
        if self.note:
            return "not covered"
        printed = "" if math.isnan(self.published) else f" ({self.published:.3f})"
        return f"{self.mean:.3f} ± {self.error:.3f}{printed}"


IDENTITY = [*(field.name for field in fields(Point)[:11]), "line", "size"]


def summarise(rows: Iterable[Mapping[str, str]]) -> list[Point]:
    """Return one point a cell.

    The standard error is over random splits where there are several (their means), else over repeats.
    """
    cells: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for row in rows:
        cells.setdefault((row["figure"], row["fingerprint"]), []).append(row)
    return [_point(group) for group in cells.values()]


def _point(group: Sequence[Mapping[str, str]]) -> Point:
    first = group[0]
    if first["note"]:
        return _at(first, math.nan, 0, math.nan, math.nan)
    splits: dict[str, list[float]] = {}
    for row in group:
        splits.setdefault(row["split"], []).append(float(row["score"]))
    scores = [value for values in splits.values() for value in values]
    spread = [fmean(values) for values in splits.values()] if len(splits) > 1 else scores
    error = stdev(spread) / math.sqrt(len(spread)) if len(spread) > 1 else 0.0
    lam = median(float(row["lambda"]) for row in group)
    return _at(first, lam, len(scores), fmean(scores), error)


def _at(row: Mapping[str, str], regularization: float, repeats: int, mean: float, error: float) -> Point:
    words: dict[str, Any] = {name: row[name] for name in IDENTITY if name != "epsilon"}
    return Point(
        **words,
        epsilon=float(row["epsilon"]),
        regularization=regularization,
        repeats=repeats,
        mean=mean,
        error=error,
        note=row["note"],
    )


def write_points(points: Iterable[Point], path: Path) -> None:
    """Write one CSV line a point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Point)])
        writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in astuple(p)] for p in points)


def select(points: Iterable[Point], **wanted: object) -> list[Point]:
    """Return the points whose fields have these values; a tuple of values means any of them."""

    def fits(point: Point) -> bool:
        return all(
            getattr(point, name) in value if isinstance(value, tuple) else getattr(point, name) == value
            for name, value in wanted.items()
        )

    return [point for point in points if not point.note and fits(point)]


def distinct(points: Iterable[Point]) -> list[Point]:
    """Return one point a setting where several figures show it."""
    return list({point.key("figure"): point for point in points}.values())


def matched(points: Iterable[Point], field: str, new: str, old: str, *ignore: str) -> Iterator[tuple[Point, Point]]:
    """Yield pairs of points that differ in one field (and may differ in those ignored): new, old."""
    listed = list(points)
    before = {p.key(field, *ignore): p for p in select(listed, **{field: old})}
    for point in select(listed, **{field: new}):
        other = before.get(point.key(field, *ignore))
        if other is not None:
            yield point, other


@dataclass(frozen=True)
class Comparison:
    """Pairs of points, new against old: how often the new one is surely ahead or behind (two standard errors)."""

    pairs: tuple[tuple[Point, Point], ...]

    def _sure(self, sign: float) -> int:
        return sum(sign * (a.mean - b.mean) > 2.0 * math.hypot(a.error, b.error) for a, b in self.pairs)

    @property
    def ahead(self) -> int:
        """Pairs in which the new one is ahead by more than two standard errors."""
        return self._sure(1.0)

    @property
    def behind(self) -> int:
        """Pairs in which it is behind by as much."""
        return self._sure(-1.0)

    @property
    def gain(self) -> float:
        """Mean difference."""
        return fmean(a.mean - b.mean for a, b in self.pairs)

    @property
    def widest(self) -> tuple[Point, Point]:
        """Return the pair with the largest difference in favour of the new one."""
        return max(self.pairs, key=lambda pair: pair[0].mean - pair[1].mean)

    @property
    def worst(self) -> tuple[Point, Point]:
        """Return the pair with the smallest."""
        return min(self.pairs, key=lambda pair: pair[0].mean - pair[1].mean)

    def of(self, **wanted: object) -> Comparison:
        """Return the comparison of the pairs whose new point has these values."""
        kept = {point.key() for point in select((a for a, _ in self.pairs), **wanted)}
        return Comparison(tuple(pair for pair in self.pairs if pair[0].key() in kept))

    def by(self, field: str) -> dict[str, Comparison]:
        """Split by a field of the new point, in order of appearance."""
        values = dict.fromkeys(str(getattr(a, field)) for a, _ in self.pairs)
        return {value: self.of(**{field: value}) for value in values}

    @property
    def text(self) -> str:
        """The comparison in figures."""
        return f"{self.gain:+.3f} on average, ahead in {self.ahead} of {len(self.pairs)}, behind in {self.behind}"
