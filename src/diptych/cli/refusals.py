"""How the command line says no: one sentence that names the parameter and the remedy, and no private value.

Messages of other libraries may quote the table: none of them is ever shown.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

import typer

import diptych

P = ParamSpec("P")
T = TypeVar("T")

REFUSED, MISUSED, INTERRUPTED = 1, 2, 130
SOURCE = Path(diptych.__file__).parent


class RefusedError(Exception):
    """An input that cannot be used: the message names it and says what would serve."""

    code = REFUSED


class MisusedError(RefusedError):
    """Options that contradict each other or miss one another."""

    code = MISUSED


def guarded(command: Callable[P, T]) -> Callable[P, T]:
    """Wrap a command so that whatever goes wrong ends in one sentence and an exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            _leave("Interrupted; no file was half-written.", INTERRUPTED)
        except RefusedError as refusal:
            _leave(f"Error: {refusal}", refusal.code)
        except Exception as error:
            if isinstance(error, BrokenPipeError) or type(error).__module__.startswith(("typer", "click")):
                raise
            _leave(f"Error: {explain(error)}", REFUSED)

    return run


def explain(error: Exception) -> str:
    """Say what an exception may say: what diptych raised itself in full, of others only where they came from."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename or 'a file'}; free the way to it, or name another."
    if isinstance(error, MemoryError):
        return "the table does not fit into memory; use a machine with more of it."
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first one is the guard
    if frames and SOURCE in Path(frames[-1].filename).parents and (frames[-1].line or "").startswith("raise "):
        return " ".join(str(error).split())
    ours = [frame for frame in frames if SOURCE in Path(frame.filename).parents]
    place = f", {Path(ours[-1].filename).relative_to(SOURCE)}:{ours[-1].lineno}" if ours else ""
    return f"diptych failed where it should not have ({type(error).__name__}{place}); please report this as a bug."


def _leave(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)
