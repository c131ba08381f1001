"""Test AUC of the private model beside the non-private one and the paper's constants, on real data.

Prints the table of docs/results/accuracy.md. Public scaling: per-feature mean and standard deviation taken as public,
values clipped at 3, rows divided by 0.5 sqrt(d) and clipped to the unit ball. Published test parts where there are
any (repeats over noise), else random 80/20 splits.
Usage: python benchmarks/accuracy.py DATA_FOLDER
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from diptych import AUCClassifier, Bounds
from diptych.experiments.scaling import public_scaler

EPSILONS = (0.1, 0.5, 1.0, 4.0)
REPEATS = 20
Part = tuple[np.ndarray, np.ndarray]


def load(path: Path) -> Part:
    with np.load(path) as file:
        return file["X"].astype(float), file["y"] == 1


def public_scaling(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = public_scaler(train)
    return scale(train), scale(test)


def splits(folder: Path, name: str) -> Iterator[tuple[Part, Part]]:
    if (folder / f"{name}_train.npz").exists():
        train, test = load(folder / f"{name}_train.npz"), load(folder / f"{name}_test.npz")
        for _ in range(REPEATS):
            yield train, test
        return
    X, y = load(folder / f"{name}.npz")
    for repeat in range(REPEATS):
        order = np.random.default_rng(repeat).permutation(len(y))
        cut = len(y) * 4 // 5
        yield (X[order[:cut]], y[order[:cut]]), (X[order[cut:]], y[order[cut:]])


def cell(scores: list[float]) -> str:
    return f"{np.mean(scores):.3f} ± {np.std(scores) / math.sqrt(len(scores)):.3f}"


SETTINGS = {
    "labels private": {},
    "labels public": {"adjacency": "replace-within-class"},
    "labels public, paper's constants": {"adjacency": "replace-within-class", "constants": "paper"},
}


def main(folder: Path) -> None:
    print("| data | setting | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " | without privacy |")
    print("| --- | --- |" + " --- |" * (len(EPSILONS) + 1))
    for name in ("ijcnn1", "a9a", "satimage", "diabetic_retinopathy", "german_credit", "pima"):
        tables = [(public_scaling(a[0], b[0]), a[1], b[1]) for a, b in splits(folder, name)]

        def run(epsilon: float, settings: dict[str, str], tables: list = tables) -> list[float]:
            model = AUCClassifier(epsilon, bounds=Bounds(norm=1.0), classes=(False, True), **settings)
            return [model.fit(X, y).score(Z, t) for (X, Z), y, t in tables]

        exact = cell(run(math.inf, {}))
        for label, settings in SETTINGS.items():
            row = " | ".join(cell(run(epsilon, settings)) for epsilon in EPSILONS)
            print(f"| {name} | {label} | {row} | {exact} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
