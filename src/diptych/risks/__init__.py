"""Risks: a loss, a set and records or pairs of them, with the constants that follow. They know nothing of noise."""

from diptych.risks.base import PairRisk, Risk, Rows, Table
from diptych.risks.certificate import Certificate
from diptych.risks.metric import MetricRisk, MetricTable
from diptych.risks.minimiser import Minimum, iteration_bound, minimise
from diptych.risks.point import PointRisk
from diptych.risks.projected import ProjectedMinimum, minimise_projected
from diptych.risks.ranking import RankingRisk
from diptych.risks.table import PairTable, PointTable

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
    "Risk",
    "Rows",
    "Table",
    "iteration_bound",
    "minimise",
    "minimise_projected",
]
