"""Speed and memory as ratios, interleaved in one process: the figures of docs/results/speed.md.

Usage: python benchmarks/speed.py [records, by default 1000000]
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from diptych import Adjacency, AUCClassifier, Bounds, Hinge, Logistic, SmoothedHinge, Squared, SquaredHinge
from diptych.algorithms import ALGORITHMS
from diptych.risks import PairTable, RankingRisk

FEATURES = 50
REPEATS = 7
LOSSES = (Logistic(), Squared(), Hinge(), SquaredHinge(), SmoothedHinge())


def unit_ball_rows(n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows in the unit ball, positives shifted."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < share
    X = rng.normal(size=(n, FEATURES))
    X[y] += 0.4 * rng.normal(size=FEATURES)
    X /= np.linalg.norm(X, axis=1).max()
    return X, y


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Minimum seconds of each job, run in turn after a warm-up."""
    best = dict.fromkeys(jobs, math.inf)
    for repeat in range(repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if repeat:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_vectors(job: Callable[[], object], n: int) -> float:
    """Peak memory that a job allocates, in vectors of n doubles."""
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (8 * n)


def gradients(n: int) -> None:
    print("\n| positives | loss | gradient / (Xw and X'g) | value | Hessian product | peak memory, vectors of n |")
    print("| --- | --- | --- | --- | --- | --- |")
    for share in (0.01, 0.5):
        X, y = unit_ball_rows(n, share)
        table, rng = PairTable(X, y), np.random.default_rng(1)
        w, g = 20 * rng.normal(size=FEATURES) / math.sqrt(FEATURES), rng.normal(size=n)
        for loss in LOSSES:
            risk = RankingRisk(loss)
            here = risk.at(w, table)
            jobs = {
                "floor": lambda X=X, g=g, w=w: (X @ w, X.T @ g),
                "gradient": lambda risk=risk, table=table, w=w: risk.gradient(w, table),
                "value": lambda risk=risk, table=table, w=w: risk.value(w, table),
            }
            if loss.differentiable:
                jobs["product"] = lambda here=here, w=w: here.hessian_product(w)
            seconds = interleaved(jobs)
            floor = seconds["floor"]
            product = f"{seconds['product'] / floor:.2f}" if "product" in seconds else "none"
            peak = peak_vectors(jobs["gradient"], n)
            print(
                f"| {share:.0%} | {loss.name} | {seconds['gradient'] / floor:.2f} | {seconds['value'] / floor:.2f} | "
                f"{product} | {peak:.1f} |"
            )


def fits(n: int) -> None:
    X, y = unit_ball_rows(n, 0.01)
    lam = 1e-4
    common = {"bounds": Bounds(norm=1.0), "classes": (False, True), "regularization": lam}
    common |= {"adjacency": "replace-within-class"}
    exact = AUCClassifier(math.inf, **common)
    private = {
        f"{name}, {notion}": AUCClassifier(1.0, delta, algorithm=name, **common)
        for name in ALGORITHMS
        for notion, delta in (("delta = 1/n^2", "auto"), ("delta = 0", 0))
    }
    peer = LogisticRegression(C=1 / (n * lam))
    jobs = {name: lambda model=model: model.fit(X, y) for name, model in private.items()}
    seconds = interleaved({"peer": lambda: peer.fit(X, y), "exact": lambda: exact.fit(X, y)} | jobs, repeats=5)
    risk = replace(RankingRisk(Logistic(), lam), adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    norm = np.linalg.norm(risk.gradient(exact.release_.coef, PairTable(X, y)))
    print(f"\nFit, logistic, lambda = {lam:g}, 1 % positives:")
    print(f"- scikit-learn's LogisticRegression, default tolerance: {seconds['peer']:.2f} s")
    print(
        f"- AUCClassifier without privacy: {seconds['exact'] / seconds['peer']:.2f} of that, gradient norm {norm:.1e}"
    )
    for name in private:
        print(f"- AUCClassifier, {name}: {seconds[name] / seconds['exact']:.2f} of the non-private fit")
    print(f"- memory of a non-private fit beyond X: {peak_vectors(lambda: exact.fit(X, y), n):.1f} vectors of n")


def importing() -> None:
    code = "import time; t = time.perf_counter(); import diptych{}; print(time.perf_counter() - t)"
    bare, full = (
        min(float(subprocess.run([sys.executable, "-c", code.format(x)], capture_output=True, check=True).stdout)
            for _ in range(5))
        for x in ("", "; diptych.AUCClassifier")
    )  # fmt: skip
    print(f"\n`import diptych`: {bare:.3f} s; with the first use of `AUCClassifier`: {full:.2f} s.")


if __name__ == "__main__":
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"n = {records}, d = {FEATURES}, {os.cpu_count()} cores, minimum of {REPEATS} interleaved repeats, warm.")
    gradients(records)
    fits(records)
    importing()
