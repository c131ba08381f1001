from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from diptych.estimators.validation import read_classes, read_codes, read_labels, read_rows


def test_labels_are_read_off_in_order() -> None:
    classes, positive = read_labels(["b", "a", "b"], None, 3)
    assert list(classes) == ["a", "b"]
    np.testing.assert_array_equal(positive, [True, False, True])


def test_named_classes_are_a_set() -> None:
    for named in ((1, -1), (-1, 1), np.array([1, -1])):
        classes, positive = read_labels(np.array([1, -1, 1]), read_classes(named), 3)
        assert list(classes) == [-1, 1]
        np.testing.assert_array_equal(positive, [True, False, True])
    assert read_classes(None) is None


def test_a_stranger_among_the_labels_is_not_named() -> None:
    with pytest.raises(ValueError, match="y holds a label that is not in classes") as refusal:
        read_labels(["a", "b", "rare disease"], read_classes(("a", "b")), 3)
    assert "rare" not in str(refusal.value)


@pytest.mark.parametrize("known", [None, ("c", "a", "b"), ("a", "b", "c", "d")])
def test_codes_count_in_sorted_order(known) -> None:
    classes, codes = read_codes(["b", "c", "a", "b"], read_classes(known, most=None), 4)
    assert list(classes) == sorted(known or "abc")
    np.testing.assert_array_equal(codes, [1, 2, 0, 1])
    assert codes.dtype == np.int64


def test_classes_that_do_not_occur_keep_their_codes() -> None:
    classes, codes = read_codes(np.array([7.0, 7.0]), read_classes((7, 3), most=None), 2)
    assert list(classes) == [3, 7]
    np.testing.assert_array_equal(codes, [1, 1])


def test_one_class_and_very_many_are_read_without_a_warning() -> None:
    assert [list(part) for part in read_codes([True, True], None, 2)] == [[True], [0, 0]]
    classes, codes = read_codes(np.arange(100)[::-1], None, 100)
    np.testing.assert_array_equal(classes[codes], np.arange(100)[::-1])


@pytest.mark.parametrize("known", [("a", "b", "c"), (1, 2, 3)])
def test_no_reader_names_a_stranger(known) -> None:
    with pytest.raises(ValueError, match="y holds a label that is not in classes") as refusal:
        read_codes(["a", "b", "rare disease"], read_classes(known, most=None), 3)
    assert "rare" not in str(refusal.value)


def test_dates_and_headers_that_are_records_are_refused() -> None:
    with pytest.raises(ValueError, match="X holds dates or times; turn them into numbers"):
        read_rows(np.array([["2020-01-01", "NaT"]], dtype="datetime64[D]"))
    with pytest.raises(ValueError, match="X holds dates or times"):
        read_rows(np.array([[1, 2]], dtype="timedelta64[s]"))
    with pytest.raises(ValueError, match="whose name reads as a number.* header=None") as refusal:
        read_rows(pd.DataFrame({"0.126": [0.1], "-0.132": [0.2]}))
    assert "0.126" not in str(refusal.value)
    assert read_rows(pd.DataFrame({0: [0.1], 1: [0.2]})).shape == (1, 2)
