"""Training candidates and telling one of them, over callables; boosting is a search among models of disjoint parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from diptych.noise import BitSource
from diptych.selection.mechanisms import Mechanism, PermuteAndFlip
from diptych.selection.parts import Rows, cut
from diptych.selection.trials import AllTrials, Trials
from diptych.spec import Event

M = TypeVar("M")


@dataclass(frozen=True)
class Chosen(Generic[M]):
    """The candidate that was chosen: its place, its model, and what was done to choose it."""

    place: int
    model: M
    event: Event


def search(
    candidates: Sequence[Callable[[], M]],
    score: Callable[[M], int],
    sensitivity: int,
    epsilon: float,
    source: BitSource,
    *,
    trials: Trials | None = None,
    mechanism: Mechanism | None = None,
) -> Chosen[M]:
    """Train the candidates that are tried, score them on other records, and tell one of about the best score.

    Claim
        For the records that ``score`` reads, epsilon-DP. For those that candidates are trained on, what
        ``plan_share`` says of the candidates' own budgets. No record may be among both: then the larger of the two
        holds (``docs/theory/selection.md``, Theorem 4).

    Parameters
    ----------
    candidates
        Each trains one model, privately and with noise of its own.
    score
        A whole number, the higher the better, that moves by at most ``sensitivity`` for one record of the scoring part.
    sensitivity, epsilon
        Of the choice.
    source
        Where the bits come from.
    trials
        Which candidates are tried; None for all.
    mechanism
        How to choose; None for permute-and-flip.
    """
    if len(candidates) == 0:
        raise ValueError("candidates is empty; give at least one.")
    mechanism = PermuteAndFlip() if mechanism is None else mechanism
    tried = (AllTrials() if trials is None else trials).draw(len(candidates), source)
    models = [candidates[place]() for place in tried]
    found = mechanism.pick([score(model) for model in models], sensitivity, epsilon, source)
    event = Event(
        "the scores of the candidates on the validation part",
        mechanism.noise,
        "absolute value, in units of the score",
        float(sensitivity),
        2.0 * sensitivity / epsilon,
    )
    return Chosen(tried[found], models[found], event)


def boost(
    train: Callable[[Rows], M],
    score: Callable[[M, Rows], int],
    sensitivity: int,
    epsilon: float,
    n: int,
    parts: int,
    source: BitSource,
    *,
    validation: float = 0.2,
    mechanism: Mechanism | None = None,
) -> Chosen[M]:
    """Train on each of ``parts`` disjoint parts of n records, and tell the model of about the best score on the rest.

    Claim
        If ``train`` is (epsilon, delta)-DP, so is this, under ``replace`` (and within classes, if ``score`` and
        ``train`` do with whatever classes a part holds): every record is in one part. Arora, Bassily, González, Guzmán,
        Menart and Ullah (2022), Algorithm 5, halve epsilon, which disjoint parts do not need.
    """
    if parts < 1 or not 0 < validation < 1 or n < parts + 1:
        raise ValueError(f"parts must be at least 1 and fewer than n, validation in (0, 1); got {parts}, {validation}.")
    *training, rest = cut(n, [*([(1.0 - validation) / parts] * parts), validation], source)
    candidates = [partial(train, rows) for rows in training]
    return search(candidates, lambda model: score(model, rest), sensitivity, epsilon, source, mechanism=mechanism)
