"""What an experiment is: declarative entries, and the cells they expand to. No data, no computing.

A paper is a list of ``Experiment`` entries, one a figure or table. A ``Cell`` is one point of a curve: one data set,
one series, one notion of privacy, one epsilon, one rule for lambda, all its repeats.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from diptych.losses import Logistic, Loss, Squared
from diptych.risks import RankingRisk
from diptych.sets import Free, L2Ball
from diptych.spec import Adjacency, Budget

LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "shifted-logistic": Logistic(margin=1.0, temperature=0.5),
    "squared": Squared(),
}
WITHIN = Adjacency.REPLACE_WITHIN_CLASS
OUTPUT, OBJECTIVE, EXACT = "output-perturbation", "objective-perturbation", "non-private"


@dataclass(frozen=True)
class Notion:
    """A notion of privacy: delta = 0, or delta = 1/n^2 with the public n."""

    name: str
    pure: bool

    def budget(self, epsilon: float, n: int) -> Budget:
        """Return the budget for a table of n records."""
        return Budget(epsilon, 0.0 if self.pure else 1.0 / float(n) ** 2)


PURE = Notion("ε-DP", pure=True)
APPROXIMATE = Notion("(ε, 1/n²)-DP", pure=False)
NOTIONS = {notion.name: notion for notion in (PURE, APPROXIMATE)}


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
class Series:
    """One way to train: what a line in a figure stands for."""

    algorithm: str
    loss: str
    constants: str = "defended"
    adjacency: Adjacency = WITHIN
    radius: float | None = None

    def risk(self, regularization: float) -> RankingRisk:
        """Return the risk that it minimises on rows in the unit ball."""
        constraint = Free() if self.radius is None else L2Ball(self.radius)
        return RankingRisk(LOSSES[self.loss], regularization, constraint, self.adjacency)

    @property
    def label(self) -> str:
        """Its name in a legend."""
        loss = self.loss.replace("-", " ")
        if self.algorithm == EXACT:
            return f"{loss}, without privacy"
        ball = "" if self.radius is None else f", ball of radius {self.radius:g}"
        return f"{loss}, {self.algorithm.split('-', maxsplit=1)[0]}, {self.constants}{ball}"

    def baseline(self) -> Series:
        """Return the same risk without privacy."""
        return replace(self, algorithm=EXACT, constants="defended", radius=None)


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

    def seed(self, repeat: int) -> int:
        """Return the seed of one repeat: a function of the settings alone, whatever runs when and where."""
        stream = replace(self, repeats=0, tuning=Tuning())
        digest = hashlib.sha256(f"{stream!r} repeat {repeat}".encode()).digest()
        return int.from_bytes(digest[:7], "big")

    def fingerprint(self, *facts: str) -> str:
        """Return a short digest of these settings and of whatever else the result depends on."""
        tuning = self.tuning if self.rule == CROSS_VALIDATED else None
        return hashlib.sha256(repr((replace(self, tuning=Tuning()), tuning, facts)).encode()).hexdigest()[:16]


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
        The cells are their product; every loss and adjacency gets its optimum without privacy beside it.
    scaling
        How rows get into the unit ball: a name in ``scaling.SCALINGS``.
    show
        Epsilons in the Markdown table.
    kind
        ``"curves"`` draws a figure and prints a table, ``"table"`` prints only.
    axis
        ``"epsilon"`` or ``"lambda"``: what runs along a table's columns and a figure's axis.
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

    def cells(self, dataset: str) -> Iterator[Cell]:
        """Expand to the cells of one data set."""
        for series in dict.fromkeys(s.baseline() for s in self.series):
            for rule in self.rules:
                yield Cell(dataset, self.scaling, series, PURE, math.inf, rule, self.repeats, self.tuning)
        for series in self.series:
            for notion in self.notions:
                for rule in self.rules:
                    for epsilon in self.epsilons:
                        yield Cell(dataset, self.scaling, series, notion, epsilon, rule, self.repeats, self.tuning)
