"""The tables of one data set, scaled once: splits into training and test parts, and folds for cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.experiments.readers import Array, Mask, Part, Source
from diptych.experiments.scaling import SCALINGS
from diptych.risks import PairTable

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Split:
    """A training and a test table in the unit ball, under a name that no other part of the data set has."""

    name: str
    train: PairTable
    test: PairTable


class Workbench:
    """All tables of one data set that an experiment needs, made when first asked for."""

    def __init__(self, source: Source, scaling: str) -> None:
        self.source, self._scaling = source, SCALINGS[scaling]
        self._train, self._test = source.read()
        self._splits: dict[int, Split] = {}

    def split(self, repeat: int) -> Split:
        """Return the published parts, or the random split of that repeat (stratified: labels stay as rare)."""
        number = 0 if self._test is not None else repeat % (self.source.splits or repeat + 1)
        if number not in self._splits:
            self._splits[number] = self._make(number)
        return self._splits[number]

    def _make(self, number: int) -> Split:
        train, test = self._train, self._test
        if test is None:
            X, y = train
            held = in_fold(y, round(1.0 / TEST_SHARE), seed=number) == 0
            train, test = (X[~held], y[~held]), (X[held], y[held])
        scale = self._scaling(train[0])
        return Split(f"split {number}", _table(scale(train[0]), train), _table(scale(test[0]), test))

    def folds(self, count: int) -> Iterator[Split]:
        """Cut the training part of the first split into stratified folds; each is held out once."""
        table = self.split(0).train
        parts = in_fold(table.positive, count, seed=count)
        for k in range(count):
            held = parts == k
            yield Split(f"fold {k} of {count}", _rows(table, ~held), _rows(table, held))


def in_fold(y: Mask, count: int, seed: int) -> NDArray[np.intp]:
    """Deal the records of each class at random, evenly, into ``count`` folds."""
    rng, folds = np.random.default_rng(seed), np.empty(len(y), dtype=np.intp)
    for mask in (y, ~y):
        members = rng.permutation(np.flatnonzero(mask))
        folds[members] = np.arange(len(members)) % count
    return folds


def _table(scaled: Array, part: Part) -> PairTable:
    return PairTable(scaled, part[1])


def _rows(table: PairTable, mask: Mask) -> PairTable:
    return PairTable(table.X[mask], table.positive[mask])


def auc(scores: Array, positive: Mask) -> float:
    """Area under the ROC curve; a tie counts half."""
    low, high = np.sort(scores[~positive]), np.sort(scores[positive])
    wins = np.searchsorted(low, high, "left").sum() + np.searchsorted(low, high, "right").sum()
    return float(wins) / (2.0 * len(low) * len(high))
