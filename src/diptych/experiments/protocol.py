"""What an experiment is: declarative entries, and the cells they expand to. No data, no computing.

A paper is a list of ``Experiment`` entries, one a figure or table. A ``Cell`` is one point of a curve: one data set,
one series, one notion of privacy, one epsilon, one rule for lambda, all its repeats.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace

from diptych.experiments.series import (
    APPROXIMATE,
    APPROXIMATE_N,
    EXACT,
    GD,
    NOTIONS,
    OBJECTIVE,
    OUTPUT,
    PURE,
    WITHIN,
    Notion,
    Series,
)

__all__ = [
    "APPROXIMATE",
    "APPROXIMATE_N",
    "CROSS_VALIDATED",
    "EXACT",
    "NOTIONS",
    "OBJECTIVE",
    "OUTPUT",
    "PUBLIC",
    "PURE",
    "WITHIN",
    "Cell",
    "Experiment",
    "Notion",
    "Published",
    "Rule",
    "Series",
    "Tuning",
]


@dataclass(frozen=True)
class Rule:
    """How lambda is chosen: by the library's public rule, by cross-validation (not charged), or fixed."""

    name: str
    value: float | None = None


PUBLIC, CROSS_VALIDATED = Rule("public"), Rule("cross-validated")


@dataclass(frozen=True)
class Tuning:
    """Cross-validation as Wang et al. tune: one lambda a series and notion, at one epsilon, on the training part."""

    epsilon: float = 0.1
    folds: int = 10
    grid: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class Published:
    """One printed figure: of which data set and line, under which notion, epsilon and training size."""

    dataset: str
    line: str
    notion: str
    epsilon: float
    size: int
    value: float


@dataclass(frozen=True)
class Cell:
    """All repeats of one setting on one data set."""

    dataset: str
    scaling: str
    series: Series
    notion: Notion
    epsilon: float
    rule: Rule
    repeats: int
    tuning: Tuning
    size: int | None = field(default=None, repr=False)

    @property
    def trajectory(self) -> Hashable:
        """What cells share that should be computed in one place: the paper's noiseless descent, else nothing."""
        if self.series.algorithm != GD or self.series.constants != "paper":
            return None
        shared = replace(self.series, line="", notions=(), private=True)
        return self.dataset, self.scaling, shared, self.size

    @property
    def _further(self) -> str:
        """What ``repr`` leaves out where it is not the default."""
        return self.series.further + ("" if self.size is None else f", size={self.size}")

    def seed(self, repeat: int) -> int:
        """Return the seed of one repeat: a function of the settings alone, whatever runs when and where."""
        stream = replace(self, repeats=0, tuning=Tuning())
        digest = hashlib.sha256(f"{stream!r}{self._further} repeat {repeat}".encode()).digest()
        return int.from_bytes(digest[:7], "big")

    def fingerprint(self, *facts: str) -> str:
        """Return a short digest of these settings and of whatever else the result depends on."""
        tuning = self.tuning if self.rule == CROSS_VALIDATED else None
        text = repr((replace(self, tuning=Tuning()), tuning, facts)) + self._further
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Experiment:
    """One figure or table.

    Attributes
    ----------
    name, title, source
        What it is called here, what it shows, and where it was published.
    datasets
        Names of data sets; those that are not there are left out and named.
    series, notions, epsilons, rules, repeats
        The cells are their product.
    scaling
        How rows get into the unit ball: a name in ``scaling.SCALINGS``.
    show
        Epsilons in the Markdown table.
    kind
        ``"curves"`` draws a figure and prints a table, ``"table"`` prints only.
    axis
        ``"epsilon"``, ``"lambda"`` or ``"size"``: what runs along a table's columns and a figure's axis.
    sizes
        How many records are drawn for training; None keeps the data set's own training part, or 80 per cent.
    optimum
        Whether every loss and adjacency gets its optimum without privacy beside it.
    measure
        What is measured on the test part.
    published
        The printed figures, to stand beside the measured ones.
    uncovered
        What the figure could also hold and why it does not.
    """

    name: str
    title: str
    source: str
    datasets: tuple[str, ...]
    series: tuple[Series, ...]
    notions: tuple[Notion, ...]
    epsilons: tuple[float, ...]
    rules: tuple[Rule, ...] = (PUBLIC,)
    repeats: int = 60
    scaling: str = "public"
    show: tuple[float, ...] = ()
    kind: str = "curves"
    axis: str = "epsilon"
    tuning: Tuning = Tuning()
    uncovered: tuple[str, ...] = ()
    sizes: tuple[int | None, ...] = (None,)
    optimum: bool = True
    measure: str = "test AUC"
    published: tuple[Published, ...] = ()

    def cells(self, dataset: str) -> Iterator[Cell]:
        """Expand to the cells of one data set."""
        for size in self.sizes:
            for series in dict.fromkeys(s.baseline() for s in self.series if self.optimum):
                for rule in self.rules:
                    yield self.cell(dataset, series, PURE, math.inf, rule, size)
            for series in self.series:
                for notion, epsilons in self._budgets(series):
                    for rule in self.rules_of(series):
                        for epsilon in epsilons:
                            yield self.cell(dataset, series, notion, epsilon, rule, size)

    def cell(
        self, dataset: str, series: Series, notion: Notion, epsilon: float, rule: Rule, size: int | None = None
    ) -> Cell:
        """Return one cell."""
        return Cell(dataset, self.scaling, series, notion, epsilon, rule, self.repeats, self.tuning, size)

    def rules_of(self, series: Series) -> tuple[Rule, ...]:
        """Return how lambda is chosen for a series: as its own setting says, else by the entry's rules."""
        return self.rules if series.regularization is None else (Rule("fixed", series.regularization),)

    def _budgets(self, series: Series) -> Iterator[tuple[Notion, tuple[float, ...]]]:
        if not series.private:
            yield PURE, (math.inf,)
            return
        for notion in self.notions:
            if notion in (series.notions or self.notions):
                yield notion, self.epsilons
