"""Risks: a loss, a set and pairs of records, with the constants that follow. They know nothing of noise."""

from diptych.risks.certificate import Certificate
from diptych.risks.minimiser import Minimum, iteration_bound, minimise
from diptych.risks.ranking import RankingRisk
from diptych.risks.table import PairTable

__all__ = ["Certificate", "Minimum", "PairTable", "RankingRisk", "iteration_bound", "minimise"]
