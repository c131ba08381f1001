"""One way to train, and under which notion of privacy: what a line in a figure stands for. No data, no computing."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from diptych.losses import Hinge, Logistic, Loss, SmoothedHinge, Squared
from diptych.risks import MetricRisk, RankingRisk
from diptych.sets import Free, L2Ball, PSDFrobeniusBall, PSDTraceBall
from diptych.spec import Adjacency, Budget

LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "shifted-logistic": Logistic(margin=1.0, temperature=0.5),
    "squared": Squared(),
    "hinge": Hinge(),
    "smoothed-hinge": SmoothedHinge(margin=1.0, temperature=0.5),
}
WITHIN = Adjacency.REPLACE_WITHIN_CLASS
OUTPUT, OBJECTIVE, EXACT = "output-perturbation", "objective-perturbation", "non-private"
DIRECTIONS, EUCLIDEAN = "directions", "euclidean"
GD, NOISY, EPOCHS, ONLINE, SGD = "gd-output", "noisy-gd", "epoch-gd", "online-output", "sgd-output"
NOISY_SGD = "dp-sgd"
BALLS: dict[str, type[PSDFrobeniusBall | PSDTraceBall]] = {"frobenius": PSDFrobeniusBall, "trace": PSDTraceBall}
RANKING, METRIC = "ranking", "metric"


@dataclass(frozen=True)
class Notion:
    """A notion of privacy: delta = 0, or delta = 1/n^power with the public n."""

    name: str
    pure: bool
    power: float = field(default=2.0, repr=False)

    def budget(self, epsilon: float, n: int) -> Budget:
        """Return the budget for a table of n records."""
        return Budget(epsilon, 0.0 if self.pure else 1.0 / float(n) ** self.power)


PURE = Notion("ε-DP", pure=True)
APPROXIMATE = Notion("(ε, 1/n²)-DP", pure=False)
APPROXIMATE_N = Notion("(ε, 1/n)-DP", pure=False, power=1.0)
NOTIONS = {notion.name: notion for notion in (PURE, APPROXIMATE, APPROXIMATE_N)}


@dataclass(frozen=True)
class Series:
    """One way to train.

    Attributes
    ----------
    algorithm, loss, constants, adjacency, radius
        By name; no radius means all of space (for a metric, 1).
    task
        ``"ranking"`` or ``"metric"``.
    line
        What the paper calls it, and so do tables; lines of one name and adjacency share a row.
    regularization
        Lambda, where it is a part of the published setting and no rule chooses it.
    how
        The algorithm with its settings; None means its defaults.
    notions
        Under which it runs; none named means all of the experiment.
    private
        False: run once without noise, beside all notions and epsilons.
    constraint, offset
        Of a metric: which norm the radius bounds, and the squared distance that separates near from far.
    """

    algorithm: str
    loss: str
    constants: str = "defended"
    adjacency: Adjacency = WITHIN
    radius: float | None = None
    task: str = field(default=RANKING, repr=False)
    line: str = field(default="", repr=False)
    regularization: float | None = field(default=None, repr=False)
    how: Any = field(default=None, repr=False)
    notions: tuple[Notion, ...] = field(default=(), repr=False)
    private: bool = field(default=True, repr=False)
    constraint: str = field(default="frobenius", repr=False)
    offset: float = field(default=1.0, repr=False)

    @property
    def further(self) -> str:
        """The settings that ``repr`` leaves out, where they are not the defaults: seeds of older entries stay."""
        extra = [one for one in fields(self) if not one.repr and getattr(self, one.name) != one.default]
        return "".join(f", {one.name}={getattr(self, one.name)!r}" for one in extra)

    def risk(self, regularization: float) -> RankingRisk:
        """Return the ranking risk that it minimises on rows in the unit ball."""
        constraint = Free() if self.radius is None else L2Ball(self.radius)
        return RankingRisk(LOSSES[self.loss], regularization, constraint, self.adjacency)

    def metric_risk(self, regularization: float) -> MetricRisk:
        """Return the risk of a metric that it minimises on rows in the unit ball."""
        held = BALLS[self.constraint](self.radius or 1.0)
        return MetricRisk(LOSSES[self.loss], regularization, held, self.adjacency, offset=self.offset)

    @property
    def label(self) -> str:
        """Its name in a legend."""
        if self.line:
            return f"{self.line}, {self.constants}" if self.published else self.line
        loss = self.loss.replace("-", " ")
        if self.algorithm == EXACT:
            return f"{loss}, without privacy"
        ball = "" if self.radius is None else f", ball of radius {self.radius:g}"
        return f"{loss}, {self.algorithm.split('-', maxsplit=1)[0]}, {self.constants}{ball}"

    @property
    def published(self) -> bool:
        """Whether it is a private line of a paper, which runs with several constants."""
        return self.private and self.line not in ("", OURS)

    def baseline(self) -> Series:
        """Return the same risk without privacy."""
        return replace(self, algorithm=EXACT, constants="defended", radius=None)


OURS = "ours"
