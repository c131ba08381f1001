"""What ``diptych predict`` and ``diptych evaluate`` share: a model, and a table matched to it by column names."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from diptych.cli import tables
from diptych.cli.files import readable
from diptych.cli.refusals import RefusedError
from diptych.estimators import AUCClassifier
from diptych.estimators.persistence import load_model

STRUCTURE = set(',"\r\n')  # characters that mean something in a CSV


def open_model(path: Path) -> tuple[AUCClassifier, tuple[str, ...]]:
    """Return a model that takes plain arrays, and the columns that it wants in them."""
    readable("MODEL", path)
    try:
        model = copy.copy(load_model(path))
    except ValueError as error:
        raise RefusedError(f"MODEL: {error}") from None
    if not hasattr(model, "feature_names_in_"):
        raise RefusedError(f"MODEL: {str(path)!r} names no columns; fit it with diptych fit, or on a data frame.")
    names = tuple(model.feature_names_in_)
    del model.feature_names_in_  # columns are matched here, so that scikit-learn need not look for names
    return model, names


def open_features(path: Path, names: tuple[str, ...]) -> tuple[Any, tables.Array]:
    """Return a table, and the model's columns of it in the model's order."""
    table = tables.read_table(path)
    tables.require(table, names, "the model uses")
    return table, tables.read_features(table, names)


def predictions(model: AUCClassifier, rows: tables.Array) -> Any:
    """Return a table of scores and predicted classes."""
    scores = model.decision_function(rows)
    return pa.table({"score": scores, "prediction": pa.array(model.classes_[(scores > 0).astype(int)].tolist())})


def write_csv(table: Any, file: BinaryIO) -> None:
    """Write a table of predictions as CSV, with quotes only if a class needs them."""
    classes = pyarrow.compute.unique(table.column("prediction")).to_pylist()
    plain = not any(set(str(label)) & STRUCTURE for label in classes)
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none" if plain else "needed")
    text = io.BytesIO()
    pyarrow.csv.write_csv(table, text, options)
    file.write((",".join(table.column_names) + "\n").encode() + text.getvalue())


def write_parquet(table: Any, file: BinaryIO) -> None:
    """Write a table as Parquet."""
    pyarrow.parquet.write_table(table, file)
