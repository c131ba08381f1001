"""Model files: a fitted model as JSON, written whole or not at all, and safe to load.

What a file holds is public: the settings, the released parameters and the guarantee. No seed, no record, no code.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from sklearn.utils.validation import check_is_fitted

from diptych.estimators.model_fields import from_fields, to_fields
from diptych.estimators.ranking import AUCClassifier


def save_model(model: AUCClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file, which is replaced at once or left as it was.

    Parameters
    ----------
    model
        A fitted ``AUCClassifier``. Its random state is not written; the guarantee says whether there was a seed.
    path
        Where to; a file of that name is overwritten.
    """
    if not isinstance(model, AUCClassifier):
        raise TypeError(f"model must be a fitted AUCClassifier; got {type(model).__name__}.")
    check_is_fitted(model)
    text = json.dumps(to_fields(model), indent=2, allow_nan=False)
    with whole_file(path) as file:
        file.write(f"{text}\n".encode())


def load_model(path: str | os.PathLike[str]) -> AUCClassifier:
    """Read a model that ``save_model`` wrote: it predicts and has ``guarantee_``, but no ``release_``.

    Parameters
    ----------
    path
        The file. Nothing in it is executed. That it states a guarantee does not prove the guarantee: a model
        is worth as much trust as whoever gave it to you.

    Returns
    -------
    AUCClassifier
        As fitted, without a random state.
    """
    try:
        return from_fields(_parsed(Path(path).read_bytes()))
    except OverflowError:
        reason = "a number in it is too large; give a file that diptych wrote."
    except ValueError as error:
        reason = str(error)
    raise ValueError(f"{os.fspath(path)!r} cannot be loaded as a model: {reason}")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a draft beside a file, which takes its place if the block ends well and vanishes if it does not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(target.parent)!r} does not exist; create it first.")
    draft = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _parsed(content: bytes) -> Any:
    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON number")

    try:
        return json.loads(content, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON file; give one that diptych wrote.") from None
