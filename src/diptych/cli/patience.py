"""A spinner for work that takes longer than two seconds, where somebody is watching."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show what is being waited for on a terminal's standard error, once the wait has become long."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    spinner = Console(stderr=True).status(f"{what} ...")
    timer = threading.Timer(PATIENCE, spinner.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        spinner.stop()
