"""What each candidate may spend, so that trying them and telling the best keeps within one budget.

Facts in, facts out: nothing here sees a table. Proofs: ``docs/theory/selection.md``, Theorems 1 to 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from diptych.accounting import gaussian_mu
from diptych.accounting.plan import lattice_slack
from diptych.noise import RESOLUTION
from diptych.selection.spending import coin_mu
from diptych.selection.trials import AllTrials, CoinTrials, Trials, UniformTrials
from diptych.spec import Budget

SHARING = ("auto", "all", "random", "parts")
EXPECTED, MOST_OFTEN = 8.0, 0.7  # trials that coins are meant to give, and the highest rate
WORTH = 1.5  # times the budget of a candidate: what makes it worth leaving some untried
CLOSE = 1.0 - 1e-12
LATTICE = 1e-4  # of a budget: what the lattices of all Gaussian candidates together may cost


@dataclass(frozen=True)
class Share:
    """The budget of each candidate, which of them are tried, and in words why that is enough.

    ``mu`` where every candidate is one Gaussian release, as which its budget then counts.
    """

    budget: Budget
    trials: Trials
    accountant: str
    mu: float | None = None


def check_sharing(sharing: str) -> None:
    """Refuse a way to share that there is not."""
    if not (isinstance(sharing, str) and sharing in SHARING):
        raise ValueError(f"trials must be one of {', '.join(map(repr, SHARING))}; got {sharing!r}.")


def plan_share(
    budget: Budget, count: int, sharing: str, *, dimension: int | None = None, rate: float | None = None
) -> Share:
    """Plan for ``count`` candidates under a budget.

    Parameters
    ----------
    budget
        For the records that candidates are trained on.
    count
        How many candidates there are.
    sharing
        ``"all"`` trains all on the same records, ``"random"`` a random set of them, ``"parts"`` each on records of its
        own; ``"auto"`` is one of the first two, by the budgets that they leave.
    dimension
        Where every candidate is one release with Gaussian noise planned by ``diptych.accounting``: how many numbers all
        of them hold together, at most. None where they are anything else.
    rate
        The chance of a candidate to be tried by ``"random"``, where all are Gaussian; None for the default.
    """
    check_sharing(sharing)
    if not budget.private or count == 1 or sharing == "parts":
        why = "each candidate has the whole budget for records of its own" if sharing == "parts" else "one candidate"
        return Share(budget, AllTrials(), why)
    gaussian = dimension is not None and not budget.pure and _fine(budget, count, dimension)
    every = _all_gaussian(_spared(budget), count) if gaussian else _all(budget, count)
    if sharing == "all":
        return every
    some = _coins(_spared(budget), count, rate) if gaussian else _uniform(budget, count)
    if sharing == "random":
        return some
    gain = some.mu / every.mu if some.mu and every.mu else some.budget.epsilon / every.budget.epsilon
    return some if gain >= WORTH else every


def _spared(budget: Budget) -> Budget:
    """Return what lattices leave of a budget."""
    return Budget((1.0 - LATTICE) * budget.epsilon, (1.0 - LATTICE) * budget.delta)


def _fine(budget: Budget, count: int, dimension: int) -> bool:
    """Whether the lattices of all candidates certainly cost no more than what is spared for them (Lemma 6)."""
    mu = gaussian_mu(budget.epsilon, budget.delta)
    there, back = lattice_slack(dimension, count * mu, 2 ** (RESOLUTION - 1))
    return there + back <= 0.5 * LATTICE * min(budget.epsilon, 1.0)


def gaussian_budget(mu: float, delta: float) -> Budget:
    """Return the largest budget of that delta for which Gaussian noise is planned at no more than mu."""
    high = 1.0
    while gaussian_mu(high, delta) <= mu:
        high *= 2.0
    low = high
    while gaussian_mu(low, delta) > mu:
        low *= 0.5
        if low < 1e-9:
            raise ValueError("epsilon is too small for so many candidates; raise it, or try fewer.")
    while high - low > 1e-9 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_mu(middle, delta) <= mu else (low, middle)
    return Budget(low, delta)


def _all(budget: Budget, count: int) -> Share:
    """Budgets add up (Theorem 1)."""
    share = Budget(CLOSE * budget.epsilon / count, CLOSE * budget.delta / count)
    return Share(share, AllTrials(), f"the budgets of {count} candidates add up")


def _all_gaussian(budget: Budget, count: int) -> Share:
    """Squares of mu add up (Theorem 1)."""
    mu = CLOSE * gaussian_mu(budget.epsilon, budget.delta) / math.sqrt(count)
    words = f"{count} Gaussian candidates compose exactly (Dong, Roth and Su 2022), checked on the safe side"
    return Share(gaussian_budget(mu, budget.delta), AllTrials(), words, mu)


def _uniform(budget: Budget, count: int) -> Share:
    """Epsilon/3, and delta over (1 + e^epsilon) times the expected number of trials (Theorem 2)."""
    trials = 0.5 * (count + 1)
    delta = 0.0 if budget.pure else CLOSE * budget.delta * math.exp(-budget.epsilon) / (2.0 * trials)
    words = (
        f"a random number of {count} candidates, of which only one is told, costs three times the epsilon of one "
        "(Liu and Talwar 2019; Papernot and Steinke 2022)"
    )
    return Share(Budget(CLOSE * budget.epsilon / 3.0, delta), UniformTrials(), words)


def _coins(budget: Budget, count: int, rate: float | None) -> Share:
    """Theorem 3."""
    rate = min(MOST_OFTEN, EXPECTED / count) if rate is None else rate
    mu = coin_mu(budget.epsilon, budget.delta, rate, count)
    words = (
        f"each of {count} Gaussian candidates is tried with probability {rate:.3g} and only one is told: Rényi moments "
        "after Papernot and Steinke (2022), checked on the safe side"
    )
    return Share(gaussian_budget(mu, budget.delta), CoinTrials(rate), words, mu)
