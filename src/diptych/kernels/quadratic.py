"""Sums over all pairs of a curve of the quadratic form (x_i - x_j)' W (x_i - x_j), by blocked matrix products.

Rows come sorted by class. A block of pairs costs two products of matrices and one slope a pair; each unordered
pair is visited once, and nothing of size n x n is ever held. Groups of blocks are fixed by n alone, each with
its own sums, so that results do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.threads import together
from diptych.losses import Loss

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

BLOCK = 384
GROUPS = 8


class QuadraticSums:
    """All pairs i < j at one W: margins t_ij = offset - M_ij within a class and M_ij - offset across classes.

    One product gives them: offset - M_ij = (2 W x_i, offset - q_i, 1).(x_j, 1, -q_j) with q_i = x_i' W x_i.
    """

    def __init__(self, loss: Loss, offset: float, X: Array, codes: Codes, matrix: Array) -> None:
        self.loss, self.codes = loss, codes
        mapped, one = X @ matrix, np.ones((len(X), 1))
        squares = np.einsum("ij,ij->i", mapped, X)[:, None]
        self.left = np.hstack((2.0 * mapped, offset - squares, one))
        self.right = np.hstack((X, one, -squares))
        self.rows = self.right[:, :-1]  # with a one, so that a product with them sums as well

    def total(self) -> float:
        """Sum of the loss over all pairs."""

        def group(blocks: list[tuple[slice, slice]]) -> float:
            sums = 0.0
            for rows, columns in blocks:
                values = self.loss.value(self._margins(rows, columns)[0])
                if rows == columns:
                    np.fill_diagonal(values, 0.0)
                sums += float(values.sum()) * (0.5 if rows == columns else 1.0)
            return sums

        return float(np.sum(self._grouped(group)))

    def gradient(self) -> Array:
        """Sum over pairs of dl/dM (x_i - x_j)(x_i - x_j)' = X'(diag(C1) - C)X, C the symmetric matrix of dl/dM."""
        n, d = len(self.rows), self.rows.shape[1] - 1

        def group(blocks: list[tuple[slice, slice]]) -> tuple[Array, Array]:
            cross, weights = np.zeros((d, d)), np.zeros(n)
            for rows, columns in blocks:
                slopes, sign = self._slopes(rows, columns)
                summed = slopes @ self.rows[columns]
                weights[rows] -= sign * summed[:, -1]
                if rows == columns:
                    sign *= 0.5  # every pair stands twice in a block on the diagonal
                else:
                    weights[columns] -= sign * slopes.sum(axis=0)
                cross -= sign * (self.rows[rows, :-1].T @ summed[:, :-1])
            return cross, weights

        parts = self._grouped(group)
        cross = np.sum([part[0] for part in parts], axis=0)
        weights = np.sum([part[1] for part in parts], axis=0)
        X = self.rows[:, :-1]
        out = X.T @ (weights[:, None] * X) - cross - cross.T
        return np.asarray(0.5 * (out + out.T))

    def _slopes(self, rows: slice, columns: slice) -> tuple[Array, float]:
        """Slopes of a block of pairs and a sign; dl/dM is minus their product. 0 for a record with itself."""
        margins, kinds = self._margins(rows, columns)
        slopes = self.loss.slope(margins)
        if rows == columns:
            np.fill_diagonal(slopes, 0.0)
        if isinstance(kinds, float):
            return slopes, kinds
        slopes *= kinds
        return slopes, 1.0

    def _margins(self, rows: slice, columns: slice) -> tuple[Array, float | Array]:
        """Margins of a block of pairs, and their signs: one number if the block is of one kind."""
        up, down = self.codes[rows], self.codes[columns]
        if up[0] == up[-1] and down[0] == down[-1]:
            sign = 1.0 if up[0] == down[0] else -1.0
            return (sign * self.left[rows]) @ self.right[columns].T, sign
        signs = np.where(up[:, None] == down, 1.0, -1.0)
        return signs * (self.left[rows] @ self.right[columns].T), signs

    def _grouped(self, work: Any) -> list[Any]:
        n = len(self.rows)
        blocks = list(_block_pairs(n))
        groups = [blocks[k::GROUPS] for k in range(min(GROUPS, len(blocks)))]
        with single_threaded_blas():
            return together([lambda group=group: work(group) for group in groups], n * n // 2)  # type: ignore[misc]


def _block_pairs(n: int) -> Iterator[tuple[slice, slice]]:
    edges = [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    return ((edges[i], edges[j]) for i in range(len(edges)) for j in range(i, len(edges)))


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread a caller: the blocks themselves run side by side."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
