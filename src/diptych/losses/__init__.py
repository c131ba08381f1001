"""Scalar loss curves of a margin, each the owner of its constants. They know nothing of features."""

from __future__ import annotations

from diptych.losses.base import Loss
from diptych.losses.hinges import Hinge, PiecewiseLoss, SmoothedHinge, SquaredHinge, TruncatedPower
from diptych.losses.smooth import Logistic, SmoothLoss, Squared

LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Logistic, Squared, Hinge, SquaredHinge, SmoothedHinge)}

__all__ = [
    "LOSSES",
    "Hinge",
    "Logistic",
    "Loss",
    "PiecewiseLoss",
    "SmoothLoss",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "TruncatedPower",
    "loss_named",
]


def loss_named(loss: str | Loss) -> Loss:
    """Return the loss itself, or the one of that name with its default margin and temperature."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}, or a loss object; got {loss!r}.")
    return LOSSES[loss]()
