"""The spinner: on a terminal, after a while, and never anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from diptych.cli import patience
from diptych.cli.patience import waiting

pty = pytest.importorskip("pty")

CODE = """
import time
from diptych.cli import patience
patience.PATIENCE = {patience}
try:
    with patience.waiting("Working"):
        time.sleep({work})
        {end}
except KeyboardInterrupt:
    pass
print("done")
"""


def shown(patience: float, work: float, end: str = "pass") -> str:
    """Return what a terminal on standard error gets to see."""
    ours, theirs = pty.openpty()
    code = CODE.format(patience=patience, work=work, end=end)
    environment = {**os.environ, "TERM": "xterm-256color"}
    try:
        subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=theirs, env=environment, check=True)
        return os.read(ours, 100_000).decode()
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_short_wait_shows_nothing() -> None:
    assert shown(patience=30, work=0) == "done\r\n"


def test_a_long_wait_on_a_terminal_shows_what_for() -> None:
    text = shown(patience=0.01, work=0.4)
    assert "Working ..." in text
    assert text.endswith("done\r\n")


def test_a_mishap_stops_the_spinner() -> None:
    text = shown(patience=0.01, work=0.4, end="raise KeyboardInterrupt")
    assert "\x1b[?25h" in text  # the cursor is back
    assert text.endswith("done\r\n")


def test_nothing_is_shown_where_nobody_watches(monkeypatch, capsys) -> None:
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with waiting("Working"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")
