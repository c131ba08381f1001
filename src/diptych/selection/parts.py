"""Random disjoint parts of a table, drawn without looking at it; within classes where labels are public."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diptych.noise import BitSource, permutation

Rows = NDArray[np.intp]


def cut(n: int, shares: Sequence[float], source: BitSource, codes: NDArray[np.int64] | None = None) -> list[Rows]:
    """Cut 0 ... n-1 into random parts of about these shares, which add up to 1.

    With ``codes``, the public classes, every class is cut so by itself.
    """
    order = permutation(n, source)
    groups = [order] if codes is None else [order[codes[order] == code] for code in np.unique(codes)]
    edges = np.concatenate(([0.0], np.cumsum(shares)))
    places = [np.rint(edges * len(group) / edges[-1]).astype(int) for group in groups]
    parts = [[group[a:b] for a, b in pairwise(place)] for group, place in zip(groups, places, strict=True)]
    return [np.sort(np.concatenate(pieces)) for pieces in zip(*parts, strict=True)]
