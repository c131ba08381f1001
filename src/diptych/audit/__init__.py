"""Attacks on guarantees: adversarial searches for sensitivity, and distinguishing runs with confidence bounds."""

from diptych.audit.claims import Claim, claims
from diptych.audit.densities import Compared, Worst, compare, search_densities
from diptych.audit.distinguish import Distinguished, clopper_pearson, distinguish
from diptych.audit.neighbours import Neighbours
from diptych.audit.sensitivity import Found, search_determinant, search_gradient, search_minimiser, search_output

__all__ = [
    "Claim",
    "Compared",
    "Distinguished",
    "Found",
    "Neighbours",
    "Worst",
    "claims",
    "clopper_pearson",
    "compare",
    "distinguish",
    "search_densities",
    "search_determinant",
    "search_gradient",
    "search_minimiser",
    "search_output",
]
