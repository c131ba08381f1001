"""Running a compiled loop on chunks of records in a few threads.

Chunks are fixed by their number alone, so results are deterministic for a given thread count. Threads
live for one call: nothing global, nothing that a fork could break.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

SERIAL_BELOW = 100_000
SLICES = 8


def thread_count(n: int) -> int:
    """Return the number of threads that pay for n records: OMP_NUM_THREADS if set, else the cores we may use."""
    if n < SERIAL_BELOW:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_chunks(work: Callable[[slice], T], n: int) -> list[T]:
    """Call ``work`` on consecutive slices of range(n), in parallel where it pays, and keep their order.

    A few slices a thread, so that one that has to share its core holds nobody up.
    """
    slices = thread_count(n) * SLICES if thread_count(n) > 1 else 1
    edges = [n * k // slices for k in range(slices + 1)]
    return together([partial(work, slice(a, b)) for a, b in pairwise(edges)], n)


def together(jobs: Sequence[Callable[[], T]], n: int) -> list[T]:
    """Call jobs that each handle some of n records, side by side where it pays; return what they return, in order.

    The calling thread takes its share, so that two threads cost the start of one.
    """
    waiting = iter(enumerate(jobs))
    done: dict[int, T] = {}
    failures: list[BaseException] = []

    def work() -> None:
        for k, job in waiting:  # taking the next one is atomic
            try:
                done[k] = job()
            except BaseException as failure:  # handed to the caller below
                failures.append(failure)
                return

    helpers = [Thread(target=work) for _ in range(min(thread_count(n), len(jobs)) - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
    return [done[k] for k in range(len(jobs))]
