"""Passes over the rows of X: scores Xw, weighted sums X'c and X' diag(c) X.

They run in this library's own threads: a BLAS whose threads wait for work would take the cores from
the pair kernels that run between two passes. Weighted sums go block by block, which keeps
their rounding error at about (block + n/block) units in the last place instead of n.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import in_chunks

Array = NDArray[np.float64]

BLOCK = 1024


@nb.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _scores(X: Array, w: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        s = 0.0
        for k in range(X.shape[1]):
            s += X[i, k] * w[k]
        out[i] = s


@nb.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _combine(X: Array, c: Array, out: Array) -> None:
    n, d = X.shape
    part = np.empty(d)
    for start in range(0, n, BLOCK):
        part[:] = 0.0
        stop = min(start + BLOCK, n)
        for i in range(start, stop):
            for k in range(d):
                part[k] += c[i] * X[i, k]
        for k in range(d):
            out[k] += part[k]


def scores(X: Array, w: Array) -> Array:
    """Xw for a C-contiguous X."""
    out = np.empty(X.shape[0])
    in_chunks(lambda rows: _scores(X[rows], w, out[rows]), X.shape[0])
    return out


def combine(X: Array, c: Array) -> Array:
    """X'c for a C-contiguous X."""

    def part(rows: slice) -> Array:
        out = np.zeros(X.shape[1])
        _combine(X[rows], c[rows], out)
        return out

    return np.asarray(np.sum(in_chunks(part, X.shape[0]), axis=0))


def summation_error(n: int) -> float:
    """Return how far X'c may be off for at most n records of rows within norm 1, in units of the sum of |c|.

    Products, block sums, sums of blocks and of at most 1024 chunks: one rounding each, of terms that add up to no more.
    """
    return (BLOCK + n / BLOCK + 1024 + 8) * 2.0**-53


def gram(X: Array, c: Array, block: int = 8192) -> Array:
    """X' diag(c) X, block by block, without a weighted copy of X."""
    n, d = X.shape
    out = np.zeros((d, d))
    for start in range(0, n, block):
        rows = X[start : start + block]
        out += rows.T @ (c[start : start + block, None] * rows)
    return out
