from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from diptych import Adjacency, Guarantee
from diptych.spec import Event

GUARANTEE = Guarantee(
    epsilon=1.0,
    delta=1e-6,
    adjacency=Adjacency.REPLACE,
    mechanism="output perturbation with Gaussian noise",
    sensitivity=0.01,
    noise_scale=0.05,
    events=(Event("the minimiser of the regularised risk", "Gaussian noise", "Euclidean norm", 0.01, 0.05),),
    accountant="exact Gaussian profile",
    sampler="exact discrete Gaussian on a lattice",
    released="the parameters of a linear ranking model",
    assumptions=("every value in the table is finite", "the bounds were fixed without looking at the table"),
)

GOLDEN = """\
This release (the parameters of a linear ranking model) is approximate differentially private with epsilon = 1 and \
delta = 1e-06: whatever one concludes from it, one would conclude with nearly the same probability if one record is \
replaced by any other, its label included; the number of records is public, labels are private.
Mechanism: output perturbation with Gaussian noise.
Noise: Gaussian noise of scale 0.05 hides a change of at most 0.01 (Euclidean norm) in the minimiser of the \
regularised risk.
Accounting: exact Gaussian profile. Sampler: exact discrete Gaussian on a lattice.
It assumes that every value in the table is finite; that the bounds were fixed without looking at the table."""


def test_golden_text() -> None:
    assert str(GUARANTEE) == GOLDEN


def test_golden_text_of_what_is_not_private() -> None:
    seeded = str(replace(GUARANTEE, seeded=True)).splitlines()[-1]
    assert seeded == (
        "The noise came from a seed: the release is reproducible and therefore NOT private. "
        "Use it for experiments only."
    )
    undefended = str(replace(GUARANTEE, defended=False, constants="paper")).splitlines()[-1]
    assert undefended == (
        "The noise follows a published formula that this library cannot defend here: "
        "do not rely on the stated epsilon and delta."
    )
    nothing = str(replace(GUARANTEE, epsilon=math.inf, events=(), assumptions=(), mechanism="none"))
    assert nothing == (
        "This release (the parameters of a linear ranking model) carries no privacy guarantee: epsilon is infinite, "
        "no noise was added.\nMechanism: none."
    )


def test_golden_text_of_pure_privacy_within_classes() -> None:
    text = str(replace(GUARANTEE, delta=0.0, adjacency=Adjacency.REPLACE_WITHIN_CLASS)).splitlines()[0]
    assert text == (
        "This release (the parameters of a linear ranking model) is pure differentially private with epsilon = 1: "
        "whatever one concludes from it, one would conclude with nearly the same probability if the features of one "
        "record are replaced by any others; labels and class counts are public."
    )


def test_private_means_defended_unseeded_and_finite() -> None:
    assert GUARANTEE.private
    assert not replace(GUARANTEE, seeded=True).private
    assert not replace(GUARANTEE, defended=False).private
    assert not replace(GUARANTEE, epsilon=math.inf).private


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_json_round_trip(epsilon) -> None:
    guarantee = replace(GUARANTEE, epsilon=epsilon, sensitivity=epsilon)
    fields = json.loads(guarantee.to_json())
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    assert Guarantee.from_dict(fields) == guarantee


def test_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format must be 1"):
        Guarantee.from_dict({**GUARANTEE.to_dict(), "format": 99})
