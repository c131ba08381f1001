"""What choosing privately costs: a private grid search beside the best candidate in hindsight, at the same epsilon.

Run as ``python benchmarks/selection.py FOLDER [repeats]``, FOLDER that of the data sets: published train and test
parts of a9a and IJCNN, public scaling, epsilon 1, delta 1/n^2, 20 candidates. A line is the mean test AUC over
repeats (noise and split), with its standard error, and what is missing to the hindsight: the candidate of the best mean
test AUC, trained on all training records with the whole budget.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid

from diptych import AUCClassifier, Bounds, GLMClassifier, OutputPerturbation, PrivateGridSearch
from diptych.experiments.readers import find_sources
from diptych.experiments.scaling import public_scaler

EPSILON, BALL = 1.0, Bounds(norm=1.0)
GRIDS: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "GLMClassifier, noisy-gd: radius x intercept_scaling": (
        GLMClassifier(bounds=BALL),
        {"radius": [0.5, 2.0, 4.0, 8.0, 16.0], "intercept_scaling": [0.1, 0.3, 1.0, 3.0]},
    ),
    "AUCClassifier, noisy-gd: radius x loss": (
        AUCClassifier(algorithm="noisy-gd", bounds=BALL),
        {"radius": [0.5, 2.0, 4.0, 8.0, 16.0], "loss": ["logistic", "hinge", "squared-hinge", "smoothed-hinge"]},
    ),
    "AUCClassifier, output perturbation with Gaussian noise: regularization": (
        AUCClassifier(algorithm=OutputPerturbation("gaussian"), bounds=BALL),
        {"regularization": [float(f"{lam:.2g}") for lam in np.geomspace(1e-4, 10.0, 20)]},
    ),
    "AUCClassifier, auto (objective perturbation): regularization": (
        AUCClassifier(bounds=BALL),
        {"regularization": [float(f"{lam:.2g}") for lam in np.geomspace(1e-4, 10.0, 20)]},
    ),
}
SEARCHES: dict[str, dict[str, Any]] = {
    "random trials (auto)": {},
    "random trials, validation 0.1": {"validation": 0.1},
    "random trials, exponential": {"selection": "exponential"},
    "all on the same records": {"trials": "all"},
    "each on records of its own": {"trials": "parts"},
}


def repeated(fit: Callable[[int], Any], test: tuple[Any, Any], repeats: int) -> np.ndarray:
    """Return the test AUC of so many fits."""
    return np.array([roc_auc_score(test[1], fit(seed).decision_function(test[0])) for seed in range(repeats)])


def compare(name: str, grid: str, folder: Path, repeats: int) -> None:
    """Print the lines of one data set and grid."""
    train, test = find_sources(folder, [name])[name].read()
    assert test is not None
    scale = public_scaler(train[0])
    X, y = scale(train[0]), train[1]
    held = scale(test[0]), test[1]
    estimator, settings = GRIDS[grid]
    delta = 1.0 / len(y) ** 2

    def candidate(one: dict[str, Any]) -> Callable[[int], Any]:
        return lambda seed: (
            clone(estimator).set_params(epsilon=EPSILON, delta=delta, random_state=seed, **one).fit(X, y)
        )

    each = [repeated(candidate(one), held, repeats) for one in ParameterGrid(settings)]
    means = np.array([aucs.mean() for aucs in each])
    best = each[int(means.argmax())]
    print(f"\n{name}, n = {len(y)}; {grid}; {repeats} repeats")
    print(f"{'hindsight':34s} {best.mean():.4f} +- {best.std(ddof=1) / repeats**0.5:.4f}")
    print(f"{'candidates, from worst to best':34s} {' '.join(f'{mean:.3f}' for mean in np.sort(means))}")
    for words, how in SEARCHES.items():

        def search(seed: int, how: dict[str, Any] = how) -> Any:
            return PrivateGridSearch(estimator, settings, scoring="auc", random_state=1000 + seed, **how).fit(X, y)

        aucs = repeated(search, held, repeats)
        short = best.mean() - aucs.mean()
        error = np.hypot(aucs.std(ddof=1), best.std(ddof=1)) / repeats**0.5
        print(
            f"{words:34s} {aucs.mean():.4f} +- {aucs.std(ddof=1) / repeats**0.5:.4f}  "
            f"short by {short:.4f} +- {error:.4f}"
        )


def main() -> None:
    folder, repeats = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for name in ("a9a", "ijcnn1"):
        for grid in GRIDS:
            compare(name, grid, folder, repeats)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
