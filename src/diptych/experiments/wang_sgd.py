"""Wang, Lei, Ying and Zhou (2024): Figures 1 and 2, the same for pairs, noise, and excess risk against n.

The paper's own simulations are of points; its theorems are of points and pairs. Everything is measured beside what our
accountant finds to be enough, and beside mini-batches.
"""

from __future__ import annotations

from collections.abc import Iterator

from diptych.experiments.simulated_linear import FEATURES
from diptych.experiments.simulation import Line, Measure, Simulation
from diptych.experiments.wang_sgd_simulated import (
    ACCOUNTANT,
    BATCHES,
    CLASS_KAPPAS,
    GAP,
    KINDS,
    LOUD,
    NUMBER_KAPPAS,
    OPEN,
    PUBLISHED,
    QUIET,
    RECORDS,
    RISK_EPSILON,
    STEP,
    STEPS,
    WIDE,
    excess_of_pairs,
    excess_of_points,
    figure_1,
    figure_2,
    label,
    noise_scales,
    pairs_logistic,
    pairs_squared,
)

REFERENCE = (
    "Wang, Lei, Ying and Zhou (2024), Differentially private stochastic gradient descent with low-noise, "
    "Neurocomputing 585"
)
SHORT = "Wang et al. 2024"
REPEATS = 500
FIRST_EPSILONS = tuple(0.5 * k for k in range(1, 12))
SECOND_EPSILONS = tuple(0.5 * k for k in range(3, 13))
STYLES = {PUBLISHED: "--", ACCOUNTANT: "-", BATCHES: "-.", OPEN: ":"}
RUN = f"n = {RECORDS}, d = {FEATURES}, T = {STEPS}, step size {STEP:g}"
ROWS = "rows uniform on the unit sphere"
SIGNS = "y the sign of x·w* − κz with z standard normal (the paper's formula has y on both sides)"


def _lines(kappas: tuple[float, ...]) -> Iterator[Line]:
    for kind in KINDS:
        for hue, kappa in enumerate(kappas):
            yield Line(label(kind, kappa), hue=hue, style=STYLES[kind])


def _figure(
    name: str, title: str, source: str, epsilons: tuple[float, ...], quantity: str, measure: Measure, setting: str
) -> Simulation:
    return Simulation(
        name=name,
        title=title,
        source=f"{SHORT}, {source}",
        axis="ε",
        places=epsilons,
        quantity=quantity,
        lines=tuple(_lines(NUMBER_KAPPAS if name == "figure-1" else CLASS_KAPPAS)),
        measure=measure,
        setting=f"{RUN}; {ROWS}, {setting}",
        repeats=REPEATS,
        powers=False,
    )


FIGURES = (
    _figure(
        "figure-1",
        "Least squares: mean square error against ε",
        "Figure 1",
        FIRST_EPSILONS,
        "mean square error",
        figure_1,
        "y = x·w* + κz with z standard normal, records with |y| > 0.5 left out; loss (y − w·x)², w in the ball of "
        "radius 1, so that G = 3 (the paper names neither set nor G). An error of 0.039, 0.045 or 0.05 is that of w = "
        "0, near which the mean of iterates lies that noise throws about the ball",
    ),
    _figure(
        "figure-2",
        "Logistic loss: misclassification rate against ε",
        "Figure 2",
        SECOND_EPSILONS,
        "misclassification rate",
        figure_2,
        f"{SIGNS}; no radius, G = 1",
    ),
    _figure(
        "pairs-squared",
        "Least squares on pairs: wrong order against ε",
        "Algorithm 2, which the paper does not run",
        FIRST_EPSILONS,
        "share of pairs in the wrong order",
        pairs_squared,
        f"{SIGNS}; loss (1 − w·(x − x′))² of pairs of different class, w in the ball of radius 1, G = 12, labels "
        "private",
    ),
    _figure(
        "pairs-logistic",
        "Logistic loss on pairs: wrong order against ε",
        "Algorithm 2, which the paper does not run",
        SECOND_EPSILONS,
        "share of pairs in the wrong order",
        pairs_logistic,
        f"{SIGNS}; logistic loss of pairs of different class, no radius, G = 2, labels private",
    ),
)
NOISE = Simulation(
    name="noise",
    title="Noise in a step against ε, in units of G",
    source=f"{SHORT}, Theorems 2 and 5",
    axis="ε",
    places=(0.5, 1.0, 2.0, 3.0, 4.0, 5.5),
    quantity="standard deviation",
    lines=tuple(
        Line(f"{kind}, {what}", hue=hue, style=STYLES[kind])
        for hue, what in enumerate(("points", "pairs"))
        for kind in (PUBLISHED, ACCOUNTANT)
    ),
    measure=noise_scales,
    setting=f"n = {RECORDS}, T = {STEPS}, logistic loss; nothing of it is random",
    repeats=1,
    powers=False,
)


def _excess(
    name: str, title: str, source: str, places: tuple[float, ...], measure: Measure, setting: str
) -> Simulation:
    claims = {(QUIET, kind): -1.0 for kind in (PUBLISHED, ACCOUNTANT, OPEN)}
    claims |= {(LOUD, kind): -0.5 for kind in (PUBLISHED, ACCOUNTANT, OPEN)}
    return Simulation(
        name=name,
        title=title,
        source=f"{SHORT}, {source}",
        axis="n",
        places=places,
        quantity="excess risk",
        lines=tuple(
            Line(f"{which}, {kind}", claims.get((which, kind)), hue=hue, style=STYLES[kind])
            for hue, which in enumerate((QUIET, LOUD))
            for kind in KINDS
        ),
        measure=measure,
        setting=(
            f"ε = {RISK_EPSILON:g}, T = n, free constants 1. *Low noise* is κ = 0, where a model of no risk exists, "
            f"with the low-noise step size, part (b); *noisy* the general one, part (a). With one record a step no "
            "account lets the noise fall as the rates of part (b) need: Lemma 6 of the theory of stochastic gradients. "
            f"{setting}"
        ),
        repeats=100,
    )


RISKS = (
    _excess(
        "excess-points",
        "Excess risk of least squares against the number of records",
        "Theorem 3",
        (500, 1000, 2000, 4000, 8000, 16000),
        excess_of_points,
        f"Least squares as in *figure-1*, *noisy* with κ = {NUMBER_KAPPAS[-1]:g}",
    ),
    _excess(
        "excess-pairs",
        "Excess risk of ranking against the number of records",
        "Theorem 6",
        (500, 1000, 2000, 4000, 8000, 16000),
        excess_of_pairs,
        f"Classes as in *figure-2* but for rows nearer than {GAP:g} to their border; smoothed hinge (margin 1, "
        f"temperature 0.5) of pairs of different class, w in the ball of radius 3; *noisy* with κ = {WIDE:g}",
    ),
)
WANG_SGD = (*FIGURES, NOISE, *RISKS)
