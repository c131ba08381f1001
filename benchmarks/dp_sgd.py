"""Steps of dp-sgd a second, its own sampling and noise included; beside jax-privacy's own loop in the same run.

Run as ``python benchmarks/dp_sgd.py [rows] [python of an environment that holds jax-privacy]``: batches of 256 records,
50 features, logistic loss, on points and on all pairs of a batch; the fastest of several repeats, interleaved. The peer
runs in an environment of its own (``python -m venv peers && peers/bin/pip install jax jax-privacy``).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

BATCH, FEATURES, STEPS, REPEATS = 256, 50, 4000, 4

PEER = """
import sys, time, numpy as np, jax, jax.numpy as jnp, jax_privacy as jp
from jax_privacy import batch_selection as bs, noise_addition as na
n, m, d, steps = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d)).astype(np.float32) / 10
y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.float32)
loss = lambda w, x, t: jnp.mean(jax.nn.softplus(-t * (x @ w)))
gradient = jp.clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
noise = na.gaussian_privatizer(stddev=1.0, prng_key=0)
w = jnp.zeros(d)
state = noise.init(w)
@jax.jit
def step(w, state, x, t):
    g, state = noise.update(gradient(w, x, t), state)
    return w - g / m, state
for size in (m, m + 64, m + 128):
    w, state = step(w, state, X[:size], y[:size])
w.block_until_ready()
print("ready", flush=True)
for _ in sys.stdin:
    batches = bs.CyclicPoissonSampling(m / n, steps).batch_iterator(n, 1)
    start = time.perf_counter()
    for rows in batches:
        rows = bs.pad_to_multiple_of(rows, 64)
        w, state = step(w, state, X[rows] * (rows >= 0).astype(np.float32)[:, None], y[rows])
    w.block_until_ready()
    print(steps / (time.perf_counter() - start), flush=True)
"""


def peer(python: str, n: int) -> Callable[[], float]:
    """Start the peer; return what asks it for a repeat."""
    command = [python, "-W", "ignore", "-c", PEER, str(n), str(BATCH), str(FEATURES), str(STEPS // 10)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        sys.exit(f"{python} does not run jax-privacy; install jax and jax-privacy there.")

    def ask() -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    return ask


def ours(n: int) -> dict[str, Callable[[], float]]:
    """Return what times a run of each kind, secure bits, planning not included."""
    from diptych import Budget, Logistic
    from diptych.algorithms import DPSGD
    from diptych.algorithms.batch_descent import descend_on_batches
    from diptych.noise import SecureBits
    from diptych.risks import PairTable, PointRisk, PointTable, RankingRisk

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, FEATURES)) / 10
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problems = {
        "points": (PointRisk(Logistic()), PointTable(X, y)),
        "all pairs": (RankingRisk(Logistic()), PairTable(X, y > 0)),
    }

    def timed(risk: object, table: object, sampling: str) -> Callable[[], float]:
        algorithm = DPSGD(BATCH, sampling, STEPS, 0.1)
        plan = algorithm.plan(risk, table.size(risk.adjacency), FEATURES, Budget(1.0, 1.0 / n**2))

        def run() -> float:
            start = time.perf_counter()
            descend_on_batches(plan, table, SecureBits(), 0, STEPS)
            return STEPS / (time.perf_counter() - start)

        return run

    return {
        f"diptych, {what}, {sampling}": timed(*problem, sampling)
        for what, problem in problems.items()
        for sampling in ("uniform", "poisson")
    }


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    runs = ours(n)
    if len(sys.argv) > 2:
        runs["jax-privacy, points, poisson (float32)"] = peer(sys.argv[2], n)
    best: dict[str, float] = dict.fromkeys(runs, 0.0)
    for repeat in range(REPEATS + 1):
        for name, run in runs.items():
            speed = run()
            best[name] = max(best[name], speed) if repeat else 0.0
    print(f"steps a second, batches of {BATCH}, {FEATURES} features, n = {n}, best of {REPEATS}:")
    for name, speed in best.items():
        print(f"{name:42s} {speed:10.0f}")


if __name__ == "__main__":
    main()
