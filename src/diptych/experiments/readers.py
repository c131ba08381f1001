"""Data sets in a folder of the user's: which known ones are there, and how to read them.

Two formats: NumPy archives with ``X`` and ``y`` in {-1, +1}, and LIBSVM text, plain or compressed (.bz2, .gz).
Labels of more than two classes are made binary as Wang et al. do: the first half of the labels is positive.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Part = tuple[Array, Mask]

ENDINGS = ("", ".bz2", ".gz")
COPIES = 4  # of a dense table that an experiment holds at once


class DataError(ValueError):
    """A folder or file that cannot serve; the message says what would."""


@dataclass(frozen=True)
class Known:
    """A data set by the names its files go by: archives first, then LIBSVM's names.

    ``test`` is empty where no test part is published; then ``splits`` random 80/20 splits serve (0: one a repeat).
    """

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...] = ()
    splits: int = 0


CATALOGUE = (
    Known("ijcnn1", ("ijcnn1_train.npz", "ijcnn1"), ("ijcnn1_test.npz", "ijcnn1.t")),
    Known("satimage", ("satimage_train.npz", "satimage.scale"), ("satimage_test.npz", "satimage.scale.t")),
    Known("http", ("kddcup99_http.npz", "http.npz", "kddcup99_http"), splits=6),
    Known("webspam", ("webspam.npz", "webspam_wc_normalized_unigram.svm", "webspam*"), splits=6),
    Known("a9a", ("a9a_train.npz", "a9a"), ("a9a_test.npz", "a9a.t")),
    Known("pima", ("pima.npz", "diabetes", "diabetes_scale")),
    Known("diabetic_retinopathy", ("diabetic_retinopathy.npz",)),
    Known("german_credit", ("german_credit.npz", "german.numer", "german.numer_scale")),
)


@dataclass(frozen=True)
class Source:
    """The files of one data set that were found."""

    name: str
    train: Path
    test: Path | None
    splits: int

    def digest(self) -> str:
        """Return a digest of the files' contents."""
        total = hashlib.sha256()
        for path in (self.train, self.test):
            if path is not None:
                with path.open("rb") as file:
                    total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()[:16]

    def read(self) -> tuple[Part, Part | None]:
        """Return the training part (or the whole) and the published test part, if there is one."""
        train = read_part(self.train)
        return train, None if self.test is None else read_part(self.test, train[0].shape[1])


def find_sources(folder: Path, wanted: Iterable[str]) -> dict[str, Source]:
    """Return the wanted data sets that the folder holds, in the catalogue's order; refuse if there is none."""
    if not folder.is_dir():
        raise DataError(f"data: there is no folder {str(folder)!r}; give one that holds the data sets.")
    names = set(wanted)
    unknown = names - {known.name for known in CATALOGUE}
    if unknown:
        every = ", ".join(known.name for known in CATALOGUE)
        raise DataError(f"data: {', '.join(sorted(unknown))} is not a known data set; known are {every}.")
    entries = [known for known in CATALOGUE if known.name in names]
    found = {known.name: source for known in entries if (source := _source(folder, known)) is not None}
    if not found:
        looked = "; ".join(f"{k.name}: {' or '.join(k.train)}{_and(k.test)}" for k in entries)
        raise DataError(
            f"data: {str(folder)!r} holds no known data set (names looked for, also .bz2 and .gz: {looked})."
        )
    return found


def _and(test: tuple[str, ...]) -> str:
    return f" with {' or '.join(test)}" if test else ""


def _source(folder: Path, known: Known) -> Source | None:
    train, test = _first(folder, known.train), _first(folder, known.test)
    if train is None or (known.test and test is None):
        return None
    return Source(known.name, train, test, known.splits)


def _first(folder: Path, names: Iterable[str]) -> Path | None:
    patterns = (name + end for name in names for end in (("",) if name.endswith(".npz") else ENDINGS))
    candidates = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
    return next((path for path in candidates if path.is_file()), None)


def read_part(path: Path, features: int | None = None) -> Part:
    """Return rows, and which of them are positive, of one file; ``features`` where the file may name fewer."""
    try:
        X, y = _read_archive(path) if path.suffix == ".npz" else _read_libsvm(path, features)
    except DataError:
        raise
    except (KeyError, OSError, ValueError, EOFError) as error:
        wanted = "an archive with X and y" if path.suffix == ".npz" else "LIBSVM text"
        raise DataError(f"data: {path.name} is not {wanted} ({error}).") from error
    if X.ndim != 2 or y.shape != (X.shape[0],) or not np.isfinite(X).all():
        raise DataError(f"data: {path.name} needs a finite table X and one label a row in y.")
    return X, positives(y, path.name)


def _read_archive(path: Path) -> tuple[Array, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        return dense(file["X"], path.name), file["y"]


def _read_libsvm(path: Path, features: int | None) -> tuple[Array, NDArray[Any]]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=features)
    return dense(X, path.name), y


def dense(X: Any, name: str) -> Array:
    """Return a dense table of doubles, or refuse one that this machine's free memory could not hold."""
    needed, free = 8 * COPIES * X.shape[0] * int(np.prod(X.shape[1:])), free_memory()
    if needed > free:
        raise DataError(
            f"data: {name} takes {needed / 2**30:.1f} GiB as dense tables and {free / 2**30:.1f} GiB are free; "
            "sparse tables are not supported: take fewer rows or features, or a larger machine."
        )
    return np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def free_memory() -> float:
    """Return the bytes that are free, infinity where the system does not say."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def positives(y: NDArray[Any], name: str) -> Mask:
    """Return which records are positive: the larger of two labels, the first half of more."""
    labels = np.unique(y)
    if len(labels) < 2:
        raise DataError(f"data: {name} holds one class only; an AUC needs two.")
    if len(labels) == 2:
        return np.asarray(y == labels[1])
    return np.isin(y, labels[: len(labels) // 2])
