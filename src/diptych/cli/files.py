"""Files that a command is given: input that can be read, output that may be written, checked before any work."""

from __future__ import annotations

import os
from pathlib import Path

from diptych.cli.refusals import RefusedError


def readable(parameter: str, path: Path) -> Path:
    """Return the path of a file with something in it, or refuse it."""
    if not path.exists():
        raise RefusedError(f"{parameter}: there is no file {str(path)!r}; check the spelling and the folder.")
    if path.is_dir():
        raise RefusedError(f"{parameter}: {str(path)!r} is a folder; name a file in it.")
    if not os.access(path, os.R_OK):
        raise RefusedError(f"{parameter}: {str(path)!r} may not be read; ask for permission to read it.")
    if path.is_file() and path.stat().st_size == 0:
        raise RefusedError(f"{parameter}: {str(path)!r} is empty; fill it, or export it again.")
    return path


def writable(path: Path, *, force: bool, inputs: tuple[Path, ...]) -> Path:
    """Return the path of a file that may be written, or refuse it."""
    if not path.parent.is_dir():
        raise RefusedError(f"--output: the folder {str(path.parent)!r} does not exist; create it first.")
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise RefusedError(f"--output: {str(path)!r} is no file; name a file.")
    if path.exists() and any(file.exists() and path.samefile(file) for file in inputs):
        raise RefusedError(f"--output: {str(path)!r} is one of the inputs; name another file.")
    if path.exists() and not force:
        raise RefusedError(f"--output: {str(path)!r} exists; name another file, or overwrite it with --force.")
    if not os.access(path.parent, os.W_OK):
        raise RefusedError(f"--output: nothing may be written in {str(path.parent)!r}; name another folder.")
    return path
