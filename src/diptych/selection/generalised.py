"""The generalised exponential mechanism: candidates whose scores move by different amounts.

Raskhodnikova and Smith (2015), as in appendix C of Arora, Bassily, González, Guzmán, Menart and Ullah (2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from diptych.noise import BitSource
from diptych.selection.mechanisms import draw_by_decay


def generalised(
    scores: Sequence[int | Fraction],
    sensitivities: Sequence[int | Fraction],
    epsilon: float,
    source: BitSource,
    confidence: float = 0.05,
) -> int:
    """Return the place of about the best score, where score j moves by at most ``sensitivities[j]``.

    Claim
        epsilon-DP (``docs/theory/selection.md``, Lemma 4). With probability 1 - ``confidence`` the score j that is
        chosen falls short of every other q_i by at most 4 gamma_i log(k/confidence)/epsilon.

    Parameters
    ----------
    scores
        The higher, the better; exact numbers.
    sensitivities
        One a score, at least 0; at most one of them is 0.
    epsilon
        Above 0; infinity picks the best.
    source
        Where the bits come from.
    confidence
        The probability of failure that the trade between scores and sensitivities is made for.
    """
    count = len(scores)
    if count == 0 or len(sensitivities) != count:
        raise ValueError("scores must hold one number a candidate, and sensitivities as many.")
    if any(moved < 0 for moved in sensitivities) or sum(moved == 0 for moved in sensitivities) > 1:
        raise ValueError("sensitivities must be at least 0, and at most one of them 0.")
    if not (epsilon > 0 and 0 < confidence < 1):
        raise ValueError(f"epsilon must be above 0 and confidence in (0, 1); got {epsilon!r}, {confidence!r}.")
    if math.isinf(epsilon):
        return max(range(count), key=lambda place: scores[place])
    price = Fraction(2.0 * math.log(count / confidence)) / Fraction(epsilon)
    falls = shortfalls(scores, sensitivities, price)
    least = min(falls)
    return draw_by_decay([Fraction(epsilon) * (fall - least) / 2 for fall in falls], source)


def shortfalls(
    scores: Sequence[int | Fraction], sensitivities: Sequence[int | Fraction], price: Fraction
) -> list[Fraction]:
    """Return max over i of ((q_i - t g_i) - (q_j - t g_j))/(g_i + g_j) for each j, and at least 0: of sensitivity 1."""
    pessimistic = [score - price * moved for score, moved in zip(scores, sensitivities, strict=True)]
    places = range(len(scores))

    def worst(j: int) -> Fraction:
        gaps = (
            Fraction(pessimistic[i] - pessimistic[j]) / (sensitivities[i] + sensitivities[j]) for i in places if i != j
        )
        return max(gaps, default=Fraction(0))

    return [max(worst(j), Fraction(0)) for j in places]
