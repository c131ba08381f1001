"""Mechanisms that choose the candidate of about the best score, with pure differential privacy.

Scores are whole numbers, the higher the better, and every one of them moves by at most ``sensitivity`` between
neighbours; epsilon is taken as the rational number that it is. So every law is met exactly, given uniform bits
(``docs/theory/selection.md``, Lemmas 1 to 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from diptych.accounting import plan_laplace
from diptych.noise import BitSource, discrete_laplace
from diptych.selection.coins import below, decay, shuffled
from diptych.spec import Budget


class Mechanism(Protocol):
    """A rule that chooses by scores."""

    @property
    def name(self) -> str:
        """The name under which users ask for it."""
        ...

    @property
    def noise(self) -> str:
        """In words, the noise to the best score of which it is equal in law."""
        ...

    def pick(self, scores: Sequence[int], sensitivity: int, epsilon: float, source: BitSource) -> int:
        """Return the place of the chosen score."""
        ...


def check_scores(scores: Sequence[int], sensitivity: int, epsilon: float) -> None:
    """Refuse what no mechanism can work with; of the scores, only their number is looked at."""
    if len(scores) == 0:
        raise ValueError("scores is empty; give one a candidate.")
    if not (isinstance(sensitivity, int) and sensitivity >= 1):
        raise ValueError(f"sensitivity must be a whole number of at least 1; got {sensitivity!r}.")
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0; got {epsilon!r}.")


def best(scores: Sequence[int]) -> int:
    """Return the place of the first best score: what is chosen without privacy."""
    return max(range(len(scores)), key=lambda place: scores[place])


def _odds(scores: Sequence[int], sensitivity: int, epsilon: float) -> list[Fraction]:
    """Return x >= 0 a candidate, for which exp(-x) = exp(epsilon (q - best q)/(2 sensitivity))."""
    unit, top = Fraction(epsilon) / (2 * sensitivity), max(scores)
    return [unit * (top - score) for score in scores]


@dataclass(frozen=True)
class PermuteAndFlip:
    """Flip a coin for each candidate in random order until one shows heads (McKenna and Sheldon 2020).

    Never worse than the exponential mechanism, and equal in law to the best score with exponential noise.
    """

    name = "permute-and-flip"
    noise = "permute-and-flip (exponential noise in law)"

    def pick(self, scores: Sequence[int], sensitivity: int, epsilon: float, source: BitSource) -> int:
        """Return the place of the chosen score."""
        check_scores(scores, sensitivity, epsilon)
        if math.isinf(epsilon):
            return best(scores)
        odds = _odds(scores, sensitivity, epsilon)
        return next(place for place in shuffled(len(scores), source) if decay(odds[place], source))


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism (McSherry and Talwar 2007): probabilities proportional to exp(epsilon q/(2 s)).

    Equal in law to the best score with Gumbel noise; drawn by rejection.
    """

    name = "exponential"
    noise = "the exponential mechanism (Gumbel noise in law)"

    def pick(self, scores: Sequence[int], sensitivity: int, epsilon: float, source: BitSource) -> int:
        """Return the place of the chosen score."""
        check_scores(scores, sensitivity, epsilon)
        if math.isinf(epsilon):
            return best(scores)
        return draw_by_decay(_odds(scores, sensitivity, epsilon), source)


def draw_by_decay(odds: Sequence[Fraction], source: BitSource) -> int:
    """Draw a place with probability proportional to exp(-x), by rejection; the least x should be 0."""
    while True:
        place = below(len(odds), source)
        if decay(odds[place], source):
            return place


@dataclass(frozen=True)
class NoisyMax:
    """Report noisy max: the best score with exact discrete Laplace noise of scale 2 s/epsilon; of ties, the first."""

    name = "noisy-max"
    noise = "report noisy max (Laplace noise)"

    def pick(self, scores: Sequence[int], sensitivity: int, epsilon: float, source: BitSource) -> int:
        """Return the place of the chosen score."""
        check_scores(scores, sensitivity, epsilon)
        if math.isinf(epsilon):
            return best(scores)
        plan = plan_laplace(Budget(epsilon / 2.0), float(sensitivity), 1)
        noise = discrete_laplace(plan.lattice.steps(plan.scale), len(scores), source)
        step = Fraction(plan.lattice.step)
        return best([round(score / step) + int(shift) for score, shift in zip(scores, noise, strict=True)])


MECHANISMS: dict[str, Mechanism] = {kind.name: kind for kind in (PermuteAndFlip(), NoisyMax(), Exponential())}
