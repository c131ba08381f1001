"""Public bounds and the choice of columns: what they mean, and one sentence for each mistake."""

from __future__ import annotations

import numpy as np
import pytest

from diptych import Bounds
from diptych.cli.bounds import StatedBounds, state_bounds
from diptych.cli.columns import check_labels, read_classes, select, split
from diptych.cli.refusals import MisusedError, RefusedError


def stated(tmp_path, text: str) -> StatedBounds:
    (tmp_path / "b.toml").write_text(text)
    return state_bounds(tmp_path / "b.toml", None)


def test_a_norm_is_a_ball(tmp_path) -> None:
    assert state_bounds(None, 3.0).of(["a", "b"]) == Bounds(norm=3.0)
    assert stated(tmp_path, "norm = 3\n").of(["a", "b"]) == Bounds(norm=3.0)


def test_intervals_follow_the_features(tmp_path) -> None:
    box = stated(tmp_path, '[bounds]\nb = [0, 1]\n"a b" = [-2.5, 7]\n')
    assert tuple(box.columns) == ("b", "a b")
    assert box.of(["a b", "b"]) == Bounds(low=(-2.5, 0.0), high=(7.0, 1.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nothing\n", "either norm or a table [bounds], and not both"),
        ("norm = 3\n[bounds]\na = [0, 1]\n", "either norm or a table [bounds], and not both"),
        ("age = [0, 120]\n", "the key 'age' is unknown; put columns under [bounds]"),
        ("norms = 3\n", "the key 'norms' is unknown"),
        ("bounds = 3\n", "[bounds] must be a table with a line such as age = [0, 120]"),
        ("[bounds]\n", "[bounds] must be a table"),
        ("[bounds]\na = 3\n", "'a' must have two numbers"),
        ("[bounds]\na = [1]\n", "'a' must have two numbers"),
        ("[bounds]\na = [0, 1, 2]\n", "'a' must have two numbers"),
        ("[bounds]\na = ['0', '1']\n", "'a' must have two numbers"),
        ("[bounds]\na = [false, true]\n", "'a' must have two numbers"),
        ("[bounds]\na = [1, 0]\n", "of 'a', low must be below high for every feature; got low=1.0 and high=0.0"),
        ("[bounds]\na = [1, 1]\n", "of 'a', low must be below high"),
        ("[bounds]\na = [0, inf]\n", "of 'a', high must be finite numbers"),
        ("[bounds]\na = [nan, 1]\n", "of 'a', low must be finite numbers"),
        ("norm = 0\n", "norm must be above 0"),
        ("norm = '3'\n", "norm must be a number above 0"),
        ("norm = true\n", "norm must be a number above 0"),
        ("a: [0, 1]\n", "is no TOML; write lines such as age = [0, 120] under [bounds]"),
        ("[bounds]\na = [0, 1]\na = [0, 2]\n", "is no TOML"),
    ],
)
def test_mistakes_in_a_bounds_file(tmp_path, text, message) -> None:
    with pytest.raises(RefusedError) as refusal:
        stated(tmp_path, text)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("--bounds: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("norm", [0.0, -1.0, float("nan"), float("inf")])
def test_mistakes_in_a_norm(norm) -> None:
    with pytest.raises(RefusedError, match="^--norm: norm must be"):
        state_bounds(None, norm)


def test_bounds_are_required_in_one_way_and_the_refusal_says_why(tmp_path) -> None:
    with pytest.raises(MisusedError, match=r"--norm, or --bounds .* age = \[0, 120\] .* give away its extreme records"):
        state_bounds(None, None)
    with pytest.raises(MisusedError, match="exclude each other"):
        state_bounds(tmp_path, 3.0)
    with pytest.raises(RefusedError, match="--bounds: there is no file"):
        state_bounds(tmp_path / "absent.toml", None)


# Columns ------------------------------------------------------------------------------------------

TABLE = ("y", "a", "b", "c", "__index_level_0__")
BOX = StatedBounds(columns={"c": (0.0, 1.0), "a": (0.0, 2.0)})
BALL = StatedBounds(norm=1.0)


@pytest.mark.parametrize(
    ("box", "only", "drop", "names"),
    [
        (BALL, None, None, ("a", "b", "c")),
        (BALL, ("c", "a"), None, ("c", "a")),
        (BALL, None, ("b",), ("a", "c")),
        (BOX, None, None, ("c", "a")),
        (BOX, None, ("c",), ("a",)),
        (BOX, ("a", "c"), None, ("a", "c")),
    ],
)
def test_features_are_listed_or_bounded_or_all(box, only, drop, names) -> None:
    assert select(TABLE, "y", box, only, drop) == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TABLE, "y", BALL, ("a", "y"), None), "--features: 'y' is the target and no feature"),
        ((TABLE, "a", BOX, None, None), "--bounds: 'a' is the target and no feature"),
        ((TABLE, "y", BALL, None, ("z",)), "--drop: TABLE has no column 'z'"),
        ((TABLE, "y", BALL, None, ("a", "b", "c")), "no feature is left"),
        ((("", "y", "a"), "y", BALL, None, None), "a column without a name"),
    ],
)
def test_mistakes_in_the_choice_of_columns(arguments, message) -> None:
    with pytest.raises(RefusedError, match=message):
        select(*arguments)


