"""Frozen public facts: what was asked for, what is assumed, what was promised.

Nothing here ever holds a value of a private record: every field may be printed.
"""

from diptych.spec.adjacency import OF_PAIRS, Adjacency
from diptych.spec.bounds import Bounds
from diptych.spec.budget import Budget
from diptych.spec.guarantee import Event, Guarantee
from diptych.spec.size import TableSize

__all__ = ["OF_PAIRS", "Adjacency", "Bounds", "Budget", "Event", "Guarantee", "TableSize"]
