"""``diptych fit``: what it writes, what it says, and what it must never say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from diptych import AUCClassifier, Bounds, Logistic, SmoothedHinge, load_model
from diptych.algorithms import OutputPerturbation
from diptych.cli import training

BOX = Bounds(low=[0, 0, 0], high=[120, 1, 20])


@pytest.mark.parametrize("table", ["table.csv", "table.parquet"])
def test_it_is_the_python_model(fit, frame, table) -> None:
    answer = fit("--classes", "healthy,ill", "--seed", 5, table=table)
    assert (answer.code, answer.err) == (0, "")
    loaded = load_model("model.json")
    same = AUCClassifier(2, bounds=BOX, classes=("healthy", "ill"), random_state=5).fit(
        frame[["age", "smoker", "visits"]].astype(float), frame["state"]
    )
    np.testing.assert_array_equal(loaded.coef_, same.coef_)
    assert loaded.guarantee_ == same.guarantee_
    assert list(loaded.feature_names_in_) == ["age", "smoker", "visits"]
    assert list(loaded.classes_) == ["healthy", "ill"]


def test_it_prints_the_guarantee_and_where_the_model_is(fit) -> None:
    out = fit("--classes", "healthy,ill").out
    guarantee = load_model("model.json").guarantee_
    assert guarantee.private
    assert " ".join(str(guarantee).split()) in " ".join(out.split())
    assert out.endswith("The positive class is 'ill'. The model is in model.json.\n")
    assert max(map(len, out.splitlines())) <= 100


def test_it_prints_nothing_else_of_the_table(fit, frame) -> None:
    """Numbers in the output are those of the guarantee; class counts and a training AUC are not among them."""
    out = fit("--classes", "healthy,ill", "--algorithm", "output-perturbation").out
    guarantee = str(load_model("model.json").guarantee_)
    assert set(re.findall(r"\d[\d.]*", out)) <= set(re.findall(r"\d[\d.]*", guarantee))
    for count in frame["state"].value_counts():
        assert not re.search(rf"\b{count}\b", out)
    assert "AUC" not in out


def test_every_option_reaches_the_model(fit) -> None:
    answer = fit(
        *("--delta", "1e-4", "--adjacency", "replace-within-class", "--algorithm", "output-perturbation"),
        *("--loss", "smoothed-hinge", "--margin", 2, "--temperature", 0.5, "--regularization", 0.25),
        *("--radius", 3, "--constants", "defended", "--features", "visits,age", "--classes", "healthy,ill"),
    )
    assert (answer.code, answer.err) == (0, "")
    model = load_model("model.json")
    assert model.get_params() == {
        "epsilon": 2.0,
        "delta": 1e-4,
        "algorithm": "output-perturbation",
        "loss": SmoothedHinge(2.0, 0.5),
        "regularization": 0.25,
        "radius": 3.0,
        "adjacency": "replace-within-class",
        "bounds": Bounds(low=[0, 0], high=[20, 120]),
        "classes": ("healthy", "ill"),
        "threshold": "centre",
        "constants": "defended",
        "random_state": None,
    }
    assert list(model.feature_names_in_) == ["visits", "age"]


def test_defaults_are_those_of_the_estimator(fit) -> None:
    assert fit("--norm", 5, bounds=()).code == 0
    model, plain = load_model("model.json"), AUCClassifier(2.0, bounds=Bounds(norm=5.0))
    assert model.get_params() == {**plain.get_params(), "loss": Logistic()}
    assert any("read off the labels" in text for text in model.guarantee_.assumptions)


def test_paper_constants_and_objective_perturbation(fit) -> None:
    assert fit("--constants", "paper", "--adjacency", "replace-within-class", "--regularization", 1).code == 0
    assert not load_model("model.json").guarantee_.defended
    assert fit("--algorithm", "objective-perturbation", "--force").code == 0
    assert "objective perturbation" in load_model("model.json").guarantee_.mechanism


@pytest.mark.parametrize("words", [("false,true", True), ("0,1", 1), ("-1,1", 1), ("0,1", 1.0)], ids=str)
def test_labels_of_other_types(fit, frame, words) -> None:
    text, positive = words
    negative = type(positive)(text.split(",")[0]) if text != "false,true" else False
    frame.assign(state=np.where(frame["state"] == "ill", positive, negative)).to_parquet("t.parquet")
    assert fit("--classes", text, table="t.parquet").code == 0
    assert load_model("model.json").classes_.tolist() == [negative, positive]


def test_a_table_of_one_class_fits_like_any_other(fit, frame) -> None:
    frame.assign(state="ill").to_csv("one.csv", index=False)
    assert fit("--classes", "healthy,ill", table="one.csv").code == 0


def test_columns_that_are_not_used_may_hold_anything(fit, frame) -> None:
    frame.assign(name="Ann", note=None).to_csv("more.csv", index=False)
    assert fit(table="more.csv").code == 0
    assert fit("--norm", 5, "--drop", "name,note", "--force", table="more.csv", bounds=()).code == 0
    assert list(load_model("model.json").feature_names_in_) == ["age", "smoker", "visits"]


def test_epsilon_inf_says_that_it_promises_nothing(fit) -> None:
    assert "carries no privacy guarantee" in fit(epsilon="inf").out


# Refusals -----------------------------------------------------------------------------------------

SETTINGS = [
    (("--epsilon", "0"), "epsilon must be a number above 0"),
    (("--epsilon", "-1"), "epsilon must be a number above 0"),
    (("--epsilon", "nan"), "epsilon must be a number above 0"),
    (("--delta", "2"), "delta must be a number in [0, 1)"),
    (("--loss", "hinge", "--algorithm", "output-perturbation"), "use loss='smoothed-hinge'"),
    (("--loss", "cosine"), "loss must be one of 'logistic'"),
    (("--margin", "-1"), "margin of the logistic loss must be at least 0"),
    (("--temperature", "0"), "temperature of the logistic loss must be between"),
    (("--algorithm", "magic"), "algorithm must be one of 'auto'"),
    (("--regularization", "-1"), "regularization must be a number of at least 0, or 'auto'"),
    (("--radius", "-1"), "radius must be a number above 0"),
    (("--adjacency", "add"), "adjacency must be one of 'replace'"),
    (("--constants", "sharp"), "constants must be one of 'defended', 'paper'"),
    (("--constants", "paper"), "constants='paper' needs the paper's own setting"),
]
TABLES = [
    (("--target", "disease"), "TABLE has no column 'disease', which is the target"),
    (("--features", "age,weight"), "TABLE has no column 'weight', which is asked for as a feature"),
    (("--features", "age,name"), "the column 'name' has no bounds"),
    (("--features", "age,state"), "--features: 'state' is the target"),
    (("--drop", "weight"), "--drop: TABLE has no column 'weight'"),
    (("--classes", "ill,healthy"), "so write healthy,ill"),
    (("--classes", "healthy,well"), "holds a label that is not among --classes"),
    (("--target", "name"), "must hold two classes"),
]


@pytest.mark.parametrize(("options", "message"), SETTINGS + TABLES, ids=lambda value: " ".join(value)[:40])
def test_refusals_are_one_sentence_and_leave_nothing(fit, frame, options, message) -> None:
    frame.assign(name=[f"name{k}" for k in range(len(frame))]).to_csv("table.csv", index=False)
    before = sorted(Path().iterdir())
    code, out, err = fit(*options)
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert message in err
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("options", [options for options, _ in SETTINGS], ids=str)
def test_settings_are_refused_before_the_table_is_opened(fit, monkeypatch, options) -> None:
    def opened(*_) -> None:
        raise AssertionError

    monkeypatch.setattr(training.tables, "read_table", opened)
    assert "where it should not have" not in fit(*options).err
    assert "where it should not have (AssertionError, cli/training.py" in fit().err


def test_loading_the_settings_accepts_what_fits() -> None:
    training.check_settings(AUCClassifier(algorithm=OutputPerturbation("laplace")))


@pytest.mark.parametrize("bounds", ["", "[bounds]\nweight = [0, 200]\n", "[bounds]\nage = [120, 0]\n"])
def test_refused_bounds(fit, bounds) -> None:
    Path("bounds.toml").write_text(bounds)
    code, out, err = fit()
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert not Path("model.json").exists()


def test_absent_bounds_are_a_usage_error_that_says_how_and_why(fit) -> None:
    code, _, err = fit(bounds=())
    assert code == 2
    assert "give --norm, or --bounds" in err
    assert "would give away its extreme records" in err


def test_nothing_is_overwritten_without_force(fit) -> None:
    assert fit("--seed", 0).code == 0
    old = Path("model.json").read_bytes()
    code, _, err = fit("--seed", 1)
    assert code == 1
    assert err == "Error: --output: 'model.json' exists; name another file, or overwrite it with --force.\n"
    assert Path("model.json").read_bytes() == old
    assert fit("--seed", 1, "--force").code == 0
    assert Path("model.json").read_bytes() != old


def test_where_the_output_cannot_go(fit, frame) -> None:
    Path("folder").mkdir()
    for output, message in [
        ("absent/model.json", "the folder 'absent' does not exist; create it first"),
        ("folder", "'folder' is no file"),
        ("table.csv", "is one of the inputs"),
        ("bounds.toml", "is one of the inputs"),
    ]:
        code, _, err = fit("--output", output, "--force")
        assert code == 1
        assert message in err
    assert len(pd.read_csv("table.csv")) == len(frame)


# Leaks --------------------------------------------------------------------------------------------

SENTINEL = "8675309"


def spoilt(frame: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    frame = frame.astype({column: object})
    frame.loc[7, column] = value
    return frame


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("age", f"about {SENTINEL}", "the column 'age' holds text"),
        ("age", f"2001-02-03 04:05:06.{SENTINEL}", "the column 'age' holds text"),
        ("age", None, "the column 'age' has missing values"),
        ("age", np.inf, "the column 'age' holds NaN or infinity"),
        ("age", f"{SENTINEL}e999", "the column 'age' holds"),
        ("age", f'"{SENTINEL}', "the column 'age' holds text"),
        ("state", f"rare {SENTINEL}", "holds a label that is not among --classes"),
        ("age", f"1{SENTINEL * 6}", ""),
        ("age", float(SENTINEL), ""),
    ],
    ids=str,
)
def test_no_output_quotes_a_value_of_the_table(fit, frame, column, value, message) -> None:
    frame = frame.assign(visits=float(SENTINEL))
    spoilt(frame, column, value).to_csv("table.csv", index=False)
    code, out, err = fit("--classes", "healthy,ill")
    assert code == (1 if message else 0)
    assert message in err
    assert SENTINEL not in out + err
    assert "Ann" not in out + err


def test_rows_that_are_no_rows_are_not_quoted(fit) -> None:
    with Path("table.csv").open("a") as file:
        file.write(f"{SENTINEL},{SENTINEL},1,2,ill,{SENTINEL}\n")
    code, out, err = fit()
    assert (code, out) == (1, "")
    assert "TABLE: 'table.csv' cannot be read" in err
    assert SENTINEL not in err
