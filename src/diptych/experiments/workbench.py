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
NEIGHBOURS = 3


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
        self._splits: dict[tuple[int, int | None], Split] = {}

    def split(self, repeat: int, size: int | None = None) -> Split:
        """Return the published parts, or the random split of that repeat (stratified: labels stay as rare).

        With a ``size``, that many records of the training part are drawn, and all others are for testing.
        """
        if size is not None:
            return self._draw(repeat, size)
        number = 0 if self._test is not None else repeat % (self.source.splits or repeat + 1)
        if (number, None) not in self._splits:
            self._splits[number, None] = self._make(number)
        return self._splits[number, None]

    def _draw(self, number: int, size: int) -> Split:
        """The smaller of two draws of one number is a part of the larger."""
        X, y = self._train
        if not 0 < size < len(y):
            raise ValueError(f"{self.source.name} has {len(y)} records: {size} for training leave none for testing.")
        if (number, size) not in self._splits:
            order = np.random.default_rng(number).permutation(len(y))
            train, test = order[:size], order[size:]
            scale = self._scaling(X[train])
            split = Split(
                f"split {number} of {size}", PairTable(scale(X[train]), y[train]), PairTable(scale(X[test]), y[test])
            )
            self._splits[number, size] = split
        return self._splits[number, size]

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


def neighbour_accuracy(components: Array, train: PairTable, test: PairTable) -> float:
    """Share of test records that most of their three nearest training records agree with, in rows times components.

    Of records equally near the first count.
    """
    known, new = train.X @ components, test.X @ components
    distances = np.square(known).sum(axis=1) - 2.0 * (new @ known.T)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
    votes = train.positive[nearest].sum(axis=1) * 2 > nearest.shape[1]
    return float(np.mean(votes == test.positive))
