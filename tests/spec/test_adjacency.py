from __future__ import annotations

import pytest

from diptych import Adjacency
from diptych.spec import OF_PAIRS, TableSize


def test_names_parse_to_members() -> None:
    assert Adjacency.parse("replace") is Adjacency.REPLACE
    assert Adjacency.parse(Adjacency.REPLACE_WITHIN_CLASS) is Adjacency.REPLACE_WITHIN_CLASS
    assert str(Adjacency.REPLACE) == "replace"
    with pytest.raises(ValueError, match="adjacency must be one of 'replace', 'replace-within-class'"):
        Adjacency.parse("add")


def test_sizes_without_a_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="n must be at least 2"):
        TableSize(1)
    with pytest.raises(ValueError, match="both classes must occur"):
        TableSize(5, 0)
    with pytest.raises(ValueError, match="both classes must occur"):
        TableSize(5, 5)
    assert TableSize(5, 2).negatives == 3
    assert TableSize(5).negatives is None


def test_records_that_come_and_go_are_for_points_only() -> None:
    assert Adjacency.parse("add-remove") is Adjacency.ADD_REMOVE not in OF_PAIRS
    assert set(OF_PAIRS) | {Adjacency.ADD_REMOVE} == set(Adjacency)
    assert len({adjacency.words for adjacency in Adjacency}) == 3
    assert "number of records is private" in Adjacency.ADD_REMOVE.words
