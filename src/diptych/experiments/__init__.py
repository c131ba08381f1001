"""Reproductions of published experiments: declarative entries, one registry, one runner, one report."""

from diptych.experiments.protocol import Cell, Experiment, Notion, Rule, Series, Tuning
from diptych.experiments.registry import PAPERS, experiments_of
from diptych.experiments.report import write_report
from diptych.experiments.runner import run_experiments

__all__ = [
    "PAPERS",
    "Cell",
    "Experiment",
    "Notion",
    "Rule",
    "Series",
    "Tuning",
    "experiments_of",
    "run_experiments",
    "write_report",
]
