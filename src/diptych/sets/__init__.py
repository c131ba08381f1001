"""Closed convex sets that hold the parameters: all of space, a ball, balls of positive semidefinite matrices."""

from diptych.sets.euclidean import ConvexSet, Free, L2Ball
from diptych.sets.matrices import PSDFrobeniusBall, PSDTraceBall, pack, packed_size, root, unpack

__all__ = [
    "ConvexSet",
    "Free",
    "L2Ball",
    "PSDFrobeniusBall",
    "PSDTraceBall",
    "pack",
    "packed_size",
    "root",
    "unpack",
]
