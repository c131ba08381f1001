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
        for make in (_label_noise, _growing, _accounts, _batches, _scales, _excess):
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
    return f"lower at {_surely(pairs, 1.0)} of {len(pairs)}, higher at {_surely(pairs, -1.0)}"


def _kappas(simulation: Simulation) -> list[float]:
    return [problem.kappa for problem in FIGURES.get(simulation.name, ())]


def _label_noise(simulation: Simulation, means: Means) -> Iterator[str]:
    """Whether label noise costs, and whether more than it costs the best model."""
    kappas = _kappas(simulation)
    floors = {p.kappa: p.floor() for p in FIGURES.get(simulation.name, ())}
    for kind in KINDS:
        for kappa in kappas[1:]:
            pairs = _both(means, label(kind, kappas[0]), label(kind, kappa))
            if not pairs:
                continue
            beyond = [(_beyond(a, floors[kappas[0]]), _beyond(b, floors[kappa])) for a, b in pairs]
            yield (
                f"*{simulation.name}, {kind}*: at κ = 0 the {simulation.quantity} is {_score(pairs)} ε than at κ = "
                f"{kappa:g}; what it has beyond the best model's {floors[kappas[0]]:.3g} and {floors[kappa]:.3g} is "
                f"{_score(beyond)}."
            )


def _beyond(mean: Mean, floor: float) -> Mean:
    return Mean(mean.place, mean.mean - floor, mean.error)


def _growing(simulation: Simulation, means: Means) -> Iterator[str]:
    """Whether a private line comes nearer to the one without noise as epsilon grows."""
    for kind in KINDS:
        for kappa in _kappas(simulation):
            pairs = _both(means, label(kind, kappa), label(OPEN, kappa))
            if kind == OPEN or len(pairs) < 2:
                continue
            gaps = [Mean(a.place, a.mean - b.mean, math.hypot(a.error, b.error)) for a, b in pairs]
            first, last = gaps[0], gaps[-1]
            falls = _surely([(last, first)], 1.0)
            how = "**nearer**" if falls else "**not nearer**"
            if last.mean <= 2.0 * last.error:
                how += ", and no worse than it at the last"
            yield (
                f"*{simulation.name}, {kind}, κ = {kappa:g}*: from ε = {first.place:g} to {last.place:g} the distance "
                f"above the line without noise goes from {first.mean:.3g} to {last.mean:.3g}: {how}."
            )


def _accounts(simulation: Simulation, means: Means) -> Iterator[str]:
    for kappa in _kappas(simulation):
        pairs = _both(means, label(ACCOUNTANT, kappa), label(PUBLISHED, kappa))
        if pairs:
            yield f"*{simulation.name}, κ = {kappa:g}*: accountant's noise against the paper's: {_score(pairs)} ε."


def _batches(simulation: Simulation, means: Means) -> Iterator[str]:
    for kappa in _kappas(simulation):
        for other in (ACCOUNTANT, OPEN):
            pairs = _both(means, label(BATCHES, kappa), label(other, kappa))
            if pairs:
                yield (
                    f"*{simulation.name}, κ = {kappa:g}*: mini-batches by default against one a step with {other}: "
                    f"{_score(pairs)} ε."
                )


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
            yield f"*{simulation.name}, {kind}*: excess risk with low noise against noisy: {_score(pairs)} n."
