"""From rows and labels in public bounds to the unit ball and [-1, 1], and models back to the caller's units."""

from diptych.preprocessing.labels import LabelScaler
from diptych.preprocessing.scaling import BallScaler

__all__ = ["BallScaler", "LabelScaler"]
