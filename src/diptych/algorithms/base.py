"""What private algorithms share: their contract, what they give back, how they say no."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NOISES
from diptych.losses import Loss
from diptych.noise import BitSource
from diptych.risks import PairRisk, Risk
from diptych.sets import Free
from diptych.spec import Adjacency, Budget, Event, Guarantee, TableSize

Array = NDArray[np.float64]

CONSTANTS = ("defended", "paper")
EXACT = 1e-9  # tolerance of a fit without privacy
ASSUMPTIONS = (
    "every value in the table is finite (a table that is not is refused)",
    "the bounds of the features were fixed without looking at the table",
    "each row was made from its own record alone (by no scaler, imputer or selector fitted on the table)",
)
UNCOUNTED = "the table holds at least one record and at most twice the declared n_public (any other is refused)"
NOISE_WORDS = {"gaussian": "Gaussian noise", "laplace": "Laplace noise", "norm-laplace": "norm-Laplace noise"}


class UnsuitableError(ValueError):
    """The problem lacks a property that the algorithm needs; raised before any data is touched."""


@dataclass(frozen=True)
class Release:
    """What leaves the curator's hands: parameters in internal units, the guarantee, and a public trace."""

    coef: Array
    guarantee: Guarantee
    trace: Mapping[str, Any] = field(default_factory=dict)


R_contra = TypeVar("R_contra", contravariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Algorithm(Protocol[R_contra, T_contra]):
    """A frozen dataclass of public settings that knows how to check, to predict and to run."""

    @property
    def name(self) -> str:
        """The name under which users ask for it."""
        ...

    def check(self, risk: R_contra, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        ...

    def run(
        self, risk: R_contra, table: T_contra, budget: Budget, source: BitSource, constants: str = "defended"
    ) -> Release:
        """Release a model of a private table."""
        ...


class Foreseeing(Algorithm[R_contra, T_contra], Protocol[R_contra, T_contra]):
    """An algorithm that can say beforehand what its noise costs, so that rules may choose for it."""

    def added_risk(self, risk: R_contra, size: TableSize, features: int, budget: Budget) -> float:
        """Predict from public facts how much risk the noise adds."""
        ...


def check_settings(noise: str, risk: Risk[Any], budget: Budget, constants: str) -> None:
    """Refuse settings that no algorithm takes."""
    if constants not in CONSTANTS:
        raise ValueError(f"constants must be one of {', '.join(map(repr, CONSTANTS))}; got {constants!r}.")
    if risk.regularization != 0 and not 1e-9 <= risk.regularization <= 1e9:
        raise ValueError(f"regularization must be 0, or between 1e-9 and 1e9; got {risk.regularization!r}.")
    if budget.private and budget.pure and noise == "gaussian":
        raise UnsuitableError(
            "noise='gaussian' cannot give delta = 0; use 'norm-laplace' or 'laplace', or a delta above 0."
        )


def check_smooth(name: str, loss: Loss, more: str = "") -> None:
    """Refuse a loss whose slope is not Lipschitz."""
    if not loss.smooth:
        flaw = "a slope that is not Lipschitz" if loss.differentiable else "a kink"
        remedy = "huber" if loss.residual else "smoothed-hinge"
        raise UnsuitableError(
            f"loss={loss.name!r} has {flaw}, and {name} needs a smooth loss; use loss={remedy!r}{more}."
        )


def check_strongly_convex(name: str, risk: Risk[Any]) -> None:
    """Refuse a risk without regulariser."""
    if risk.regularization <= 0:
        raise UnsuitableError(
            f"regularization must be above 0 for {name}: without strong convexity one record may move "
            "the minimiser arbitrarily far."
        )


def check_paper(noise: str, law: str, adjacency: Adjacency, risk: Risk[Any], *, free: bool) -> None:
    """Refuse published constants outside their own setting: pairs, their adjacency, their law of noise, their set."""
    if not isinstance(risk, PairRisk):
        raise UnsuitableError("constants='paper' stands for constants of pairs; use constants='defended' for points.")
    if risk.adjacency is not adjacency or (free and not isinstance(risk.constraint, Free)):
        raise UnsuitableError(
            f"constants='paper' needs the paper's own setting: adjacency={str(adjacency)!r}"
            f"{' and radius=None' if free else ''}."
        )
    if noise not in ("auto", law):
        raise UnsuitableError(
            f"constants='paper' goes with the paper's own noise, {law!r} for this delta; got noise={noise!r}."
        )


def check_noise(noise: str) -> None:
    """Refuse a law of noise that there is not."""
    if noise not in ("auto", *NOISES):
        raise ValueError(f"noise must be 'auto' or one of {', '.join(map(repr, NOISES))}; got {noise!r}.")


class Planned(Protocol):
    """What a guarantee tells of noise."""

    @property
    def noise(self) -> str:
        """The name of its law."""
        ...

    @property
    def norm(self) -> str:
        """The norm in which sensitivity is measured."""
        ...

    @property
    def sensitivity(self) -> float:
        """The most that what it hides may move."""
        ...

    @property
    def scale(self) -> float:
        """The parameter of its law."""
        ...

    @property
    def accountant(self) -> str:
        """How the budget was turned into noise."""
        ...

    @property
    def sampler(self) -> str:
        """How it is drawn."""
        ...

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it needs beyond the mathematics."""
        ...


def event(quantity: str, plan: Planned) -> Event:
    """Say what a plan hides."""
    return Event(quantity, NOISE_WORDS[plan.noise], plan.norm, plan.sensitivity, plan.scale)


def promise(
    risk: Risk[Any],
    budget: Budget,
    mechanism: str,
    events: tuple[Event, ...],
    plan: Planned,
    *,
    seeded: bool,
    constants: str = "defended",
    defended: bool = True,
    assumptions: tuple[str, ...] = (),
) -> Guarantee:
    """State what was promised; ``plan`` is that of the main event."""
    return Guarantee(
        epsilon=budget.epsilon,
        delta=budget.delta if plan.noise == "gaussian" else 0.0,
        adjacency=risk.adjacency,
        mechanism=f"{mechanism} with {NOISE_WORDS[plan.noise]}",
        sensitivity=events[0].sensitivity,
        noise_scale=events[0].noise_scale,
        events=events,
        accountant=plan.accountant,
        sampler=plan.sampler,
        released=risk.released,
        assumptions=(
            *ASSUMPTIONS,
            *((UNCOUNTED,) if risk.adjacency is Adjacency.ADD_REMOVE else ()),
            *plan.assumptions,
            *assumptions,
        ),
        constants=constants,
        defended=defended,
        seeded=seeded,
    )


def open_release(risk: Risk[Any], w: Array, what: str, trace: Mapping[str, Any]) -> Release:
    """Return a model under no promise: then the trace may say what the solver did."""
    guarantee = Guarantee(
        epsilon=math.inf,
        delta=0.0,
        adjacency=risk.adjacency,
        mechanism=f"none: {what}",
        sensitivity=math.inf,
        noise_scale=0.0,
        events=(),
        accountant="none",
        sampler="none",
        released=risk.released,
        assumptions=(),
    )
    return Release(w, guarantee, {"regularization": risk.regularization, **trace})
