"""What the measured values say about the findings of Wang et al., as sentences computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from diptych.experiments.points import Comparison, Point, distinct, matched, select
from diptych.experiments.protocol import APPROXIMATE, EXACT, OBJECTIVE, OUTPUT, PURE, WITHIN

FIGURES = ("figure-1", "figure-2")
TARGET, BELOW, WHERE = 0.9, 0.2, "ijcnn1"
SMALL = 1e-2  # what counts as a small lambda
GLANCE = (0.025, 0.1, 0.5)


def findings(points: Sequence[Point]) -> list[str]:
    """Return one sentence or two a finding; those that the values say nothing about are left out."""
    makers = (_objective, _target, _losses, _easy, _rising, _small, _constants, _notions, _shift, _labels, _rules)
    return [sentence for make in makers for sentence in make(points)]


def where(point: Point) -> str:
    """Say which cell a point is."""
    return f"{point.dataset}, {point.notion}, ε = {point.epsilon:g}, λ {point.rule}"


def verdict(comparison: Comparison) -> str:
    """Holds, mostly, or not: by the pairs that differ by more than two standard errors."""
    ahead, behind, count = comparison.ahead, comparison.behind, len(comparison.pairs)
    if ahead == behind == 0:
        return "cannot be told from these runs"
    if ahead <= behind:
        return "does not hold"
    strength = "holds" if 2 * ahead >= count else f"holds clearly in only {ahead} of {count} cells"
    return strength if behind == 0 else f"{strength}, and is reversed in {behind}"


def extreme(pair: tuple[Point, Point]) -> str:
    """Say where a difference is, and its two means."""
    new, old = pair
    return f"{new.mean:.3f} against {old.mean:.3f} ({where(new)})"


def parts(comparison: Comparison, field: str) -> str:
    """List the comparison's parts."""
    return "; ".join(f"{name}: {part.text}" for name, part in comparison.by(field).items())


def _objective(points: Sequence[Point]) -> Iterator[str]:
    pairs = matched(select(points, figure=FIGURES, loss="logistic"), "algorithm", OBJECTIVE, OUTPUT)
    for constants, part in Comparison(tuple(pairs)).by("constants").items():
        yield (
            f"*Objective perturbation outperforms output perturbation* (Section 6.2), {constants} constants: "
            f"**{verdict(part)}**. By data set: {parts(part, 'dataset')}. Widest: {extreme(part.widest)}; least: "
            f"{extreme(part.worst)}."
        )


def _reach(points: Sequence[Point]) -> str:
    """Say from which epsilon on the mean is above the target, for each algorithm and notion."""
    words = []
    for algorithm in (OUTPUT, OBJECTIVE):
        for notion in (PURE.name, APPROXIMATE.name):
            line = select(points, algorithm=algorithm, notion=notion)
            if line:
                reached = [p.epsilon for p in line if p.mean >= TARGET]
                top = max(line, key=lambda p: p.mean)
                tail = (
                    f"from ε = {min(reached):g}" if reached else f"never (best {top.mean:.3f} at ε = {top.epsilon:g})"
                )
                words.append(f"{algorithm.split('-', maxsplit=1)[0]}, {notion}: {tail}")
    return "; ".join(words)


def _target(points: Sequence[Point]) -> Iterator[str]:
    here = select(points, figure=FIGURES, dataset=WHERE)
    for constants, rule in sorted({(p.constants, p.rule) for p in select(here, algorithm=(OUTPUT, OBJECTIVE))}):
        line = select(here, loss="logistic", constants=constants, rule=rule, algorithm=(OUTPUT, OBJECTIVE))
        holds = any(p.mean >= TARGET and p.epsilon < BELOW for p in line)
        yield (
            f"*{WHERE}, logistic loss: AUC {TARGET:g} for ε < {BELOW:g}* (Section 6.2), {constants} constants, "
            f"λ {rule}: **{'holds' if holds else 'does not hold'}**. {TARGET:g} is reached: {_reach(line)}."
        )
    squared = select(points, figure="figure-3", dataset=WHERE, algorithm=OUTPUT, epsilon=0.5)
    for constants in dict.fromkeys(p.constants for p in squared):
        best = max(select(squared, constants=constants), key=lambda p: p.mean)
        yield (
            f"*{WHERE}, squared loss: about {TARGET:g} at ε = 0.5* (Section 6.2), {constants} constants: **"
            f"{'holds' if best.mean >= TARGET - 0.01 else 'does not hold'}**; the best output perturbation there has "
            f"{best.mean:.3f} ({best.notion}, λ {best.rule})."
        )


def _losses(points: Sequence[Point]) -> Iterator[str]:
    shared = select(points, figure=(*FIGURES, "figure-3"), algorithm=OUTPUT)
    for constants in ("paper", "defended"):
        pairs = matched(select(shared, constants=constants), "loss", "logistic", "squared", "figure")
        part = Comparison(tuple(pairs))
        if part.pairs:
            yield (
                f"*Output perturbation does worse with least squares than with the logistic loss* (Section 6.2), "
                f"{constants} constants: **{verdict(part)}**. By data set: {parts(part, 'dataset')}."
            )


def _easy(points: Sequence[Point]) -> Iterator[str]:
    for dataset in ("http", "webspam"):
        here = select(points, figure=FIGURES, dataset=dataset, loss="logistic", epsilon=0.1)
        lines = select(here, algorithm=(OUTPUT, OBJECTIVE), constants="paper")
        if lines:
            least = min(lines, key=lambda p: p.mean)
            yield (
                f"*{dataset}: a high AUC at ε = 0.1 with either algorithm* (Section 6.2): **"
                f"{'holds' if least.mean >= TARGET else 'does not hold everywhere'}**. With the paper's constants the "
                f"least is {least.text} ({least.algorithm}, {least.notion}, λ {least.rule}), the best "
                f"{max(lines, key=lambda p: p.mean).text}."
            )


