"""The command as a whole: instant help, exit codes, nothing that leaks when something breaks."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import typer

import diptych
from diptych.algorithms.choose import ALGORITHMS
from diptych.cli import columns
from diptych.cli.app import COMMANDS, app
from diptych.cli.refusals import RefusedError, guarded
from diptych.estimators.validation import read_rows
from diptych.losses import LOSSES
from diptych.spec import OF_PAIRS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"], ["fit", "absent.csv"]], ids=str)
def test_nothing_heavy_is_loaded_before_there_is_work(words) -> None:
    code = (
        "import sys\nfrom diptych.cli import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "heavy = ('numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'pandas', 'matplotlib')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_python_m_is_the_same_command() -> None:
    out = subprocess.run([sys.executable, "-m", "diptych", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout == f"diptych {diptych.__version__}\n"


def test_the_entry_point_leads_here() -> None:
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["diptych"]
    module, name = target.split(":")
    assert getattr(import_module(module), name) is import_module("diptych.cli").main


def test_every_command_has_help(run) -> None:
    listed = {command.name for command in app.registered_commands}
    assert listed >= {"fit", "predict", "evaluate"}
    assert listed <= set(COMMANDS)
    for name in listed:
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: diptych {name}")


def test_help_names_what_there_is(run) -> None:
    text = " ".join(run("fit", "--help").out.split()).replace("- ", "-")  # names are broken at hyphens
    for name in [*ALGORITHMS, *LOSSES, *OF_PAIRS, "defended", "paper"]:
        assert name in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["magic"], "No such command 'magic'"),
        (["fit"], "Missing argument 'TABLE'"),
        (["fit", "t.csv", "--target", "y", "--output", "m"], "Missing option '--epsilon'"),
        (["fit", "t.csv", "--epsilon", "small"], "Invalid value for '--epsilon'"),
        (["fit", "t.csv", "--seed", "-1"], "Invalid value for '--seed'"),
        (["predict", "m.json", "t.csv", "--magic"], "No such option"),
    ],
)
def test_a_command_that_cannot_be_understood_is_code_2(run, words, message) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


SECRET = "secret 4711"


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (KeyError(SECRET), "where it should not have (KeyError); please report", 1),
        (ValueError(SECRET), "where it should not have (ValueError)", 1),
        (OSError(28, "No space left on device", "m.json"), "Error: No space left on device: m.json; free the way", 1),
        (OSError(SECRET), "where it should not have (OSError)", 1),
        (MemoryError(SECRET), "does not fit into memory", 1),
        (RefusedError("TABLE: no."), "Error: TABLE: no.\n", 1),
        (KeyboardInterrupt(), "Interrupted", 130),
    ],
)
def test_whatever_goes_wrong_ends_in_one_sentence(capsys, error, message, code) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(typer.Exit) as leaving:
        guarded(fail)()
    out, err = capsys.readouterr()
    assert leaving.value.exit_code == code
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert SECRET not in err


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (lambda: diptych.Budget(0), "Error: epsilon must be a number above 0, or infinity"),
        # Errors of Python and of libraries that surface in a line of diptych, which does not raise them itself:
        (lambda: columns.split(4711, "--drop"), "should not have (Error, cli/columns.py:"),
        (lambda: columns.read_classes("a,b", [SECRET], "y"), "should not have (AttributeError, cli/columns.py:"),
        (lambda: read_rows([[SECRET, 1], [2]]), "Error: X must hold numbers only"),
    ],
)
def test_only_what_diptych_itself_raises_is_shown(capsys, call, shown) -> None:
    with pytest.raises(typer.Exit):
        guarded(call)()
    err = capsys.readouterr().err
    assert shown in err
    assert "4711" not in err


def test_settings_that_exclude_each_other_are_code_2(fit) -> None:
    for more, message in [
        (("--norm", 3), "--bounds and --norm exclude each other"),
        (("--features", "age", "--drop", "visits"), "--features and --drop exclude each other"),
        (("--delta", "small"), "--delta must be a number or auto; got 'small'."),
        (("--regularization", "much"), "--regularization must be a number or auto"),
        (("--features", "age,age"), "--features must be different names"),
        (("--classes", "ill"), "--classes must name two labels"),
    ]:
        code, out, err = fit(*more)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
    assert not Path("model.json").exists()


def test_an_interrupted_fit_leaves_nothing(fit, monkeypatch) -> None:
    def interrupt(*_, **__) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("diptych.estimators.persistence.os.replace", interrupt)
    before = sorted(Path().iterdir())
    code, out, err = fit()
    assert (code, out) == (130, "")
    assert err.startswith("Interrupted")
    assert sorted(Path().iterdir()) == before
