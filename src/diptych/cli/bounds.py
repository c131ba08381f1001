"""Public bounds from ``--norm`` or a small TOML file, and the features that they name.

A bounds file holds either ``norm = 3.0``, or a table ``[bounds]`` with a line ``age = [0, 120]`` a column.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diptych.cli.files import readable
from diptych.cli.refusals import MisusedError, RefusedError
from diptych.spec import Bounds

REQUIRED = (
    "bounds are required: give --norm, or --bounds with a TOML file that has a line such as age = [0, 120] for each "
    "column under [bounds]; take them from public knowledge, because bounds read off the table would give away its "
    "extreme records."
)


@dataclass(frozen=True)
class StatedBounds:
    """What was stated of the features: a norm for whichever there are, or an interval a column."""

    norm: float | None = None
    columns: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def of(self, features: Sequence[str]) -> Bounds:
        """Return the bounds of these features, in their order."""
        if self.norm is not None:
            return Bounds(norm=self.norm)
        bare = [name for name in features if name not in self.columns]
        if bare:
            raise RefusedError(
                f"--bounds: the column {bare[0]!r} has no bounds; add a line for it, or do not select it."
            )
        low, high = zip(*(self.columns[name] for name in features), strict=True)
        return Bounds(low=low, high=high)


def state_bounds(file: Path | None, norm: float | None) -> StatedBounds:
    """Read what the caller stated, in exactly one of two ways."""
    if file is not None and norm is not None:
        raise MisusedError("--bounds and --norm exclude each other; leave one out.")
    if norm is not None:
        return _ball(norm, "--norm")
    if file is None:
        raise MisusedError(REQUIRED)
    try:
        document = tomllib.loads(readable("--bounds", file).read_text(encoding="utf-8"))
    except ValueError:  # of syntax, or of encoding
        raise RefusedError(
            f"--bounds: {str(file)!r} is no TOML; write lines such as age = [0, 120] under [bounds]."
        ) from None
    return _stated(document)


def _stated(document: Mapping[str, Any]) -> StatedBounds:
    strangers = [name for name in document if name not in ("norm", "bounds")]
    if strangers:
        raise RefusedError(
            f"--bounds: the key {strangers[0]!r} is unknown; put columns under [bounds], or give norm alone."
        )
    if len(document) != 1:
        raise RefusedError("--bounds: the file must hold either norm or a table [bounds], and not both; give one.")
    if "norm" in document:
        return _ball(document["norm"], "--bounds")
    columns = document["bounds"]
    if not isinstance(columns, dict) or not columns:
        raise RefusedError(
            "--bounds: [bounds] must be a table with a line such as age = [0, 120] for each column; add them."
        )
    return StatedBounds(columns={name: _interval(name, pair) for name, pair in columns.items()})


def _ball(norm: Any, parameter: str) -> StatedBounds:
    if not _is_number(norm):
        raise RefusedError(f"{parameter}: norm must be a number above 0; write norm = 3.0.")
    try:
        Bounds(norm=norm)
    except ValueError as error:
        raise RefusedError(f"{parameter}: {str(error).removeprefix('bounds: ')}") from None
    return StatedBounds(norm=float(norm))


def _interval(name: str, pair: Any) -> tuple[float, float]:
    if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_number, pair)):
        raise RefusedError(f"--bounds: {name!r} must have two numbers, the lower bound and the upper; write [0, 120].")
    try:
        Bounds(low=pair[0], high=pair[1])
    except ValueError as error:
        raise RefusedError(f"--bounds: of {name!r}, {str(error).removeprefix('bounds: ')}") from None
    return float(pair[0]), float(pair[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
