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

from diptych import (
    Adjacency,
    AUCClassifier,
    Bounds,
    Budget,
    EpochGD,
    Hinge,
    Logistic,
    NoisyGD,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)
from diptych.algorithms import MINIMISING
from diptych.kernels import quadratic
from diptych.kernels.threads import together
from diptych.noise import SeededBits
from diptych.risks import MetricRisk, MetricTable, PairTable, RankingRisk
from diptych.sets import unpack

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
        for name in MINIMISING
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


def metrics(n: int = 10_000) -> None:
    """The gradient of a metric's risk beside the products and slopes that it cannot avoid, in the same blocks."""
    X, y = unit_ball_rows(n, 0.5)
    table = MetricTable(X, y.astype(np.int64))
    rows = table.by_class[0]
    print(f"\nMetric, n = {n}, d = {FEATURES}: gradient / (XWX', one slope a pair and CX, for i < j, in blocks)\n")
    print("| loss | gradient / floor | seconds | peak memory, MB |\n| --- | --- | --- | --- |")
    for loss in (Logistic(), Hinge(), SmoothedHinge()):
        risk = MetricRisk(loss)
        w = risk.start(FEATURES)
        mapped, blocks = rows @ unpack(w), list(quadratic._block_pairs(n))

        def floor(loss=risk.curve, mapped=mapped, blocks=blocks) -> None:
            def work(part: list) -> None:
                for i, j in part:
                    loss.slope(mapped[i] @ rows[j].T) @ rows[j]

            with quadratic.single_threaded_blas():
                together(
                    [lambda part=blocks[k :: quadratic.GROUPS]: work(part) for k in range(quadratic.GROUPS)], n * n
                )

        seconds = interleaved({"floor": floor, "gradient": lambda risk=risk, w=w: risk.gradient(w, table)})
        peak = peak_vectors(lambda risk=risk, w=w: risk.gradient(w, table), n) * 8 * n / 1e6
        ratio = seconds["gradient"] / seconds["floor"]
        print(f"| {loss.name} | {ratio:.2f} | {seconds['gradient']:.2f} | {peak:.0f} |")


def descents(n: int = 100_000) -> None:
    """Seconds a step of the descending algorithms beside two passes over X."""
    X, y = unit_ball_rows(n, 0.01)
    table, budget = PairTable(X, y), Budget(1.0, 1e-10)
    w, g, steps = np.ones(FEATURES), np.ones(n), 200
    print(f"\nAUC, n = {n}, d = {FEATURES}: time a step / (Xw and X'g)\n\n| algorithm | logistic |\n| --- | --- |")
    jobs = {
        "noisy-gd": lambda: NoisyGD(steps=steps).run(RankingRisk(Logistic()), table, budget, SeededBits(0)),
        "epoch-gd": lambda: EpochGD(steps=steps, epochs=1).run(RankingRisk(Logistic()), table, budget, SeededBits(0)),
    }
    seconds = interleaved({"floor": lambda: [(X @ w, X.T @ g) for _ in range(steps)]} | jobs, repeats=3)
    for name in jobs:
        print(f"| {name} | {seconds[name] / seconds['floor']:.2f} |")


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
    descents()
    metrics()
    importing()
