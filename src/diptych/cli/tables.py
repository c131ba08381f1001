"""Tables from CSV and Parquet files. Refusals name the file or the column, and never quote what is in it.

pyarrow's own messages quote rows, so they stop here. Its columns are named only where the caller named them first, or
where the header is known to be one: the first line of a file without a header is a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import types

from diptych.cli.files import readable
from diptych.cli.patience import waiting
from diptych.cli.refusals import RefusedError

Array = NDArray[np.float64]

TROUBLE = (pa.ArrowException, OSError, ValueError, KeyError)  # what pyarrow raises, some of it as Python's own
MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "None")  # what a text column of a CSV holds for them
REMEDIES = {
    ".csv": "it must be UTF-8 text with as many fields on every line as on the first, the header; export it again",
    ".parquet": "it is damaged or cut short; export it again",
}


def read_table(path: Path, parameter: str = "TABLE") -> Any:
    """Return the table in a file, in pyarrow's form."""
    readable(parameter, path)
    suffix = path.suffix.lower()
    if suffix not in REMEDIES:
        raise RefusedError(f"{parameter}: {str(path)!r} must end in .csv or .parquet; convert or rename it.")
    try:
        with waiting(f"Reading {path.name}"):
            if suffix == ".csv":
                table = pyarrow.csv.read_csv(path)
            else:
                with pyarrow.parquet.ParquetFile(path) as file:
                    table = file.read()
        names = table.column_names  # decodes them, which may fail
    except MemoryError:  # Arrow's is one of its other errors, too
        raise
    except TROUBLE:
        raise RefusedError(f"{parameter}: {str(path)!r} cannot be read: {REMEDIES[suffix]}.") from None
    if suffix == ".csv" and any(map(_looks_like_data, names)):
        raise RefusedError(
            f"{parameter}: the first line of {str(path)!r} holds a number where a column should be named; "
            "put a line with names first."
        )
    if table.num_rows == 0:
        raise RefusedError(f"{parameter}: {str(path)!r} holds no records; export it again.")
    return table


def require(table: Any, names: Sequence[str], whose: str, parameter: str = "TABLE") -> None:
    """Refuse a table that lacks one of these columns, or holds it twice."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise RefusedError(
            f"{parameter} has no column {_listed(missing)}, which {whose}; check the spelling, and that commas "
            "separate the fields of a CSV."
        )
    twice = [name for name in names if table.column_names.count(name) > 1]
    if twice:
        raise RefusedError(f"{parameter} has more than one column {_listed(twice)}; rename or drop all but one.")


def read_features(table: Any, names: Sequence[str], parameter: str = "TABLE") -> Array:
    """Return the named columns as doubles, records by features."""
    rows = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        column = _decoded(table.column(name))
        _need_numbers(column, name, parameter)
        try:
            rows[:, k] = column.cast(pa.float64(), safe=False).to_numpy()
        except TROUBLE:
            raise RefusedError(
                f"{parameter}: the column {name!r} cannot be turned into numbers; do so yourself."
            ) from None
        if not np.isfinite(rows[:, k]).all():
            raise RefusedError(
                f"{parameter}: the column {name!r} holds NaN or infinity; impute or drop such records by a rule that "
                "looks at one record at a time."
            )
    return rows


def read_target(table: Any, name: str, parameter: str = "TABLE") -> NDArray[Any]:
    """Return the column of labels as texts, whole numbers or truth values."""
    column = _decoded(table.column(name))
    kind = column.type
    if column.null_count:
        raise RefusedError(f"{parameter}: the target {name!r} has missing labels; drop such records.")
    if types.is_string(kind) or types.is_large_string(kind):
        labels = np.asarray(column.to_pylist(), dtype=np.str_)
        if np.any(np.isin(np.char.strip(labels), MISSING)):
            raise RefusedError(f"{parameter}: the target {name!r} has missing labels; drop such records.")
        return labels
    if types.is_boolean(kind) or types.is_integer(kind):
        return np.asarray(column.to_numpy())
    if types.is_floating(kind):
        values = column.to_numpy()
        if np.all(np.abs(values) < 2**53) and np.all(values == np.floor(values)):
            return np.asarray(values.astype(np.int64))
    raise RefusedError(f"{parameter}: the target {name!r} must hold texts, whole numbers or truth values; recode it.")


def _decoded(column: Any) -> Any:
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def _need_numbers(column: Any, name: str, parameter: str) -> None:
    kind = column.type
    if column.null_count or types.is_null(kind):
        raise RefusedError(
            f"{parameter}: the column {name!r} has missing values; impute or drop such records by a rule that looks "
            "at one record at a time."
        )
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    if not numeric:
        held = "dates or times" if types.is_temporal(kind) else "text" if types.is_string(kind) else "no numbers"
        raise RefusedError(
            f"{parameter}: the column {name!r} holds {held}; encode it as numbers by a public rule, or leave it out "
            "with --drop."
        )


def _looks_like_data(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
