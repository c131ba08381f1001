"""What the simulated and measured values say beside what Yang et al. prove, as sentences computed from both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diptych.experiments.points import Point, select
from diptych.experiments.series import OURS
from diptych.experiments.simulation import Simulation
from diptych.experiments.simulation_report import slopes_against_claims
from diptych.experiments.slopes import Mean, Means
from diptych.experiments.xue_findings import LABELS, against
from diptych.experiments.yang import CORRECTED, FROBENIUS, NUCLEAR, OPEN, PRINTED, REALISED

SAME = ("dataset", "notion", "epsilon", "size")


def findings(points: Sequence[Point]) -> list[str]:
    """Return one sentence or two a finding; those that the values say nothing about are left out."""
    makers = (_published, _default, _price, _norms)
    return [sentence for make in makers for sentence in make(points)]


def _published(points: Sequence[Point]) -> Iterator[str]:
    private = str(next(iter(LABELS)))
    for figure in ("auc", "metrics"):
        here = select(points, figure=figure)
        realised = [p for p in here if p.line.startswith(REALISED) and p.constants == "defended"]
        for name in (PRINTED, CORRECTED):
            old = [_renamed(p, name, REALISED) for p in here if p.line.startswith(name)]
            part = against([p for p in realised if p.adjacency == private], old, *SAME, "line")
            if part.pairs:
                yield f"*{figure}*: noise of the realised sequence against *{name}*, labels private: {part.text}."


def _renamed(point: Point, old: str, new: str) -> Point:
    return replace(point, line=point.line.replace(old, new))


def _default(points: Sequence[Point]) -> Iterator[str]:
    here = select(points, figure="auc")
    for adjacency, labels in LABELS.items():
        ours, theirs = (select(here, line=name, adjacency=adjacency) for name in (OURS, REALISED))
        part = against(theirs, ours, *SAME)
        if part.pairs:
            yield f"*auc*, {labels}: `sgd-output` against `noisy-gd`, both with our constants: {part.text}."


def _price(points: Sequence[Point]) -> Iterator[str]:
    for figure in ("auc", "metrics"):
        here = select(points, figure=figure)
        open_lines = [_renamed(p, OPEN, REALISED) for p in here if p.line.startswith(OPEN)]
        for adjacency, labels in LABELS.items():
            private = [p for p in here if p.constants == "defended" and p.adjacency == adjacency]
            for epsilon in sorted({p.epsilon for p in private if math.isfinite(p.epsilon)}):
                part = against([p for p in private if p.epsilon == epsilon], open_lines, "dataset", "size", "line")
                if part.pairs:
                    yield f"*{figure}*, {labels}, ε = {epsilon:g}: against the same descent without noise {part.text}."


def _norms(points: Sequence[Point]) -> Iterator[str]:
    here = select(points, figure="metrics")
    nuclear = [_renamed(p, NUCLEAR, FROBENIUS) for p in here if p.line.endswith(NUCLEAR)]
    same = (*SAME, "line", "adjacency", "constants")
    for algorithm in dict.fromkeys(p.algorithm for p in nuclear):
        mine = [p for p in nuclear if p.algorithm == algorithm]
        part = against(mine, [p for p in here if p.line.endswith(FROBENIUS)], *same)
        if part.pairs:
            yield f"*metrics*, `{algorithm}`: nuclear against Frobenius norm: {part.text}."


def simulated_findings(simulated: Sequence[tuple[Simulation, Means]]) -> list[str]:
    """Return what the simulations say of stability, slopes and norms."""
    out: list[str] = []
    for simulation, means in simulated:
        out += slopes_against_claims(simulation, means)
        for make in (_stability, _noise, _dimension):
            out += make(simulation, means)
    return out


def _ratios(means: Means, over: str, under: str) -> list[float]:
    below = {one.place: one.mean for one in means.get(under, [])}
    return [one.mean / below[one.place] for one in means.get(over, []) if below.get(one.place, 0.0) > 0.0]


def _range(ratios: Sequence[float]) -> str:
    low, high = f"{min(ratios):.3g}", f"{max(ratios):.3g}"
    return low if low == high else f"{low} to {high}"


def _stability(simulation: Simulation, means: Means) -> Iterator[str]:
    for name in ("hinge", "smoothed-hinge"):
        reached = _ratios(means, f"{name}, measured", f"{name}, realised bound")
        if reached:
            never = "never more" if max(reached) <= 1.0 else "MORE THAN THE BOUND"
            yield (
                f"*{simulation.name}, {name}*: replacements on typical tables move the mean by {_range(reached)} of "
                f"the realised bound, {never}."
            )
    wide = _ratios(means, "Theorem 1 (hinge)", "hinge, realised bound")
    if wide:
        yield f"*{simulation.name}*: Theorem 1 is {_range(wide)} times the realised bound for the hinge."


def _noise(simulation: Simulation, means: Means) -> Iterator[str]:
    for name in ("as printed", "corrected"):
        wide = _ratios(means, name, "realised")
        if wide:
            yield f"*{simulation.name}*: equation (5) {name} asks for {_range(wide)} times the noise that is needed."


def _dimension(simulation: Simulation, means: Means) -> Iterator[str]:
    for name in means:
        if not name.startswith(NUCLEAR) or simulation.name == "complexity":
            continue
        other = means.get(name.replace(NUCLEAR, FROBENIUS), [])
        pairs = [(a, b) for a, b in zip(means[name], other, strict=True) if _apart(a, b)]
        lower = sum(a.mean < b.mean for a, b in pairs)
        yield (
            f"*{simulation.name}, {name.removeprefix(NUCLEAR + ', ')}*: the nuclear norm has the lower "
            f"{simulation.quantity} at {lower} of {len(other)} dimensions and the higher one at {len(pairs) - lower}, "
            "by more than two standard errors."
        )


def _apart(one: Mean, other: Mean) -> bool:
    return abs(one.mean - other.mean) > 2.0 * math.hypot(one.error, other.error)
