"""Scalar loss curves of a margin or a residual, each the owner of its constants. They know nothing of features."""

from __future__ import annotations

from collections.abc import Mapping

from diptych.losses.base import Loss
from diptych.losses.hinges import Hinge, PiecewiseLoss, SmoothedHinge, SquaredHinge, TruncatedPower
from diptych.losses.powers import QNormHinge
from diptych.losses.residuals import Absolute, Huber, QNorm, ResidualLoss, SquaredError
from diptych.losses.smooth import Logistic, SmoothLoss, Squared

LOSSES: dict[str, type[Loss]] = {  # of margins
    loss.name: loss for loss in (Logistic, Squared, Hinge, SquaredHinge, SmoothedHinge, QNormHinge)
}
RESIDUAL_LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (SquaredError, Huber, Absolute, QNorm)}

__all__ = [
    "LOSSES",
    "RESIDUAL_LOSSES",
    "Absolute",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "PiecewiseLoss",
    "QNorm",
    "QNormHinge",
    "ResidualLoss",
    "SmoothLoss",
    "SmoothedHinge",
    "Squared",
    "SquaredError",
    "SquaredHinge",
    "TruncatedPower",
    "loss_named",
]


def loss_named(loss: str | Loss, known: Mapping[str, type[Loss]] = LOSSES) -> Loss:
    """Return the loss itself, or the one of that name with its default settings."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in known:
        raise ValueError(f"loss must be one of {', '.join(map(repr, known))}, or a loss object; got {loss!r}.")
    return known[loss]()
