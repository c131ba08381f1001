"""Noise on queries of random batches, step after step: how much, so that a budget surely holds for all steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diptych.accounting.losses_on_grid import sampled_sigma, suffices
from diptych.accounting.plan import check_scale
from diptych.accounting.sampled import SampledQuery
from diptych.spec import Budget

EXACT = "exact composition of Gaussian steps (Dong, Roth and Su 2022), checked on the safe side"
SAMPLED = (
    "composed privacy losses of Gaussian noise on random batches (by a grid, or by Rényi moments where they promise "
    "more), checked on the safe side"
)
FLOATING = (
    "the Gaussian noise inside the steps, drawn in double precision from the operating system's bits, hides what it "
    "would hide as real numbers (algorithm='noisy-gd' needs no such assumption)"
)


@dataclass(frozen=True)
class StepNoise:
    """Gaussian noise of standard deviation ``scale`` on each of ``steps`` answers, fixed before the table is seen.

    ``sensitivity`` is that of one answer, ``queries`` one for each kind of record that may change.
    """

    queries: tuple[SampledQuery, ...]
    steps: int
    sensitivity: float
    scale: float
    accountant: str
    sampler: str
    assumptions: tuple[str, ...] = (FLOATING,)
    noise: str = "gaussian"
    norm: str = "Euclidean norm"


def needed_scale(budget: Budget, queries: Sequence[SampledQuery], steps: int) -> float:
    """Return noise that is enough for whichever record changes: each is of one kind, and all kinds get the same."""
    scale = max(query.sensitivity * sampled_sigma(query.unit, steps, budget.epsilon, budget.delta) for query in queries)
    check_scale(scale)
    return scale * (1.0 + 1e-12)


def is_enough(scale: float, budget: Budget, queries: Sequence[SampledQuery], steps: int) -> bool:
    """Whether that noise is enough whichever record changes: quicker than finding how much is needed."""
    sizes = ((query, scale / query.sensitivity) for query in queries)
    return all(suffices(query.unit, sigma, steps, budget.epsilon, budget.delta) for query, sigma in sizes)


def plan_steps(budget: Budget, queries: Sequence[SampledQuery], steps: int, sampler: str) -> StepNoise:
    """Plan the noise of so many steps; ``sampler`` says in words how batches are drawn."""
    whole = all(query.rate == 1 for query in queries)
    return StepNoise(
        queries=tuple(queries),
        steps=steps,
        sensitivity=max(query.sensitivity for query in queries),
        scale=needed_scale(budget, queries, steps),
        accountant=EXACT if whole else SAMPLED,
        sampler=f"{sampler}; Gaussian noise in floating point",
    )


def log_steps(most: int) -> list[int]:
    """Return numbers of steps to choose from: 3, 5, 10, 20, 30, 50, 100, ... up to ``most``."""
    ladder = [step * 10**power for power in range(8) for step in (1, 2, 3, 5)]
    return [step for step in ladder if 3 <= step <= max(3, most)]
