"""Choosing among candidates without leaking, over callables: mechanisms, trials, and what they spend.

It knows nothing of what a candidate is. Proofs: ``docs/theory/selection.md``.
"""

from diptych.selection.generalised import generalised
from diptych.selection.mechanisms import MECHANISMS, Exponential, Mechanism, NoisyMax, PermuteAndFlip
from diptych.selection.parts import cut
from diptych.selection.scores import GRAIN, clipped_total, largest_move
from diptych.selection.search import Chosen, boost, search
from diptych.selection.shares import SHARING, Share, check_sharing, plan_share
from diptych.selection.spending import coin_log_delta, coin_mu
from diptych.selection.trials import AllTrials, CoinTrials, Trials, UniformTrials

__all__ = [
    "GRAIN",
    "MECHANISMS",
    "SHARING",
    "AllTrials",
    "Chosen",
    "CoinTrials",
    "Exponential",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "Share",
    "Trials",
    "UniformTrials",
    "boost",
    "check_sharing",
    "clipped_total",
    "coin_log_delta",
    "coin_mu",
    "cut",
    "generalised",
    "largest_move",
    "plan_share",
    "search",
]