def test_a_feature_without_bounds_is_named() -> None:
    with pytest.raises(RefusedError, match="the column 'b' has no bounds; add a line for it"):
        BOX.of(["a", "b"])


@pytest.mark.parametrize(
    ("text", "names"),
    [(None, None), ("a", ("a",)), ("a,b", ("a", "b")), ('"a,b",c', ("a,b", "c")), ("a b, c", ("a b", " c"))],
)
def test_lists_are_split_at_commas(text, names) -> None:
    assert split(text, "--features") == names


@pytest.mark.parametrize("text", ["", ",", "a,,b", "a,a"])
def test_lists_that_are_none(text) -> None:
    with pytest.raises(MisusedError, match="--features must be different names"):
        split(text, "--features")


TEXTS, INTEGERS, TRUTHS = np.array(["no", "yes"]), np.array([0, 1]), np.array([False, True])


@pytest.mark.parametrize(
    ("text", "labels", "classes"),
    [
        (None, TEXTS, None),
        ("no,yes", TEXTS, ("no", "yes")),
        ("0,1", TEXTS, ("0", "1")),
        ("0,1", INTEGERS, (0, 1)),
        ("-1,1", INTEGERS, (-1, 1)),
        ("2,10", INTEGERS, (2, 10)),
        ("false,True", TRUTHS, (False, True)),
    ],
)
def test_classes_take_the_type_of_the_target(text, labels, classes) -> None:
    assert read_classes(text, labels, "y") == classes


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        ("yes,no", TEXTS, "the class that sorts last is the positive one, so write no,yes; if no is to be positive"),
        ("1,0", INTEGERS, "so write 0,1"),
        ("no,yes", INTEGERS, "'y' holds whole numbers, unlike 'no'; write 0,1"),
        ("no,yes", TRUTHS, "'y' holds truth values, unlike 'no'; write false,true"),
        ("1,01", INTEGERS, "names the same label twice"),
        ("a,b,c", TEXTS, "must name two labels"),
    ],
)
def test_mistakes_in_classes(text, labels, message) -> None:
    with pytest.raises(RefusedError, match=message):
        read_classes(text, labels, "y")


def test_strangers_among_the_labels_are_not_named() -> None:
    for labels, classes in [
        (np.array(["no", "yes", "secret"]), ("no", "yes")),
        (np.array(["secret", "no"]), (0, 1)),
        (np.array([0, 1]), ("0", "1")),
        (np.array(["no", "yes", "secret"]), None),
        (np.array(["secret", "secret"]), None),
    ]:
        with pytest.raises(RefusedError, match="the target 'y'") as refusal:
            check_labels(labels, classes, "y", "--classes")
        assert "secret" not in str(refusal.value)
    check_labels(np.array(["no", "no"]), ("no", "yes"), "y", "--classes")
