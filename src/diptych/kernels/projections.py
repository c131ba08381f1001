"""Rows mapped to fewer dimensions: X times a map that comes in blocks of features, dense rows or sparse ones.

Each row of the result depends on its own row alone, to the last bit, whatever else the table holds and however many
records it has. The map is never held as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import in_chunks

Array = NDArray[np.float64]
Places = NDArray[np.int32]


class Block(NamedTuple):
    """Where consecutive features from ``start`` on are mapped to: feature start + j to ``values[j]``.

    The values stand at ``places[j]``, or, where ``places`` has no columns, at all places in order.
    """

    start: int
    places: Places
    values: Array


@nb.njit(nogil=True, inline="always")
def _add(out: Array, value: float, places: Places, values: Array) -> None:
    if places.size == 0:
        for r in range(values.size):
            out[r] += value * values[r]
    else:
        for t in range(values.size):
            out[places[t]] += value * values[t]


@nb.njit(nogil=True, cache=True)
def _map_dense(X: Array, start: int, places: Places, values: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        for j in range(values.shape[0]):
            if X[i, start + j] != 0.0:
                _add(out[i], X[i, start + j], places[j], values[j])


@nb.njit(nogil=True, cache=True)
def _map_sparse(
    edges: NDArray[Any],
    columns: NDArray[Any],
    entries: Array,
    start: int,
    places: Places,
    values: Array,
    out: Array,
) -> None:
    for i in range(out.shape[0]):
        for p in range(edges[i], edges[i + 1]):
            j = columns[p] - start
            if 0 <= j < values.shape[0]:
                _add(out[i], entries[p], places[j], values[j])


def map_rows(X: Any, blocks: Iterable[Block], dimension: int) -> Array:
    """Return X times the map, for a C-contiguous array or a sparse matrix of compressed rows."""
    n = X.shape[0]
    out = np.zeros((n, dimension))
    dense = isinstance(X, np.ndarray)
    for block in blocks:

        def work(rows: slice, block: Block = block) -> None:
            if dense:
                _map_dense(X[rows], block.start, block.places, block.values, out[rows])
            else:
                edges = X.indptr[rows.start : rows.stop + 1]
                _map_sparse(edges, X.indices, X.data, block.start, block.places, block.values, out[rows])

        in_chunks(work, n)
    return out


@nb.njit(nogil=True, cache=True)
def _shorten(rows: Array, radius: float) -> None:
    slack = 1.0 - (2.0 * rows.shape[1] + 8.0) * 2.0**-52
    for i in range(rows.shape[0]):
        square = 0.0
        for k in range(rows.shape[1]):
            square += rows[i, k] * rows[i, k]
        if square > (radius * slack) ** 2:
            factor = radius * slack / math.sqrt(square)
            for k in range(rows.shape[1]):
                rows[i, k] *= factor


def shorten(rows: Array, radius: float) -> None:
    """Shorten, in place, every row that is longer than ``radius``: afterwards none is, whatever rounding did."""
    in_chunks(lambda some: _shorten(rows[some], radius), rows.shape[0])


@nb.njit(nogil=True, cache=True)
def _lengths(edges: NDArray[Any], entries: Array, out: Array) -> None:
    for i in range(out.size):
        largest = 0.0
        for p in range(edges[i], edges[i + 1]):
            largest = max(largest, abs(entries[p]))
        square = 0.0
        if largest > 0.0:
            for p in range(edges[i], edges[i + 1]):
                square += (entries[p] / largest) ** 2
        out[i] = largest * math.sqrt(square)


def row_lengths(X: Any) -> Array:
    """Return the norms of the rows of a sparse matrix of compressed rows without duplicates; none overflows early."""
    out = np.empty(X.shape[0])
    _lengths(X.indptr, X.data, out)
    return out
