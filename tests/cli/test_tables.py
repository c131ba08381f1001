"""Tables: every type that is a number, every refusal, and no refusal that quotes a value."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.cli.refusals import RefusedError
from diptych.cli.tables import read_features, read_table, read_target, require

SECRET = "47111174"
DAY = datetime.date(2001, 2, 3)


def refused(call, *args) -> str:
    with pytest.raises(RefusedError) as caught:
        call(*args)
    text = str(caught.value)
    assert SECRET not in text
    assert "\n" not in text
    assert text.endswith(".")
    assert caught.value.__cause__ is None
    return text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", None, "there is no file"),
        ("folder.csv", ..., "is a folder; name a file in it"),
        ("t.csv", b"", "is empty; fill it"),
        ("t.txt", b"a\n1\n", "must end in .csv or .parquet"),
        ("t.csv", b"\n\n", "as many fields on every line"),
        ("t.csv", f"a,b\n1,2\n{SECRET},{SECRET},{SECRET}\n".encode(), "as many fields on every line"),
        ("t.csv", f"a,b\n1,2\n{SECRET}\n".encode(), "as many fields on every line"),
        ("t.csv", f'a,b\n1,2\n"{SECRET},3\n'.encode(), "as many fields on every line"),
        ("t.csv", f"{SECRET},ill\n5,healthy\n".encode(), "holds a number where a column should be named"),
        ("t.csv", b"a,b\n", "holds no records"),
        ("t.csv", f"\xff,b\n{SECRET},2\n".encode("latin-1"), "it must be UTF-8 text"),
        ("t.parquet", f"PAR1 {SECRET} PAR1".encode(), "damaged or cut short"),
        ("t.parquet", f"a,b\n{SECRET},2\n".encode(), "damaged or cut short"),
    ],
    ids=lambda value: str(value)[:25],
)
def test_files_that_are_no_tables(tmp_path, name, content, message) -> None:
    path = tmp_path / name
    if content is ...:
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    text = refused(read_table, path)
    assert message in text
    assert text.startswith("TABLE")


def test_truncated_parquet(tmp_path, frame) -> None:
    frame.assign(age=float(SECRET)).to_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    for length in (1, 4, len(whole) // 2, len(whole) - 1):
        (tmp_path / "t.parquet").write_bytes(whole[:length])
        assert "damaged or cut short" in refused(read_table, tmp_path / "t.parquet")
    middle = len(whole) // 3
    (tmp_path / "t.parquet").write_bytes(whole[:4] + b"\0" * middle + whole[4 + middle :])
    refused(read_table, tmp_path / "t.parquet")


NUMBERS = {
    "int": pa.array([1, 2, 3]),
    "big": pa.array([2**63 - 1, 0, 1]),
    "unsigned": pa.array([2**64 - 1, 0, 1], pa.uint64()),
    "small": pa.array([1, 2, 3], pa.int8()),
    "float": pa.array([0.1, 2.0, 3.0]),
    "single": pa.array([0.5, 2.0, 3.0], pa.float32()),
    "bool": pa.array([True, False, True]),
    "decimal": pa.array([1, 2, 3], pa.decimal128(10, 2)),
    "dictionary": pa.array([1, 2, 1]).dictionary_encode(),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_become_doubles(tmp_path, name) -> None:
    pa.parquet.write_table(pa.table({name: NUMBERS[name]}), tmp_path / "t.parquet")
    rows = read_features(read_table(tmp_path / "t.parquet"), [name])
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows[:, 0], [float(value) for value in NUMBERS[name].to_pylist()])


REFUSED = {
    "text": (pa.array(["1", SECRET, "3"]), "holds text; encode it as numbers by a public rule"),
    "dictionary": (pa.array(["1", SECRET, "3"]).dictionary_encode(), "holds text"),
    "day": (pa.array([DAY] * 3), "holds dates or times"),
    "list": (pa.array([[1], [2], [3]]), "holds no numbers"),
    "binary": (pa.array([b"1", SECRET.encode(), b"3"]), "holds no numbers"),
    "null": (pa.array([1.0, None, float(SECRET)]), "has missing values; impute or drop"),
    "nothing": (pa.array([None, None, None]), "has missing values"),
    "nan": (pa.array([1.0, np.nan, float(SECRET)]), "holds NaN or infinity"),
    "infinite": (pa.array([1.0, -np.inf, float(SECRET)]), "holds NaN or infinity"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_columns_are_refused_by_name(name) -> None:
    column, message = REFUSED[name]
    text = refused(read_features, pa.table({"age": [1, 2, 3], name: column}), ["age", name])
    assert message in text
    assert f"the column {name!r}" in text


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pa.array(["b", "a"]), ["b", "a"]),
        (pa.array(["b", "a"], pa.large_string()), ["b", "a"]),
        (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"]),
        (pa.array([1, 0]), [1, 0]),
        (pa.array([1.0, -1.0]), [1, -1]),
        (pa.array([True, False]), [True, False]),
    ],
    ids=str,
)
def test_labels_are_texts_whole_numbers_or_truth_values(column, labels) -> None:
    read = read_target(pa.table({"y": column}), "y")
    assert read.tolist() == labels
    assert [type(label) for label in read.tolist()] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([1.5, float(SECRET)]), "must hold texts, whole numbers or truth values"),
        (pa.array([np.nan, float(SECRET)]), "must hold texts, whole numbers or truth values"),
        (pa.array([np.inf, float(SECRET)]), "must hold texts, whole numbers or truth values"),
        (pa.array([DAY, DAY]), "must hold texts"),
        (pa.array([None, SECRET]), "has missing labels"),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_other_targets_are_refused(column, message) -> None:
    assert message in refused(read_target, pa.table({"y": column}), "y")


def test_columns_that_are_missing_or_doubled_are_named() -> None:
    table = pa.table([[1], [2], [3]], names=["a", "a", "b"])
    assert "has no column 'c', 'd', which the model uses" in refused(require, table, ["b", "c", "d"], "the model uses")
    assert "more than one column 'a'" in refused(require, table, ["a"], "the model uses")
    assert "'5' and 4 more" in refused(require, table, [str(k) for k in range(1, 10)], "the model uses")
    require(table, ["b"], "the model uses")


def test_types_hold_for_a_whole_csv_and_not_only_its_beginning(tmp_path) -> None:
    values = ["1"] * 400_000 + ["2.5"]
    (tmp_path / "t.csv").write_text("a\n" + "\n".join(values) + "\n")
    rows = read_features(read_table(tmp_path / "t.csv"), ["a"])
    assert rows[-1, 0] == 2.5
    (tmp_path / "t.csv").write_text("a\n" + "\n".join([*values, SECRET + "x"]) + "\n")
    assert "holds text" in refused(read_features, read_table(tmp_path / "t.csv"), ["a"])


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("age,b\n1,2\n", encoding="utf-8-sig")
    assert read_table(tmp_path / "t.csv").column_names == ["age", "b"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_csv_keeps_every_digit(tmp_path_factory, values) -> None:
    path = Path(tmp_path_factory.mktemp("csv")) / "t.csv"
    pd.DataFrame({"a": values}).to_csv(path, index=False)
    np.testing.assert_array_equal(read_features(read_table(path), ["a"])[:, 0], values)
