"""What every evaluator of pair sums offers, the one for the squared loss, and the choice among them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.classes import affine, split
from diptych.losses import Loss, PiecewiseLoss, SmoothLoss, Squared

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class PairSums(Protocol):
    """Sums over all pairs (positive i, negative j) of l^(order)(s_i - s_j), at fixed scores s."""

    def total(self) -> float:
        """Sum of l over all pairs."""
        ...

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Return, for each record, the sum of l^(order) times the partner's weight over its partners."""
        ...


def pair_sums(loss: Loss, scores: Array, positive: Mask) -> PairSums:
    """Return the evaluator that suits the loss and the spread of the scores. Both classes must occur."""
    if isinstance(loss, Squared):
        return MomentSums(loss, scores, positive)
    if isinstance(loss, PiecewiseLoss):
        from diptych.kernels.sorted import SortedSums

        return SortedSums(loss, scores, positive)
    if not isinstance(loss, SmoothLoss):
        from diptych.kernels.explicit import ExplicitSums

        return ExplicitSums(loss, scores, positive)
    from diptych.kernels.grid import GridSums, grid_nodes

    low, high = float(scores.min()), float(scores.max())
    if grid_nodes(low, high, loss.temperature) <= max(1024, scores.size // 32):
        return GridSums(loss, scores, positive, low, high)
    from diptych.kernels.exponential import ExponentialSums

    return ExponentialSums(loss, scores, positive)


class MomentSums:
    """The squared loss needs only class means and variances of the scores."""

    def __init__(self, loss: Squared, scores: Array, positive: Mask) -> None:
        self.loss, self.scores, self.positive = loss, scores, positive
        self.positives = int(np.count_nonzero(positive))
        self.up, self.down = split(scores, positive, self.positives)

    def total(self) -> float:
        """Return n+ n- ((a - difference of means)^2 + both variances) / tau."""
        up, down = self.up, self.down
        gap = self.loss.margin - float(up.mean()) + float(down.mean())
        spread = float(up.var()) + float(down.var())
        return float(up.size) * down.size * (gap * gap + spread) / self.loss.temperature

    def sums(self, order: int, weights: Array | None = None) -> Array:
        """Sums that are linear in the record's own score."""
        scale, a = 2.0 / self.loss.temperature, self.loss.margin
        n_up, n_down = float(self.up.size), float(self.down.size)
        if order == 2:
            total_up, total_down = n_up, n_down
            if weights is not None:
                total_up, total_down = (float(q.sum()) for q in split(weights, self.positive, self.up.size))
            return affine(self.scores, self.positive, (scale * total_down, 0.0), (scale * total_up, 0.0))
        if order != 1 or weights is not None:
            raise ValueError("order must be 1 without weights, or 2.")
        rate_up, rate_down = scale * n_down, scale * n_up
        return affine(
            self.scores,
            self.positive,
            (-rate_up * (a + float(self.down.mean())), rate_up),
            (-rate_down * (a - float(self.up.mean())), -rate_down),
        )
