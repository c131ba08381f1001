"""Train a private ranking model on scikit-learn's breast cancer data and show what privacy costs.

Prints the guarantee and the AUC beside the non-private one, and writes the figure of AUC against epsilon.
Usage: python examples/breast_cancer.py [folder for the figure, by default demo]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from diptych import AUCClassifier, Bounds

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
REPEATS = 30

# What an oncologist could state before seeing a patient: each measurement is at least 0 and at most this.
# (mean, standard error and worst value of: radius, texture, perimeter, area, smoothness, compactness,
# concavity, concave points, symmetry, fractal dimension)
MEAN = (30, 40, 200, 2500, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1)
ERROR = (3, 5, 25, 600, 0.04, 0.15, 0.4, 0.06, 0.1, 0.03)
WORST = (40, 50, 270, 4500, 0.3, 1.2, 1.3, 0.3, 0.7, 0.25)
BOUNDS = Bounds(low=0.0, high=(*MEAN, *ERROR, *WORST))


def auc(epsilon: float, parts: list[np.ndarray], repeats: int, **settings: object) -> tuple[float, float]:
    """Return the mean test AUC and its standard error over fresh noise."""
    train, test, y_train, y_test = parts
    fits = [AUCClassifier(epsilon, bounds=BOUNDS, **settings).fit(train, y_train) for _ in range(repeats)]  # type: ignore[arg-type]
    scores = [fit.score(test, y_test) for fit in fits]
    return float(np.mean(scores)), float(np.std(scores) / math.sqrt(repeats))


def draw(path: Path, exact: float, curves: dict[str, list[tuple[float, float]]]) -> None:
    """Draw AUC against epsilon, one curve an adjacency."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.axhline(exact, color="black", linestyle="--", linewidth=1, label="without privacy")
    for (name, points), marker in zip(curves.items(), "os", strict=True):
        mean, error = np.array(points).T
        axes.errorbar(EPSILONS, mean, yerr=2 * error, marker=marker, capsize=3, label=name)
    axes.set(xscale="log", xlabel="epsilon (delta = 1/n²)", ylabel="test AUC", title="Breast cancer, 426 patients")
    axes.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
    axes.minorticks_off()
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(folder: Path) -> None:
    """Run the demonstration."""
    X, y = load_breast_cancer(return_X_y=True)
    ill = 1 - y  # scikit-learn's 0 is malignant
    parts = train_test_split(X, ill, test_size=0.25, stratify=ill, random_state=0)

    model = AUCClassifier(epsilon=1.0, bounds=BOUNDS, classes=(0, 1)).fit(parts[0], parts[2])
    print(model.guarantee_, end="\n\n")

    exact, _ = auc(math.inf, parts, 1)
    print(f"test AUC of this private model:  {model.score(parts[1], parts[3]):.3f}")
    print(f"test AUC without privacy:        {exact:.3f}\n")

    curves = {
        "private, labels private": [auc(e, parts, REPEATS) for e in EPSILONS],
        "private, labels public": [auc(e, parts, REPEATS, adjacency="replace-within-class") for e in EPSILONS],
    }
    print("epsilon   " + "   ".join(f"{e:>11g}" for e in EPSILONS))
    for name, points in curves.items():
        print(f"{name}\n          " + "   ".join(f"{m:.3f} ± {s:.3f}" for m, s in points))

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "auc_against_epsilon.png"
    draw(path, exact, curves)
    print(f"\nfigure: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
