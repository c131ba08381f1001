"""``diptych predict`` and ``diptych evaluate``: columns by name, and a private AUC that stands alone."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from diptych import AUCClassifier, Bounds, load_model, save_model

FEATURES = ["age", "smoker", "visits"]


@pytest.fixture(autouse=True)
def model(fit):
    """Fit one, with a seed."""
    assert fit("--seed", 0, "--classes", "healthy,ill").code == 0
    return load_model("model.json")


def from_csv(text: str) -> pd.DataFrame:
    """Read scores back to the last digit."""
    return pd.read_csv(io.StringIO(text), converters={"score": float})


def expected(model, frame) -> pd.DataFrame:
    rows = frame[FEATURES].astype(float)
    return pd.DataFrame({"score": model.decision_function(rows), "prediction": model.predict(rows)})


def test_scores_and_classes_go_to_standard_output(run, model, frame) -> None:
    code, out, err = run("predict", "model.json", "table.csv")
    assert (code, err) == (0, "")
    assert out.startswith("score,prediction\n")
    read = from_csv(out)
    pd.testing.assert_frame_equal(read, expected(model, frame), check_exact=True, check_dtype=False)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_or_to_a_file(run, model, frame, suffix) -> None:
    assert run("predict", "model.json", "table.parquet", "--output", f"scores.{suffix}") == (0, "", "")
    read = from_csv(Path("scores.csv").read_text()) if suffix == "csv" else pd.read_parquet("scores.parquet")
    pd.testing.assert_frame_equal(read, expected(model, frame), check_exact=True, check_dtype=False)


def test_columns_are_matched_by_name_in_any_order(run, frame) -> None:
    plain = run("predict", "model.json", "table.csv").out
    frame[["visits", "state", "age", "smoker"]].assign(name="Ann").to_csv("mixed.csv", index=False)
    assert run("predict", "model.json", "mixed.csv").out == plain
    frame.drop(columns=["age", "visits"]).to_csv("narrow.csv", index=False)
    code, out, err = run("predict", "model.json", "narrow.csv")
    assert (code, out) == (1, "")
    assert "TABLE has no column 'age', 'visits', which the model uses" in err


@pytest.mark.parametrize("labels", [(0, 1), (False, True), ('a "b", c', "d")])
def test_predictions_have_the_type_of_the_classes(run, fit, frame, labels) -> None:
    y = np.array(labels)[(frame["state"] == "ill").astype(int)]
    named = AUCClassifier(bounds=Bounds(norm=100.0)).fit(frame[FEATURES].astype(float), y)
    save_model(named, "other.json")
    read = pd.read_csv(io.StringIO(run("predict", "other.json", "table.csv").out))
    assert read["prediction"].tolist() == named.predict(frame[FEATURES].astype(float)).tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("absent.json", "table.csv"), "MODEL: there is no file 'absent.json'"),
        (("model.json", "absent.csv"), "TABLE: there is no file 'absent.csv'"),
        (("table.csv", "table.csv"), "MODEL: 'table.csv' cannot be loaded as a model: it is no JSON file"),
        (("nameless.json", "table.csv"), "MODEL: 'nameless.json' names no columns"),
        (("model.json", "table.csv", "--output", "scores.txt"), "must end in .csv or .parquet"),
        (("model.json", "table.csv", "--output", "old.csv"), "'old.csv' exists"),
        (("model.json", "table.csv", "--output", "table.csv", "--force"), "is one of the inputs"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_refusals(run, frame, words, message) -> None:
    Path("old.csv").write_text("old")
    y = frame["state"].to_numpy()
    save_model(AUCClassifier(bounds=Bounds(norm=100.0)).fit(frame[FEATURES].to_numpy(dtype=float), y), "nameless.json")
    before = sorted(Path().iterdir())
    code, out, err = run("predict", *words)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before
    assert Path("old.csv").read_text() == "old"


def test_a_failing_write_leaves_nothing(run, monkeypatch) -> None:
    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("diptych.cli.scoring.write_csv", full)
    before = sorted(Path().iterdir())
    code, _, err = run("predict", "model.json", "table.csv", "--output", "scores.csv")
    assert code == 1
    assert "No space left on device" in err
    assert sorted(Path().iterdir()) == before


# Evaluation ---------------------------------------------------------------------------------------


def test_the_plain_auc_says_that_it_is_not_private(run, model, frame) -> None:
    code, out, err = run("evaluate", "model.json", "table.csv", "--target", "state")
    assert (code, err) == (0, "")
    auc = model.score(frame[FEATURES].astype(float), frame["state"])
    assert out == f"AUC {auc:.4f}: exact, NOT private. Do not publish it for a private table; use --epsilon.\n"


def test_the_private_auc_stands_alone_with_its_guarantee(run, model, frame) -> None:
    code, out, err = run("evaluate", "model.json", "table.csv", "--target", "state", "--epsilon", "0.5", "--seed", "3")
    assert (code, err) == (0, "")
    rows = frame[FEATURES].astype(float)
    answer = model.private_score(rows, frame["state"], epsilon=0.5, random_state=3)
    assert out.startswith(f"Private AUC {answer.value:.4f}\n")
    assert " ".join(str(answer.guarantee).split()) in " ".join(out.split())
    assert "NOT private" in out  # because of the seed
    assert f"{model.score(rows, frame['state']):.4f}" not in out


def test_without_a_seed_the_private_auc_is_private_and_fresh(run) -> None:
    answers = [run("evaluate", "model.json", "table.csv", "--target", "state", "--epsilon", "0.1") for _ in range(2)]
    assert all("NOT private" not in answer.out for answer in answers)
    assert answers[0].out != answers[1].out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--target", "disease"), 1, "TABLE has no column 'disease', which is the target"),
        (("--target", "smoker"), 1, "holds a label that is not among the model's classes"),
        (("--target", "age"), 1, "must hold texts, whole numbers or truth values"),
        (("--target", "state", "--epsilon", "0"), 1, "epsilon must be a number above 0"),
        (("--target", "state", "--epsilon", "inf"), 1, "epsilon must be finite for a private score"),
        (("--target", "state", "--seed", "1"), 2, "--seed seeds the noise of a private AUC, which needs --epsilon"),
    ],
)
def test_refused_evaluations(run, words, code, message) -> None:
    answer = run("evaluate", "model.json", "table.csv", *words)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_an_auc_needs_both_classes(run, frame) -> None:
    frame.assign(state="ill").to_csv("one.csv", index=False)
    code, _, err = run("evaluate", "model.json", "one.csv", "--target", "state")
    assert code == 1
    assert "must hold both classes for an AUC" in err
