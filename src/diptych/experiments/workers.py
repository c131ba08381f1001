"""Worker processes: each single-threaded, holding the tables of one data set at a time.

Spawned, not forked. One worker means the calling process itself, under the same single thread, so that
results agree to the last digit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from diptych.experiments.protocol import Cell
from diptych.experiments.readers import DataError, Source
from diptych.experiments.trainer import Outcome, Trainer
from diptych.experiments.workbench import Workbench

R = TypeVar("R")
W = TypeVar("W")

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ROOMS = ("spec", "losses", "sets", "kernels", "risks", "noise", "accounting", "algorithms")
MODULES = ("descents", "protocol", "readers", "scaling", "series", "trainer", "workbench")


class WorkerError(RuntimeError):
    """A worker process died; what was finished is kept."""


@dataclass(frozen=True)
class Task:
    """What a worker needs to know: files, settings, and lambda where cross-validation chose it."""

    source: Source
    cell: Cell
    regularization: float | None = None

    @property
    def shared(self) -> Hashable:
        """What one worker should compute for several tasks."""
        return self.cell.trajectory


@lru_cache(maxsize=2)
def trainer(source: Source, scaling: str) -> Trainer:
    """Return this process's trainer for a data set."""
    return Trainer(Workbench(source, scaling))


def train(task: Task) -> Outcome:
    """Train the cell of a task."""
    return trainer(task.source, task.cell.scaling).run(task.cell, task.regularization)


def tune(task: Task) -> float:
    """Cross-validate lambda for the cell of a task."""
    return trainer(task.source, task.cell.scaling).tune(task.cell)


def results(work: Callable[[W], R], tasks: Sequence[W], jobs: int) -> Iterator[tuple[int, R]]:
    """Yield the number and result of each task as it finishes."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1; got {jobs}.")
    with single_threaded():
        if jobs == 1 or len(tasks) < 2:
            yield from ((number, work(task)) for number, task in enumerate(tasks))
            trainer.cache_clear()
        else:
            yield from _pooled(work, tasks, jobs)


def _pooled(work: Callable[[W], R], tasks: Sequence[W], jobs: int) -> Iterator[tuple[int, R]]:
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))
    try:
        futures: dict[Future[list[R]], list[int]] = {
            pool.submit(_each, work, [tasks[k] for k in group]): group for group in _groups(tasks)
        }
        for future in as_completed(futures):
            yield from zip(futures[future], future.result(), strict=True)
    except DataError as refusal:
        raise DataError(str(refusal)) from refusal  # from here, so that its text is known to be ours
    except BrokenProcessPool as error:
        raise WorkerError(
            "A worker process died (out of memory?). Finished cells are kept: run the same command again to go on, "
            "with jobs=1 if memory is short."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _each(work: Callable[[W], R], tasks: Sequence[W]) -> list[R]:
    return [work(task) for task in tasks]


def _groups(tasks: Sequence[object]) -> Iterable[list[int]]:
    """Return numbers of tasks: together what shares a costly computation, everything else alone."""
    groups: dict[object, list[int]] = {}
    for number, task in enumerate(tasks):
        shared = getattr(task, "shared", None)
        groups.setdefault(number if shared is None else shared, []).append(number)
    return groups.values()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let this process, and those it starts, compute in one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of the code that results depend on, so that results of other code are not mixed in."""
    here = Path(__file__).parent
    files = [path for room in ROOMS for path in sorted((here.parent / room).rglob("*.py"))]
    files += [here / f"{name}.py" for name in MODULES]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
