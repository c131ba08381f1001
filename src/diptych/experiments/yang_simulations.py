"""What Yang, Lei, Lyu and Ying (2021) prove, simulated: stability, excess risk, nuclear against Frobenius norm."""

from __future__ import annotations

from diptych.experiments.simulation import Line, Simulation
from diptych.experiments.yang_simulated import (
    EPSILON,
    METRIC_BATCHES,
    METRIC_EPSILON,
    RADIUS,
    SURE,
    TRIALS,
    WEIGHTED_PAIRS,
    excess_risk,
    metric_excess,
    noise_scale,
    rademacher,
    stability,
)

REFERENCE = "Yang, Lei, Lyu and Ying (2021), Stability and Differential Privacy of Stochastic Gradient Descent"

STABILITY = Simulation(
    name="stability",
    title="How far one record moves the mean, n = 200",
    source=f"{REFERENCE}, Theorem 1",
    axis="T",
    places=(200, 800, 3200, 12800, 40000),
    quantity="distance",
    lines=(
        Line("hinge, measured"),
        Line("hinge, realised bound", bound=True),
        Line("smoothed-hinge, measured"),
        Line("smoothed-hinge, realised bound", bound=True),
        Line("Theorem 1 (hinge)", bound=True),
    ),
    measure=stability,
    setting=(
        f"Ranking, labels private, step size n^(-3/2). *Measured*: the most, over {TRIALS} replacements of the record "
        "that is drawn most often, by which the mean of the iterates moves; attacks that reach the bound are in the "
        f"tests. *Theorem 1* is its equation (3), which holds with probability {1 - SURE:g}"
    ),
)
EXCESS = Simulation(
    name="excess-risk",
    title="Excess risk of hinge ranking against the number of records",
    source=f"{REFERENCE}, Theorems 2, 3 and 5, Corollaries 1 and 2",
    axis="n",
    places=(50, 100, 200, 400, 800),
    quantity="excess risk",
    lines=(
        Line("Algorithm 1", slope=-0.5),
        Line("Algorithm 1, no radius", slope=-1.0 / 3.0),
        Line("Algorithm 2, realised", slope=-0.5),
        Line("Algorithm 2, corrected", slope=-0.5),
        Line("Algorithm 2, as printed", slope=-0.5),
    ),
    measure=excess_risk,
    setting=(
        "Tables of n draws from a population of 4000 records with 5 features, whose risk and least risk on the ball "
        f"of radius {RADIUS:g} are known. T = n² and step size n^(-3/2); without a radius T = n^(4/3) and 2/n. "
        f"Algorithm 2 at ε = {EPSILON:g}, δ = 1/n², labels private, with the noise of the realised sequence, of "
        "equation (5) with the factors that its proof has, and as printed"
    ),
)
NOISE = Simulation(
    name="noise",
    title="Noise of Algorithm 2 against the number of records",
    source=f"{REFERENCE}, Theorem 4",
    axis="n",
    places=(50, 100, 200, 400, 800, 1600),
    quantity="standard deviation",
    lines=(
        Line("realised", slope=-0.5),
        Line("corrected", slope=-0.5, bound=True),
        Line("as printed", slope=-0.5, bound=True),
    ),
    measure=noise_scale,
    setting=f"As before: T = n², step size n^(-3/2), ε = {EPSILON:g}, δ = 1/n², hinge, labels private",
    repeats=3,
)
COMPLEXITY = Simulation(
    name="complexity",
    title="Rademacher averages of metrics against the dimension",
    source=f"{REFERENCE}, Lemma 5 and Remark 1",
    axis="d",
    places=(8, 16, 32, 64, 128),
    quantity="Rademacher average",
    lines=tuple(
        Line(f"{norm} norm, {pairs}", slope=slope)
        for pairs in ("one record", "disjoint")
        for norm, slope in (("nuclear", 0.5), ("Frobenius", 1.0))
    ),
    measure=rademacher,
    setting=(
        f"The largest signed mean of (x − x′)ᵀW(x − x′) over {WEIGHTED_PAIRS} pairs, and over the W of nuclear norm, "
        "or Frobenius norm, at most 1; standard normal features, so that E‖x‖⁴ grows as d². *One record*: all pairs "
        "share one, as in the definition (4) that the excess risk rests on; *disjoint*: no two pairs share any"
    ),
    repeats=60,
)
METRICS = Simulation(
    name="nuclear-frobenius",
    title="Excess risk of hinge metric learning against the dimension, n = 200",
    source=f"{REFERENCE}, Corollaries 3 and 4",
    axis="d",
    places=(3, 6, 12, 24),
    quantity="excess risk",
    lines=tuple(
        Line(f"{name}, {which}")
        for which in ("Algorithm 1", "Algorithm 2", *METRIC_BATCHES)
        for name in ("nuclear norm", "Frobenius norm")
    ),
    measure=metric_excess,
    setting=(
        "Problem (11) on rows in the unit ball, of which one feature is relevant; radius 1 in either norm, T = n², "
        f"step size n^(-3/2)/4. Algorithm 2 at ε = {METRIC_EPSILON:g}, δ = 1/n², labels public, noise of the realised "
        "sequence. *dp-sgd* at the same budget with its defaults, by which a batch is the whole table at this n, and "
        "with a quarter of it"
    ),
    repeats=6,
)

SIMULATIONS = (STABILITY, EXCESS, NOISE, COMPLEXITY, METRICS)
