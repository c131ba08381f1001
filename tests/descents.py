"""What the tests of the descending algorithms share: risks of both kinds with tables to match."""

from __future__ import annotations

from typing import Any

import numpy as np

from diptych import Adjacency, Budget
from diptych.algorithms import EpochGD, GDOutput, NoisyGD, OnlineOutput, SGDOutput
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.spec import TableSize

REPLACE, WITHIN = Adjacency.REPLACE, Adjacency.REPLACE_WITHIN_CLASS
ALGORITHMS = [GDOutput(), NoisyGD(), EpochGD(), OnlineOutput(), SGDOutput()]
APPROXIMATE = Budget(1.0, 1e-3)


def name_of(value: Any) -> str:
    """An id for a parameter: an algorithm's name, a risk with its set, else what it prints as."""
    if isinstance(value, RankingRisk | MetricRisk):
        kind = "ranking" if isinstance(value, RankingRisk) else "metric"
        return f"{kind}-{value.loss}-{value.regularization}-{value.constraint}-{value.adjacency}"
    return str(getattr(value, "name", value))


def table_for(risk: Any, n: int, d: int = 2, seed: int = 0, codes: np.ndarray | None = None) -> Any:
    """A table for the risk, rows in the unit ball and shifted by class: a third positive, or three classes."""
    rng = np.random.default_rng(seed)
    third = np.arange(n) % 3
    ranking = isinstance(risk, RankingRisk)
    labels = codes if codes is not None else (third == 0).astype(int) if ranking else third
    X = rng.normal(size=(n, d)) + labels[:, None]
    X /= np.linalg.norm(X, axis=1).max()
    return PairTable(X, labels == 1) if ranking else MetricTable(X, labels)


def size_for(risk: Any, n: int, positives: int) -> TableSize:
    """The public size of a table of n records."""
    public = isinstance(risk, RankingRisk) and risk.adjacency is WITHIN
    return TableSize(n, positives if public else None)
