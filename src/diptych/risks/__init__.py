"""Risks: a loss, a set and records or pairs of them, with the constants that follow. They know nothing of noise."""

from diptych.risks.base import PairRisk, Risk, Rows, Table
from diptych.risks.certificate import Certificate
from diptych.risks.metric import MetricRisk, MetricTable
from diptych.risks.minimiser import Minimum, iteration_bound, minimise
from diptych.risks.point import PointRisk
from diptych.risks.projected import ProjectedMinimum, minimise_projected
from diptych.risks.ranking import RankingRisk
from diptych.risks.rankings import RankingsRisk, RankingsTable
from diptych.risks.stochastic import stochastic_mean
from diptych.risks.table import PairTable, PointTable, SparseTable

__all__ = [
    "Certificate",
    "MetricRisk",
    "MetricTable",
    "Minimum",
    "PairRisk",
    "PairTable",
    "PointRisk",
    "PointTable",
    "ProjectedMinimum",
    "RankingRisk",
    "RankingsRisk",
    "RankingsTable",
    "Risk",
    "Rows",
    "SparseTable",
    "Table",
    "iteration_bound",
    "minimise",
    "minimise_projected",
    "stochastic_mean",
]
