"""What the simulated values say beside what Wang, Lei, Ying and Zhou (2024) find, as sentences computed from both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from diptych.experiments.simulation import Simulation
from diptych.experiments.simulation_report import slopes_against_claims
from diptych.experiments.slopes import Mean, Means
from diptych.experiments.wang_sgd_simulated import (
    ACCOUNTANT,
    BATCHES,
    FIGURES,
    KINDS,
    LOUD,
    OPEN,
    PUBLISHED,
    QUIET,
    label,
)

Pairs = list[tuple[Mean, Mean]]


def findings(simulated: Sequence[tuple[Simulation, Means]]) -> list[str]:
    """Return what the simulations say of label noise, of growing epsilon, of the accounts, of slopes."""
    out: list[str] = []
    for simulation, means in simulated:
        out += slopes_against_claims(simulation, means)
        for make in (_label_noise, _growing, _against, _scales, _excess):
            out += make(simulation, means)
    return out


def _both(means: Means, one: str, other: str) -> Pairs:
    """Return the means of two lines where both have one."""
    there = {m.place: m for m in means.get(other, [])}
    return [(m, there[m.place]) for m in means.get(one, []) if m.place in there]


def _surely(pairs: Pairs, sign: float) -> int:
    """Count where the first is smaller (sign 1) or larger (-1) by more than two standard errors."""
    return sum(sign * (b.mean - a.mean) > 2.0 * math.hypot(a.error, b.error) for a, b in pairs)


def _score(pairs: Pairs) -> str:
    """Say at how many places the first is lower, and higher, by more than two standard errors."""
    return f"lower at {_surely(pairs, 1.0)} of {len(pairs)}, higher at {_surely(pairs, -1.0)}"


def _label_noise(simulation: Simulation, means: Means) -> Iterator[str]:
    """Whether label noise costs, and whether more than it costs the best model."""
    problems = FIGURES.get(simulation.name, ())
    for kind in KINDS:
        parts = []
        for other in problems[1:]:
            pairs = _both(means, label(kind, problems[0].kappa), label(kind, other.kappa))
            if pairs:
                beyond = [(_less(a, problems[0].floor()), _less(b, other.floor())) for a, b in pairs]
                parts.append(f"than at κ = {other.kappa:g} {_score(pairs)} (beyond the best model {_score(beyond)})")
        if parts:
            yield f"*{simulation.name}, {kind}*: {simulation.quantity} without label noise: {'; '.join(parts)}."


def _less(mean: Mean, floor: float) -> Mean:
    return Mean(mean.place, mean.mean - floor, mean.error)


def _growing(simulation: Simulation, means: Means) -> Iterator[str]:
    """Whether a private line comes nearer to the one without noise as epsilon grows."""
    for kind in (kind for kind in KINDS if kind != OPEN):
        parts = []
        for kappa in (problem.kappa for problem in FIGURES.get(simulation.name, ())):
            pairs = _both(means, label(kind, kappa), label(OPEN, kappa))
            gaps = [Mean(a.place, a.mean - b.mean, math.hypot(a.error, b.error)) for a, b in pairs]
            if len(gaps) > 1:
                parts.append(f"κ = {kappa:g} from {gaps[0].mean:.3g} to {gaps[-1].mean:.3g}, {_verdict(gaps)}")
        if parts:
            yield (
                f"*{simulation.name}, {kind}*: distance above the line without noise, from the least to the largest ε: "
                f"{'; '.join(parts)}."
            )


def _verdict(gaps: Sequence[Mean]) -> str:
    if gaps[-1].mean <= 2.0 * gaps[-1].error:
        return "**reaches it**"
    return "**nearer**" if _surely([(gaps[-1], gaps[0])], 1.0) else "**not nearer**"


def _against(simulation: Simulation, means: Means) -> Iterator[str]:
    """How the accountant's noise does against the paper's, and mini-batches against one a step."""
    for one, other, words in (
        (ACCOUNTANT, PUBLISHED, "accountant's noise against the paper's"),
        (BATCHES, ACCOUNTANT, "mini-batches by default against one a step with accountant's noise"),
        (BATCHES, OPEN, "mini-batches by default against one a step without noise"),
    ):
        parts = []
        for kappa in (problem.kappa for problem in FIGURES.get(simulation.name, ())):
            pairs = _both(means, label(one, kappa), label(other, kappa))
            if pairs:
                parts.append(f"κ = {kappa:g} {_score(pairs)}")
        if parts:
            yield f"*{simulation.name}*: {words}: {'; '.join(parts)}."


def _scales(simulation: Simulation, means: Means) -> Iterator[str]:
    for what in ("points", "pairs"):
        pairs = _both(means, f"{PUBLISHED}, {what}", f"{ACCOUNTANT}, {what}")
        ratios = [a.mean / b.mean for a, b in pairs]
        if ratios:
            missing = len(simulation.places) - len(pairs)
            none = f"; at {missing} of {len(simulation.places)} ε the paper has no noise to offer" if missing else ""
            yield (
                f"*{simulation.name}, {what}*: the paper asks for {min(ratios):.3g} to {max(ratios):.3g} times the "
                f"noise that is enough{none}."
            )


def _excess(simulation: Simulation, means: Means) -> Iterator[str]:
    for kind in KINDS:
        pairs = _both(means, f"{QUIET}, {kind}", f"{LOUD}, {kind}")
        if pairs:
            yield f"*{simulation.name}, {kind}*: excess risk with low noise against noisy: {_score(pairs)}."
