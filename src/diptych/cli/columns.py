"""Which columns are the features, and which labels the classes: from what the caller wrote."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.cli.bounds import StatedBounds
from diptych.cli.refusals import MisusedError, RefusedError

INDEX = re.compile(r"__index_level_\d+__$")  # how pandas writes an index to Parquet
TRUTH = {"false": False, "true": True}


def split(text: str | None, parameter: str) -> tuple[str, ...] | None:
    """Split a list at commas; a name that holds one is put in double quotes."""
    if text is None:
        return None
    names = tuple(next(csv.reader([text]), []))
    if not names or "" in names or len(set(names)) < len(names):
        raise MisusedError(f"{parameter} must be different names with commas between them; write a,b,c.")
    return names


def select(
    table: Sequence[str],
    target: str,
    stated: StatedBounds,
    only: tuple[str, ...] | None,
    drop: tuple[str, ...] | None,
) -> tuple[str, ...]:
    """Return the features in order: as listed, else as bounded, else as in the table; less the dropped ones."""
    for parameter, names in (("--features", only), ("--bounds", tuple(stated.columns))):
        if target in (names or ()):
            raise RefusedError(f"{parameter}: {target!r} is the target and no feature; take it out.")
    strangers = [name for name in drop or () if name not in table]
    if strangers:
        raise RefusedError(f"--drop: TABLE has no column {strangers[0]!r}; check the spelling.")
    names = only or tuple(stated.columns) or tuple(name for name in table if name != target and not INDEX.match(name))
    names = tuple(name for name in names if name not in (drop or ()))
    if not names:
        raise RefusedError("no feature is left; list some with --features, or drop fewer.")
    if "" in names:
        raise RefusedError("TABLE has a column without a name; name it, or list the others with --features.")
    return names


def read_classes(text: str | None, labels: NDArray[Any], target: str) -> tuple[Any, Any] | None:
    """Return the two public classes as labels of the target's type, the negative one first."""
    names = split(text, "--classes")
    if names is None:
        return None
    if len(names) != 2:
        raise MisusedError("--classes must name two labels, the negative one first; write no,yes.")
    negative, positive = (_label(name, labels, target) for name in names)
    if negative == positive:
        raise RefusedError("--classes names the same label twice; name two different ones.")
    if not negative < positive:
        raise RefusedError(
            f"--classes: the class that sorts last is the positive one, so write {names[1]},{names[0]}; if {names[1]} "
            f"is to be positive, recode the column {target!r}."
        )
    return negative, positive


def check_labels(labels: NDArray[Any], classes: Sequence[Any] | None, target: str, named: str) -> None:
    """Refuse labels of other classes than the two, without telling which."""
    if classes is None:
        if len(np.unique(labels)) != 2:
            raise RefusedError(
                f"TABLE: the target {target!r} must hold two classes; name the two with --classes, or recode it."
            )
        return
    alike = (labels.dtype.kind == "U") == isinstance(classes[0], str)
    if not alike or not np.all((labels == classes[0]) | (labels == classes[1])):
        raise RefusedError(f"TABLE: the target {target!r} holds a label that is not among {named}; drop such records.")


def _label(name: str, labels: NDArray[Any], target: str) -> Any:
    if labels.dtype.kind == "U":
        return name
    try:
        return TRUTH[name.lower()] if labels.dtype.kind == "b" else int(name)
    except (KeyError, ValueError):
        kind, remedy = ("truth values", "false,true") if labels.dtype.kind == "b" else ("whole numbers", "0,1")
        raise RefusedError(f"--classes: the target {target!r} holds {kind}, unlike {name!r}; write {remedy}.") from None
