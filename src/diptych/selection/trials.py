"""Which candidates are tried at all: drawn without looking at any table, so that trying costs less than telling.

What each law spends: ``shares.py``; proofs: ``docs/theory/selection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from diptych.noise import BitSource
from diptych.selection.coins import below, coin, shuffled


class Trials(Protocol):
    """A law of non-empty sets of candidates."""

    def draw(self, count: int, source: BitSource) -> list[int]:
        """Return which of ``count`` candidates to try, in order."""
        ...


@dataclass(frozen=True)
class AllTrials:
    """Every candidate."""

    def draw(self, count: int, source: BitSource) -> list[int]:  # noqa: ARG002
        """Return all of them."""
        return list(range(count))


@dataclass(frozen=True)
class CoinTrials:
    """Each candidate with probability ``rate``, independent of the others; drawn again where none was."""

    rate: float

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ValueError(f"rate must be between 0 and 1; got {self.rate!r}.")

    def draw(self, count: int, source: BitSource) -> list[int]:
        """Flip the coins."""
        rate = Fraction(self.rate)
        while True:
            tried = [place for place in range(count) if coin(rate, source)]
            if tried:
                return tried


@dataclass(frozen=True)
class UniformTrials:
    """A number of candidates, uniform from 1 to all of them; then that many, uniform among all such sets."""

    def draw(self, count: int, source: BitSource) -> list[int]:
        """Draw the number, then the set."""
        size = 1 + below(count, source)
        return sorted(shuffled(count, source)[:size])
