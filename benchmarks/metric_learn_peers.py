"""metric-learn's learners on splits that ``metrics.py`` wrote. Runs in an environment of its own, without diptych.

Usage: python metric_learn_peers.py SPLITS.npz RESULT.json
"""

from __future__ import annotations

import json
import sys
import warnings

import metric_learn
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

LEARNERS = {
    "NCA": lambda: metric_learn.NCA(max_iter=50, random_state=0),
    "MMC": lambda: metric_learn.MMC_Supervised(max_iter=30, max_proj=1000, random_state=0),
    "ITML": lambda: metric_learn.ITML_Supervised(random_state=0),
    "LSML": lambda: metric_learn.LSML_Supervised(random_state=0),
}


def main(splits: str, result: str) -> None:
    warnings.filterwarnings("ignore")  # theirs, on deprecated names and unfinished descents
    accuracies: dict[str, list[float]] = {name: [] for name in LEARNERS}
    with np.load(splits) as file:
        X, y = file["X"], file["y"]
        for train, test in zip(file["train"], file["test"], strict=True):
            mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
            spread[spread == 0] = 1.0
            here, there = (X[train] - mean) / spread, (X[test] - mean) / spread
            for name, make in LEARNERS.items():
                learner = make().fit(here, y[train])
                neighbours = KNeighborsClassifier(3).fit(learner.transform(here), y[train])
                accuracies[name].append(neighbours.score(learner.transform(there), y[test]))
    with open(result, "w", encoding="utf-8") as file:
        json.dump(accuracies, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
