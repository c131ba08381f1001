"""How the values of each paper's report came about, in words for its page."""

from __future__ import annotations

from collections.abc import Sequence

from diptych.experiments.points import Point
from diptych.experiments.protocol import CROSS_VALIDATED, EXACT, Experiment
from diptych.experiments.scaling import SCALING_WORDS
from diptych.experiments.series import OURS


def wang_erm_protocol(experiments: Sequence[Experiment], points: Sequence[Point]) -> list[str]:
    """Say how the values came about."""
    repeats = sorted({p.repeats for p in points if p.algorithm != EXACT and p.repeats})
    lines = [
        f"Mean test AUC ± standard error over {' or '.join(map(str, repeats))} repeats: fresh noise on the published "
        "train and test parts (ijcnn1, satimage, a9a), stratified random 80/20 splits elsewhere (http, webspam: 6 that "
        "the repeats share, the standard error being over splits; else one a repeat). All noise is seeded: these "
        "models are for comparison, not for release. Labels are public (`replace-within-class`) unless a line says "
        "*labels private*.",
        "",
    ]
    lines += [f"- *{SCALING_WORDS[name]}*." for name in dict.fromkeys(e.scaling for e in experiments)]
    rules = {rule for e in experiments for rule in e.rules}
    lines += [
        "- *λ public*: `diptych.algorithms.choose_regularization`, a function of n, d, loss and budget. It foresees "
        "the defended noise, also for the paper's constants."
    ]
    if CROSS_VALIDATED in rules:
        tuning = next(e.tuning for e in experiments if CROSS_VALIDATED in e.rules)
        lines += [
            f"- *λ cross-validated*: as in the paper, the best of {', '.join(f'{x:g}' for x in tuning.grid)} by "
            f"{tuning.folds}-fold cross-validation on the training part at ε = {tuning.epsilon:g}, for each data set, "
            "line and notion. **Its privacy cost is not charged**: these rows do not keep their ε."
        ]
    lines += ["- *Shifted logistic* is `Logistic(margin=1, temperature=0.5)`, ours."]
    return lines


def xue_protocol(experiments: Sequence[Experiment], points: Sequence[Point]) -> list[str]:
    """Say how the values came about."""
    repeats = sorted({p.repeats for p in points if p.repeats})
    lines = [
        f"Mean test score ± standard error over {' or '.join(map(str, repeats))} random splits, which all lines share: "
        "n records drawn for training, all others for testing, fresh noise each. **In brackets what is printed**; "
        f"beside *{OURS}*, the best printed figure of a private line in that cell; beside *non-private*, the mean of "
        "what is printed for it. All noise is seeded: these models are for comparison, not for release. δ is 1/n or 0.",
        "",
    ]
    lines += [f"- *{SCALING_WORDS[name]}*." for name in dict.fromkeys(e.scaling for e in experiments)]
    how = sorted({(p.notion, p.algorithm, p.loss, p.rule.split()[-1]) for p in points if p.line == OURS})
    return [
        *lines,
        "- The paper does not say how it scales rows, and draws its own splits; its figures come from those.",
        "- Published lines: logistic loss, parameters in a ball of radius 1; for metrics offset 1, positive "
        "semidefinite matrices, accuracy of the 3 nearest neighbours. λ = 0.001 (AUC) and 0.01 (metrics) where "
        "strongly convex, else 0. *non-private* is the online pass without noise, as in the paper.",
        "- *paper*: schedules and noise as published, for one record replaced (labels private); *defended*: our "
        "constants and default schedules. OffPairStrC and OffPairC are rebuilt from descriptions and have ours only.",
        f"- *{OURS}* is one setting a task and notion, fixed for all data sets, n and ε after a few trials on the "
        "same data sets and splits (neither charged to the budget nor held out): "
        + "; ".join(f"{loss} by {algorithm}, λ = {lam}, {notion}" for notion, algorithm, loss, lam in how)
        + ".",
    ]


def yang_protocol(experiments: Sequence[Experiment], points: Sequence[Point]) -> list[str]:
    """Say how the values came about."""
    lines = [
        "The paper has theorems and no experiments. Simulations show what it proves; each says how its values come "
        "about. Everything is seeded: nothing here is for release.",
    ]
    if not experiments:
        return lines
    repeats = sorted({p.repeats for p in points if p.repeats})
    lines += [
        "",
        f"On data sets: mean test score ± standard error over {' or '.join(map(str, repeats))} random splits, which "
        "all lines share: n records drawn for training, all others for testing. δ is 1/n² or 0.",
        "",
    ]
    lines += [f"- *{SCALING_WORDS[name]}*." for name in dict.fromkeys(e.scaling for e in experiments)]
    return [
        *lines,
        "- *Algorithm 1*: without noise, T = n² steps of the order n^(-3/2), hinge loss (margin 1; metrics offset 0), "
        "ball of radius 2 (metrics 1).",
        "- *Algorithm 2 as printed*, *corrected*: the same with the noise of equation (5), as printed and with the "
        "factors that its proof has. *Algorithm 2, defended*: the noise of the realised sequence and our schedule.",
        "- *dp-sgd*: noisy gradients of batches, a quarter of the table each, with our schedule.",
        f"- *{OURS}*: `noisy-gd` with its defaults, as for a hinge by default.",
    ]


def wang_sgd_protocol(experiments: Sequence[Experiment], points: Sequence[Point]) -> list[str]:  # noqa: ARG001
    """Say how the values came about."""
    return [
        "The simulations of Section 5, the same for pairs, and what the theorems claim of excess risk; each says how "
        "its values come about. One population of 10 000 records for each κ stands for the law of the data, so that "
        "errors and risks are known and not estimated; a table is a fresh draw from it in every repeat. Everything is "
        "seeded: nothing here is for release. δ = 1/n².",
        "",
        "- *Paper's noise*: Algorithm 1 (one point a step) or 2 (one pair) with the published closed form, the least "
        "over β. Where no β meets the side conditions there is no value. *Accountant's noise*: the same steps with "
        "what `dp-sgd` finds to be enough for the same ε and δ; for pairs also with the smaller sensitivity LD in "
        "place of 2G. Both are for the G of the loss on the set.",
        "- *Mini-batches*: `dp-sgd` with its defaults: batch, steps and step size by rules of public facts.",
        "- *No noise*: the published steps without privacy. All but *mini-batches* return the mean of all iterates.",
    ]
