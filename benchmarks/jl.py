"""Peak memory and time of ``jl`` on a sparse table: 10,000 records of 100,000 features.

Each line is measured in a process of its own: the highest resident memory while it fits, less that just before, which
holds the table, the library and its compiled loops (a fit of a small table comes first).

    .venv/bin/python benchmarks/jl.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from diptych import JL, Bounds, GLMClassifier

RECORDS, FEATURES = 10_000, 100_000
LINES = [  # loss, dimension, map, entries a record
    ("logistic", "auto", "rademacher", 100),
    ("logistic", "auto", "gaussian", 100),
    ("logistic", "auto", "sparse", 100),
    ("logistic", 1000, "rademacher", 100),
    ("logistic", 1000, "sparse", 100),
    ("hinge", "auto", "rademacher", 100),
    ("logistic", "auto", "rademacher", 1000),
]
PAGE = 4096


def table(records: int, entries: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    columns = rng.integers(FEATURES, size=records * entries, dtype=np.int32)
    edges = np.arange(records + 1, dtype=np.int32) * entries
    X = sparse.csr_matrix((rng.random(records * entries), columns, edges), (records, FEATURES))
    X.sum_duplicates()
    return X, np.arange(records) % 2


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def watch(peak: list[int], stop: threading.Event) -> None:
    while not stop.is_set():
        peak[0] = max(peak[0], resident())
        time.sleep(0.002)


def measure(loss: str, dimension: int | str, kind: str, entries: int) -> None:
    model = GLMClassifier(1.0, 1e-8, algorithm=JL(dimension, kind), loss=loss, bounds=Bounds(norm=4.0), classes=(0, 1))
    model.fit(*table(50, entries))
    X, y = table(RECORDS, entries)
    before = resident()
    peak, stop = [before], threading.Event()
    watcher = threading.Thread(target=watch, args=(peak, stop))
    watcher.start()
    start = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - start
    stop.set()
    watcher.join()
    held = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    beyond = (peak[0] - before) / 2**20
    print(json.dumps([model.release_.trace["dimension"], held, beyond, taken]))


def main() -> None:
    print("| loss | map | dimensions | entries a record | input, MB | peak beyond it, MB | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for line in LINES:
        done = subprocess.run(
            [sys.executable, __file__, json.dumps(line)], check=True, capture_output=True, text=True
        ).stdout
        kept, held, beyond, taken = json.loads(done)
        loss, _, kind, entries = line
        print(f"| {loss} | {kind} | {kept} | {entries} | {held:.0f} | {beyond:.0f} | {taken:.1f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*json.loads(sys.argv[1]))
    else:
        main()
