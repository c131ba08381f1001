"""What private algorithms share: their contract, what they give back, how they say no."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.accounting import NOISES, NoisePlan
from diptych.noise import BitSource
from diptych.risks import PairTable, RankingRisk, minimise
from diptych.sets import Free
from diptych.spec import Adjacency, Budget, Event, Guarantee, TableSize

Array = NDArray[np.float64]

CONSTANTS = ("defended", "paper")
EXACT = 1e-9  # tolerance of a fit without privacy
RELEASED = "the parameters of a linear ranking model"
ASSUMPTIONS = (
    "every value in the table is finite (a table that is not is refused)",
    "the bounds of the features were fixed without looking at the table",
)
NOISE_WORDS = {"gaussian": "Gaussian noise", "laplace": "Laplace noise", "norm-laplace": "norm-Laplace noise"}


class UnsuitableError(ValueError):
    """The problem lacks a property that the algorithm needs; raised before any data is touched."""


@dataclass(frozen=True)
class Release:
    """What leaves the curator's hands: parameters in internal units, the guarantee, and a public trace."""

    coef: Array
    guarantee: Guarantee
    trace: Mapping[str, Any] = field(default_factory=dict)


class Algorithm(Protocol):
    """A frozen dataclass of public settings that knows how to check, to predict and to run."""

    @property
    def name(self) -> str:
        """The name under which users ask for it."""
        ...

    def check(self, risk: RankingRisk, budget: Budget, constants: str = "defended") -> None:
        """Refuse what the proof does not cover, naming what is missing and what would serve."""
        ...

    def added_risk(self, risk: RankingRisk, size: TableSize, dimension: int, budget: Budget) -> float:
        """Predict from public facts how much risk the noise adds."""
        ...

    def run(
        self, risk: RankingRisk, table: PairTable, budget: Budget, source: BitSource, constants: str = "defended"
    ) -> Release:
        """Release a model of a private table."""
        ...


def check_settings(name: str, noise: str, risk: RankingRisk, budget: Budget, constants: str) -> None:
    """Refuse settings that no algorithm takes."""
    if constants not in CONSTANTS:
        raise ValueError(f"constants must be one of {', '.join(map(repr, CONSTANTS))}; got {constants!r}.")
    if risk.regularization <= 0:
        raise UnsuitableError(
            f"regularization must be above 0 for {name}: without strong convexity one record may move "
            "the minimiser arbitrarily far."
        )
    if not 1e-9 <= risk.regularization <= 1e9:
        raise ValueError(f"regularization must be between 1e-9 and 1e9; got {risk.regularization!r}.")
    if budget.private and budget.pure and noise == "gaussian":
        raise UnsuitableError(
            "noise='gaussian' cannot give delta = 0; use 'norm-laplace' or 'laplace', or a delta above 0."
        )
    if constants == "paper":
        _check_paper(noise, risk, budget)


def _check_paper(noise: str, risk: RankingRisk, budget: Budget) -> None:
    if risk.adjacency is not Adjacency.REPLACE_WITHIN_CLASS or not isinstance(risk.constraint, Free):
        raise UnsuitableError(
            "constants='paper' needs the paper's own setting: adjacency='replace-within-class' and radius=None."
        )
    if noise not in ("auto", paper_noise(budget)):
        raise UnsuitableError(
            f"constants='paper' goes with the paper's own noise, {paper_noise(budget)!r} for this delta; "
            f"got noise={noise!r}."
        )


def check_noise(noise: str) -> None:
    """Refuse a law of noise that there is not."""
    if noise not in ("auto", *NOISES):
        raise ValueError(f"noise must be 'auto' or one of {', '.join(map(repr, NOISES))}; got {noise!r}.")


def paper_noise(budget: Budget) -> str:
    """Return the law that Wang et al. draw from."""
    return "norm-laplace" if budget.pure else "gaussian"


def event(quantity: str, plan: NoisePlan) -> Event:
    """Say what a plan hides."""
    return Event(quantity, NOISE_WORDS[plan.noise], plan.norm, plan.sensitivity, plan.scale)


def exact_release(risk: RankingRisk, table: PairTable, tolerance: float) -> Release:
    """Return the exact minimiser, under no promise: then the trace may say what the solver did."""
    found = minimise(risk, table, tolerance)
    guarantee = Guarantee(
        epsilon=math.inf,
        delta=0.0,
        adjacency=risk.adjacency,
        mechanism="none: the exact minimiser of the regularised risk",
        sensitivity=math.inf,
        noise_scale=0.0,
        events=(),
        accountant="none",
        sampler="none",
        released=RELEASED,
        assumptions=(),
    )
    trace = {"regularization": risk.regularization, "tolerance": tolerance}
    return Release(found.w, guarantee, trace | {"residual": found.residual, "iterations": found.steps})
