"""Risks: a loss, a set and pairs of records, with the constants that follow. They know nothing of noise."""

from diptych.risks.base import PairRisk, Rows, Table
from diptych.risks.certificate import Certificate
from diptych.risks.metric import MetricRisk, MetricTable
from diptych.risks.minimiser import Minimum, iteration_bound, minimise
from diptych.risks.projected import ProjectedMinimum, minimise_projected
from diptych.risks.ranking import RankingRisk
from diptych.risks.stochastic import stochastic_mean
from diptych.risks.table import PairTable

__all__ = [
    "Certificate",
    "MetricRisk",
    "MetricTable",
    "Minimum",
    "PairRisk",
    "PairTable",
    "ProjectedMinimum",
    "RankingRisk",
    "Rows",
    "Table",
    "iteration_bound",
    "minimise",
    "minimise_projected",
    "stochastic_mean",
]
