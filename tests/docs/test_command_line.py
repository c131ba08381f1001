"""The shell sessions of the documentation print, letter for letter, what the pages say they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from diptych.cli.app import app
from tests.docs.sessions import BLOCK, replay, steps, workshop

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command-line.md"
PAGES = [
    page for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]) if BLOCK.search(page.read_text())
]


LONG = re.compile(r"-?\d+\.\d{8,}")  # scores: their last digits depend on the machine's order of summation


def rounded(text: str) -> str:
    return LONG.sub(lambda number: f"{float(number.group()):.6g}", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_replay(page) -> None:
    with workshop():
        for block in BLOCK.findall(page.read_text()):
            for command, output in steps(block):
                assert rounded(replay(command)) == rounded(output), command


def test_the_page_has_its_sessions() -> None:
    assert PAGE in PAGES
    told = [output for block in BLOCK.findall(PAGE.read_text()) for _, output in steps(block)]
    assert sum(output.count("Error: ") for output in told) >= 12


@pytest.mark.parametrize("name", ["fit", "predict", "evaluate", "reproduce"])
def test_the_page_lists_every_option(name) -> None:
    section = PAGE.read_text().split(f"## `diptych {name} ")[1].split("\n## ")[0]
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
    listed = set(re.findall(r"^\| `(--[a-z]+)", section, re.MULTILINE))
    assert listed == known - {"--help"}
