"""What ``auto`` releases without privacy where no algorithm minimises: the exact optimum over a bounded set."""

from __future__ import annotations

from typing import TypeVar

from diptych.algorithms.base import EXACT, Release, open_release
from diptych.risks import Risk, Table, minimise_projected

T = TypeVar("T", bound=Table)


def exact_release(risk: Risk[T], table: T) -> Release:
    """Release the minimiser under no promise; the trace says how well the solver did."""
    found = minimise_projected(risk, table, EXACT)
    trace = {"steps": found.steps, "residual": found.residual, "gap": found.gap, "converged": found.converged}
    return open_release(risk, found.w, "the exact minimiser over the set", trace)
