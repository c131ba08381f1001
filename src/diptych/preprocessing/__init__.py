"""From rows in public bounds to rows in the unit ball, and models back to the caller's units."""

from diptych.preprocessing.scaling import BallScaler

__all__ = ["BallScaler"]
