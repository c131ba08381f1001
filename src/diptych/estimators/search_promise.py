"""What a private grid search promises, whichever candidate it chose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from diptych.noise import BitSource
from diptych.selection import Chosen, Share
from diptych.spec import Budget, Guarantee

ASSUMPTIONS = (
    "the grid of candidates was fixed without looking at the table",
    "nothing is seen of the search but the chosen model: no other candidate, no score, not how long it took",
)


def promise_search(
    chosen: Chosen[Any], budget: Budget, share: Share, count: int, source: BitSource, notes: tuple[str, ...]
) -> Guarantee:
    """State the cost of the whole search, whichever candidate was chosen and whatever it spent by itself."""
    inner: Guarantee = chosen.model.guarantee_
    if not budget.private:
        return inner
    return replace(
        inner,
        epsilon=budget.epsilon,
        delta=budget.delta,
        mechanism=f"private search among {count} candidates, the chosen one by {inner.mechanism}",
        events=(*inner.events, chosen.event),
        accountant=(
            f"training and validation part each have the whole budget; of the training part's, {share.accountant}; "
            f"of the chosen candidate, {inner.accountant}"
        ),
        sampler=f"{inner.sampler}; the choice by exact coins",
        assumptions=(*inner.assumptions, *ASSUMPTIONS, *notes),
        seeded=source.seeded,
    )
