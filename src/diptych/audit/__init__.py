"""Attacks on guarantees: adversarial searches for sensitivity, and distinguishing runs with confidence bounds."""

from diptych.audit.distinguish import Distinguished, clopper_pearson, distinguish
from diptych.audit.neighbours import Neighbours
from diptych.audit.sensitivity import Found, search_gradient, search_minimiser

__all__ = [
    "Distinguished",
    "Found",
    "Neighbours",
    "clopper_pearson",
    "distinguish",
    "search_gradient",
    "search_minimiser",
]
