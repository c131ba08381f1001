"""Shell sessions in the documentation: find them, replay them, and write what they print.

In a ``console`` block, ``$ `` opens a command, ``> `` goes on with it, and other lines are its output. After a change
of wording or noise, ``python -m tests.docs.sessions docs/command-line.md`` writes the new output into the page; read
the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from diptych.cli import main

BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"[|<>;&$`*\n]")  # what only a shell understands
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def steps(block: str) -> list[tuple[str, str]]:
    """Return the commands of a session, each with its output."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith((">\n", "> ")) and not found[-1][1]:
            found[-1] = (found[-1][0] + line[1:].removeprefix(" "), "")
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def replay(command: str) -> str:
    """Return what a command prints in this folder: in this process if it is a plain call of diptych."""
    if not command.startswith("diptych ") or SHELL.search(command.rstrip("\n")):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(["bash", "-c", command], text=True, check=False, **pipes).stdout
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        main(shlex.split(command)[1:])
    said.seek(0)
    return said.read()


def render(block: str) -> str:
    """Return a session with the output that its commands print now."""
    return "".join(written(command) + replay(command) for command, _ in steps(block))


def written(command: str) -> str:
    """Return a command as a page shows it."""
    first, *more = command.splitlines()
    return "\n".join([f"$ {first}", *(f"> {line}".rstrip() for line in more)]) + "\n"


@contextlib.contextmanager
def workshop() -> Iterator[None]:
    """Enter an empty folder with ``diptych`` and ``python`` on the path, a fixed width and no colour."""
    before, folder = dict(os.environ), os.getcwd()
    with tempfile.TemporaryDirectory() as tools, tempfile.TemporaryDirectory() as work:
        for name, call in {"python": "", "diptych": " -m diptych"}.items():
            tool = Path(tools, name)
            tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{call} "$@"\n')
            tool.chmod(0o755)
        os.environ |= {**ENVIRONMENT, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        os.chdir(work)
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ |= before


if __name__ == "__main__":
    page = Path(sys.argv[1]).resolve()
    with workshop():
        text = BLOCK.sub(lambda match: render(match.group()), page.read_text())
    page.write_text(text)
