"""What a simulation is: a declarative entry beside figures and tables of data sets. No computing but seeds.

A ``Simulation`` measures a few lines at a few places along one axis (n, d, T, ...), again and again from seeds, and
says which power of the axis each line should follow. What measures is a function of a place and a seed at the top of
a module, so that worker processes find it; the module is named after what is simulated (``*_simulated.py``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Measure = Callable[[float, int], Mapping[str, float]]


@dataclass(frozen=True)
class Line:
    """One curve of a simulation.

    ``slope`` is the power of the axis that theory states for it, if it states one; ``bound`` draws it dashed, as what
    is proved rather than measured; lines of one ``hue`` have one colour, and a ``style`` each (of Matplotlib).
    """

    name: str
    slope: float | None = None
    bound: bool = False
    hue: int | None = None
    style: str = ""


@dataclass(frozen=True)
class Simulation:
    """One simulated figure.

    Attributes
    ----------
    name, title, source
        What it is called here, what it shows, and where it is claimed.
    axis, places
        What varies, and its values.
    quantity
        What is measured.
    lines
        The curves; ``measure`` returns a value for each.
    measure
        Called with a place and a seed; of the top level of a module.
    setting
        How a value comes about, as a sentence without its full stop.
    repeats
        Seeds a place.
    powers
        Whether lines should follow powers of the axis: then both axes are logarithmic, and slopes are fitted.
    uncovered
        What it could also show and why it does not.
    """

    name: str
    title: str
    source: str
    axis: str
    places: tuple[float, ...]
    quantity: str
    lines: tuple[Line, ...]
    measure: Measure
    setting: str
    repeats: int = 10
    powers: bool = True
    uncovered: tuple[str, ...] = ()

    def seed(self, place: float, repeat: int) -> int:
        """Return the seed of one repeat: a function of the entry's name, the place and the number alone."""
        digest = hashlib.sha256(f"{self.name} {place:g} repeat {repeat}".encode()).digest()
        return int.from_bytes(digest[:6], "big")

    def fingerprint(self, place: float, code: str) -> str:
        """Return a short digest of what the values at a place depend on."""
        what = (self.name, place, self.repeats, tuple(line.name for line in self.lines), code)
        return hashlib.sha256(repr(what).encode()).hexdigest()[:16]
