"""Scores in whole numbers, whose movement between neighbours is certain (``docs/theory/selection.md``, Lemma 5).

The concordance of an AUC is ``diptych.algorithms.private_auc.concordance``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diptych.spec import TableSize

Array = NDArray[np.float64]

GRAIN = 2**20  # steps between the least and the largest loss of a record


def clipped_total(losses: Array, top: float) -> int:
    """Return the sum of losses clipped to [0, top], each rounded down to ``top``/GRAIN: a record moves it by GRAIN."""
    with np.errstate(over="ignore"):
        shares = np.clip(np.nan_to_num(losses, nan=top) / top, 0.0, 1.0)
    return int(np.floor(shares * GRAIN).astype(np.int64).sum())


def largest_move(kind: str, size: TableSize) -> int:
    """Return how far one record moves a score of that kind on a table of this public size.

    ``"accuracy"`` counts right answers, ``"loss"`` is ``clipped_total``, ``"auc"`` the concordance.
    """
    if kind == "auc":
        if size.positives is not None and size.negatives is not None:
            return 2 * max(size.positives, size.negatives)
        return 2 * (size.n - 1)
    return {"accuracy": 1, "loss": GRAIN}[kind]
