"""What a release promises, in words that a lawyer can read and as JSON.

A ``Guarantee`` states; it does not compute. Its numbers come from certificates and the accountant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from typing import Any

from diptych.spec.adjacency import Adjacency
from diptych.spec.budget import Budget

FORMAT_VERSION = 1
# What JSON holds for a field of that type; the others are lists.
PLAIN: dict[str, tuple[type, ...]] = {"float": (int, float), "str": (str,), "bool": (bool,), "Adjacency": (str,)}


@dataclass(frozen=True)
class Event:
    """One noisy answer about the table.

    ``sensitivity`` is the most, in ``norm`` and in internal units, by which ``quantity`` may differ
    between neighbouring tables; ``noise_scale`` is the parameter of the noise that hides it (the
    standard deviation of a Gaussian, the scale of a Laplace law).
    """

    quantity: str
    noise: str
    norm: str
    sensitivity: float
    noise_scale: float


@dataclass(frozen=True)
class Guarantee:
    """A differential-privacy guarantee with everything that it rests on.

    Attributes
    ----------
    epsilon, delta
        The promise. ``epsilon = inf`` promises nothing.
    adjacency
        Which tables count as neighbours.
    mechanism
        The name of the algorithm and of its noise.
    sensitivity, noise_scale
        Those of the main event, in internal units (rows in the unit ball).
    events
        All noisy answers, the main one first.
    accountant, sampler
        How the budget was turned into noise, and how the noise was drawn.
    released
        What leaves the curator's hands.
    assumptions
        What the promise needs beyond the mathematics.
    constants
        ``"defended"`` or ``"paper"``.
    defended
        Whether the noise reaches what the library can prove to be enough.
    seeded
        Whether the noise came from a seed: such a release is reproducible, hence not private.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    mechanism: str
    sensitivity: float
    noise_scale: float
    events: tuple[Event, ...]
    accountant: str
    sampler: str
    released: str
    assumptions: tuple[str, ...]
    constants: str = "defended"
    defended: bool = True
    seeded: bool = False

    @property
    def private(self) -> bool:
        """Whether the release may be published under this promise."""
        return math.isfinite(self.epsilon) and self.defended and not self.seeded

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values that JSON can hold."""
        fields = asdict(self)
        fields["adjacency"] = str(self.adjacency)
        for name in ("epsilon", "sensitivity"):  # JSON knows no infinity
            fields[name] = fields[name] if math.isfinite(fields[name]) else "inf"
        fields["events"] = [asdict(event) for event in self.events]
        fields["assumptions"] = list(self.assumptions)
        return {"format": FORMAT_VERSION, **fields}

    def to_json(self) -> str:
        """Return the guarantee as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Guarantee:
        """Rebuild a guarantee from ``to_dict``, or say which field is missing or wrong."""
        version = fields.get("format")
        if version != FORMAT_VERSION:
            raise ValueError(f"format must be {FORMAT_VERSION} for this version of diptych; got {version!r}.")
        rest = _typed(cls, {name: value for name, value in fields.items() if name != "format"})
        Budget(rest["epsilon"], rest["delta"])  # refuses what is no promise
        rest["adjacency"] = Adjacency.parse(rest["adjacency"])
        rest["events"] = tuple(Event(**_typed(Event, event)) for event in rest["events"])
        if not all(isinstance(text, str) for text in rest["assumptions"]):
            raise ValueError("the field 'assumptions' of Guarantee must hold texts only.")
        rest["assumptions"] = tuple(rest["assumptions"])
        return cls(**rest)

    def __str__(self) -> str:
        return "\n".join([self._promise(), *self._basis(), *self._warnings()])

    def _promise(self) -> str:
        if not math.isfinite(self.epsilon):
            return (
                f"This release ({self.released}) carries no privacy guarantee: epsilon is infinite, no noise was added."
            )
        kind = "pure" if self.delta == 0 else "approximate"
        delta = "" if self.delta == 0 else f" and delta = {self.delta:.3g}"
        return (
            f"This release ({self.released}) is {kind} differentially private with epsilon = {self.epsilon:g}"
            f"{delta}: whatever one concludes from it, one would conclude with nearly the same probability "
            f"if {self.adjacency.words}."
        )

    def _basis(self) -> list[str]:
        lines = [f"Mechanism: {self.mechanism}."]
        lines += [
            f"Noise: {event.noise} of scale {event.noise_scale:.4g} hides a change of at most "
            f"{event.sensitivity:.4g} ({event.norm}) in {event.quantity}."
            for event in self.events
        ]
        if self.events:
            lines.append(f"Accounting: {self.accountant}. Sampler: {self.sampler}.")
        if self.assumptions:
            lines.append("It assumes that " + "; that ".join(self.assumptions) + ".")
        return lines

    def _warnings(self) -> list[str]:
        lines = []
        if self.seeded:
            lines.append(
                "The noise came from a seed: the release is reproducible and therefore NOT private. "
                "Use it for experiments only."
            )
        if not self.defended:
            lines.append(
                "The noise follows a published formula that this library cannot defend here: "
                "do not rely on the stated epsilon and delta."
            )
        return lines


def _typed(kind: type[Event] | type[Guarantee], values: Any) -> dict[str, Any]:
    """Return the values of all fields of a class and of no others, each of the right type."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{kind.__name__} must be a mapping of fields to values.")
    wanted = {field.name: PLAIN.get(str(field.type), (list, tuple)) for field in fields_of(kind)}
    if strangers := [name for name in values if name not in wanted]:
        raise ValueError(f"the field {strangers[0]!r} of {kind.__name__} is unknown to this version of diptych.")
    checked: dict[str, Any] = {}
    for name, plain in wanted.items():
        if name not in values:
            raise ValueError(f"the field {name!r} of {kind.__name__} is missing.")
        value = math.inf if values[name] == "inf" and plain == PLAIN["float"] else values[name]
        if not isinstance(value, plain) or (isinstance(value, bool) and bool not in plain):
            raise ValueError(f"the field {name!r} of {kind.__name__} is of the wrong type.")
        checked[name] = float(values[name]) if plain == PLAIN["float"] else value
    return checked