def _rising(points: Sequence[Point]) -> Iterator[str]:
    lines: dict[tuple[object, ...], list[Point]] = {}
    for point in select(points, figure=(*FIGURES, "figure-3"), algorithm=(OUTPUT, OBJECTIVE)):
        lines.setdefault(point.key("epsilon"), []).append(point)
    steps = []
    for line in lines.values():
        ordered = sorted(line, key=lambda p: p.epsilon)
        steps += list(zip(ordered[1:], ordered[:-1], strict=True))
    whole = Comparison(tuple(steps))
    if steps:
        yield (
            f"*AUC rises with ε* (Section 6.2): of {len(steps)} steps from one ε to the next, {whole.behind} go down "
            f"by more than two standard errors and {whole.ahead} go up by as much."
        )


def _small(points: Sequence[Point]) -> Iterator[str]:
    whole = Comparison(tuple(matched(select(points, figure="lambda"), "algorithm", OBJECTIVE, OUTPUT)))
    for constants, part in whole.by("constants").items():
        pieces = sorted((float(rule.split()[-1]), piece) for rule, piece in part.by("rule").items())
        low = [piece.gain for lam, piece in pieces if lam <= SMALL]
        high = [piece.gain for lam, piece in pieces if lam > SMALL]
        listed = "; ".join(f"λ = {lam:g}: {piece.text}" for lam, piece in pieces)
        word = "holds" if low and high and fmean(low) > fmean(high) else "does not hold"
        yield (
            f"*The advantage of objective perturbation is larger at small λ* (Section 6.2), ε = 0.1, {constants} "
            f"constants: **{word}** (λ up to {SMALL:g} against larger). Objective less output: {listed}."
        )


def _constants(points: Sequence[Point]) -> Iterator[str]:
    shown = select(points, figure=("constants", *FIGURES), loss="logistic", adjacency=str(WITHIN))
    whole = Comparison(tuple(matched(distinct(shown), "constants", "defended", "paper", "figure")))
    for rule, by_rule in whole.by("rule").items():
        for algorithm, part in by_rule.by("algorithm").items():
            listed = "; ".join(
                f"{name}: {piece.text} ({_by_epsilon(piece)})" for name, piece in part.by("dataset").items()
            )
            yield (
                f"Defended against the paper's constants, {algorithm.replace('-', ' ')}, λ {rule}: {listed}. "
                f"Most: {extreme(part.widest)}."
            )


def _by_epsilon(comparison: Comparison) -> str:
    gains = [f"{comparison.of(epsilon=e).gain:+.3f} at ε = {e:g}" for e in GLANCE if comparison.of(epsilon=e).pairs]
    return ", ".join(gains)


def _notions(points: Sequence[Point]) -> Iterator[str]:
    shown = select(points, figure=("constants", *FIGURES), rule="public", constants="defended")
    part = Comparison(tuple(matched(distinct(shown), "notion", APPROXIMATE.name, PURE.name, "figure")))
    if part.pairs:
        yield (
            f"What δ = 1/n² buys over δ = 0 (defended constants, public rule): {parts(part, 'dataset')}. A minus "
            "says that pure noise is the quieter one there, as it can be with few features."
        )


def _shift(points: Sequence[Point]) -> Iterator[str]:
    shown = select(points, figure=FIGURES, constants="defended")
    part = Comparison(tuple(matched(shown, "loss", "shifted-logistic", "logistic")))
    part = part.of(algorithm=(OUTPUT, OBJECTIVE))
    if part.pairs:
        yield f"The shifted logistic loss against the plain one (defended): {parts(part, 'dataset')}."
    for rule in dict.fromkeys(p.rule for p in shown):
        line = select(shown, loss="shifted-logistic", dataset=WHERE, rule=rule)
        if line:
            holds = any(p.mean >= TARGET and p.epsilon < BELOW for p in select(line, algorithm=OBJECTIVE))
            yield (
                f"{WHERE}, shifted logistic, λ {rule}: objective perturbation {'passes' if holds else 'does not pass'} "
                f"{TARGET:g} below ε = {BELOW:g}. {TARGET:g} is reached: {_reach(line)}."
            )


def _labels(points: Sequence[Point]) -> Iterator[str]:
    shown = [p for p in select(points, figure="constants", constants="defended") if p.algorithm != EXACT]
    part = Comparison(tuple(matched(shown, "adjacency", "replace", str(WITHIN))))
    if part.pairs:
        yield f"Labels private (`replace`) against labels public, defended: {parts(part, 'dataset')}."


def _rules(points: Sequence[Point]) -> Iterator[str]:
    shown = [p for p in select(points, figure=(*FIGURES, "figure-3")) if p.algorithm != EXACT]
    whole = Comparison(tuple(matched(shown, "rule", "public", "cross-validated")))
    for constants, part in whole.by("constants").items():
        yield (
            f"The public rule for λ against cross-validation (which is not charged to the budget), {constants} "
            f"constants: {parts(part, 'dataset')}."
        )
    columns = select(points, figure="scaling", constants="paper")
    plain = [p for p in select(points, figure=FIGURES, rule="public", constants="paper") if p.algorithm != EXACT]
    part = Comparison(tuple(matched([*columns, *plain], "scaling", "columns", "public", "figure")))
    if part.pairs:
        yield (
            f"Column scaling against public scaling, the paper's constants: {parts(part, 'dataset')}. The paper does "
            "not say how its rows are scaled."
        )
