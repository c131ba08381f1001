"""Closed convex sets that hold the parameters: all of space, or a ball."""

from diptych.sets.euclidean import ConvexSet, Free, L2Ball

__all__ = ["ConvexSet", "Free", "L2Ball"]
