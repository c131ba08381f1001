"""Accuracy of three nearest neighbours in learned metrics: ours beside metric-learn's, and private ones.

Prints the tables of docs/results/metrics.md. Same splits for all, features standardised on the training part; the
private metrics get public scaling as in ``accuracy.py``. metric-learn 0.7.0 needs scikit-learn 1.7: it runs in a
virtual environment of its own, made in BUILD (by default build/metric-learn) if it is not there.
Usage: python benchmarks/metrics.py DATA_FOLDER [BUILD]
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from diptych import Bounds, Directions, Logistic, MetricLearner, NoisyGD
from diptych.experiments.scaling import public_scaler

SPLITS = 20
STORED = ("pima", "diabetic_retinopathy", "german_credit")
EPSILONS = (0.5, 1.0, 4.0)
Array = np.ndarray
Rows = tuple[Array, Array, Array, Array]
Learn = Callable[[Array, Array, int], Callable[[Array], Array]]


def tables(folder: Path) -> Iterator[tuple[str, Array, Array]]:
    for name in STORED:
        with np.load(folder / f"{name}.npz") as file:
            yield name, file["X"].astype(float), (file["y"] > 0).astype(int)
    yield "wine", *load_wine(return_X_y=True)
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)


def interpreter(build: Path) -> Path:
    python = build / "bin" / "python"
    if not python.exists():
        venv.create(build, with_pip=True)
        wanted = ["scikit-learn==1.7.2", "metric-learn==0.7.0"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def peers(python: Path, X: Array, y: Array, parts: list[tuple[Array, Array]]) -> dict[str, list[float]]:
    splits, result = python.parent.parent / "splits.npz", python.parent.parent / "result.json"
    train, test = (np.array(side) for side in zip(*parts, strict=True))
    np.savez(splits, X=X, y=y, train=train, test=test)
    script = Path(__file__).with_name("metric_learn_peers.py")
    subprocess.run([python, script, splits, result], check=True)
    found: dict[str, list[float]] = json.loads(result.read_text(encoding="utf-8"))
    return found


def scaled(scaler: Callable[[Array], Callable[[Array], Array]], X: Array, y: Array, parts: list) -> Iterator[Rows]:
    for train, test in parts:
        scale = scaler(X[train])
        yield scale(X[train]), y[train], scale(X[test]), y[test]


def accuracies(learn: Learn, rows: Iterator[Rows]) -> list[float]:
    scores = []
    for number, (here, y, there, truth) in enumerate(rows):
        transform = learn(here, y, number)
        scores.append(KNeighborsClassifier(3).fit(transform(here), y).score(transform(there), truth))
    return scores


def euclidean(here: Array, y: Array, number: int) -> Callable[[Array], Array]:  # noqa: ARG001
    return lambda X: X


def ours(here: Array, y: Array, number: int) -> Callable[[Array], Array]:  # noqa: ARG001
    """One setting for all tables: 40 long steps from the Euclidean metric, rows of typical length on the sphere."""
    root = math.sqrt(here.shape[1])
    descent = NoisyGD(steps=40, step_size=5.0 * root)
    settings = {"algorithm": descent, "loss": Logistic(0.5, 0.5), "radius": 2.5 * root, "bounds": Bounds(norm=root)}
    return MetricLearner(math.inf, **settings).fit(here, y).transform


def private(epsilon: float, adjacency: str, algorithm: Directions | NoisyGD, delta: float | str = "auto") -> Learn:
    def learn(here: Array, y: Array, number: int) -> Callable[[Array], Array]:
        smooth = "hinge" if delta == "auto" else Logistic(1.0, 0.5)
        settings = {"loss": smooth, "bounds": Bounds(norm=1.0), "classes": np.unique(y), "random_state": number}
        return (
            MetricLearner(epsilon, delta, algorithm=algorithm, adjacency=adjacency, **settings).fit(here, y).transform
        )

    return learn


def standardised(train: Array) -> Callable[[Array], Array]:
    return StandardScaler().fit(train).transform


def mean(scores: list[float]) -> str:
    return f"{np.mean(scores):.4f} ± {np.std(scores, ddof=1) / math.sqrt(len(scores)):.4f}"


def gain(scores: list[float], base: list[float]) -> str:
    apart = np.subtract(scores, base)
    return f"{apart.mean():+.4f} ± {apart.std(ddof=1) / math.sqrt(len(apart)):.4f}"


def without_privacy(python: Path, name: str, X: Array, y: Array, parts: list) -> str:
    plain = accuracies(euclidean, scaled(standardised, X, y, parts))
    learned = accuracies(ours, scaled(standardised, X, y, parts))
    others = peers(python, X, y, parts)
    best = max(others, key=lambda one: float(np.mean(others[one])))
    cells = [mean(plain), mean(learned), *map(mean, others.values()), best]
    return f"| {name} | {' | '.join(cells)} | {gain(learned, others[best])} | {gain(learned, plain)} |"


def with_privacy(name: str, X: Array, y: Array, parts: list) -> Iterator[str]:
    plain = accuracies(euclidean, scaled(public_scaler, X, y, parts))
    lines = {
        "directions": (Directions(), "auto"),
        "directions, stretch 4": (Directions(4.0), "auto"),
        "directions, δ = 0": (Directions(), 0.0),
        "noisy-gd": (NoisyGD(), "auto"),
    }
    for adjacency, labels in (("replace", "private"), ("replace-within-class", "public")):
        for line, (algorithm, delta) in lines.items():
            cells = [
                gain(accuracies(private(e, adjacency, algorithm, delta), scaled(public_scaler, X, y, parts)), plain)
                for e in EPSILONS
            ]
            yield f"| {name} | {labels} | {line} | {mean(plain)} | {' | '.join(cells)} |"


def main(folder: Path, build: Path) -> None:
    python, rows = interpreter(build), []
    heads = "data | Euclidean | ours | NCA | MMC | ITML | LSML | best of theirs | ours less it | ours less Euclidean"
    print(f"| {heads} |\n|{' --- |' * 10}", flush=True)
    for name, X, y in tables(folder):
        parts = list(StratifiedShuffleSplit(SPLITS, test_size=0.2, random_state=0).split(X, y))
        print(without_privacy(python, name, X, y, parts), flush=True)
        rows += with_privacy(name, X, y, parts)  # printed below the first table
    epsilons = " | ".join(f"ε = {e:g}" for e in EPSILONS)
    print(f"\n| data | labels | metric | Euclidean | {epsilons} |\n|{' --- |' * (4 + len(EPSILONS))}")
    print("\n".join(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "build/metric-learn"))
