from __future__ import annotations

import numpy as np
import pytest

from diptych.estimators.validation import read_classes, read_labels


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
