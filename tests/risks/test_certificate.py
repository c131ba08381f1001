"""The determinant's claim as a function: its formula, its inverse, its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych import Adjacency, Logistic, SmoothedHinge, Squared
from diptych.risks import RankingRisk
from diptych.risks.certificate import LARGEST_SHARE, Certificate
from diptych.sets import L2Ball
from diptych.spec import TableSize


def certificate_of(n: int = 100, loss=None) -> Certificate:
    return RankingRisk(loss or Logistic(), 0.1).certificate(TableSize(n), 5, tilt=math.inf)


def lemma_7(q: float, k: int) -> float:
    """The formula on a fine grid: a lower bound of its largest value."""
    a = np.linspace(0.0, 1.0, 20_001)
    second = k * np.log1p(q * (1 - a**2) / k) if k else 0.0
    return float((np.log1p(q * (1 + a) ** 2) + second).max())


@given(st.floats(1e-6, 1e6), st.integers(1, 400))
def test_the_shift_is_lemma_7_and_on_the_safe_side(stiffness, dimension) -> None:
    certificate = certificate_of(50)
    ridge = stiffness * certificate.curvature_share
    shift = certificate.determinant_shift(ridge, dimension)
    exact = lemma_7(0.25 / stiffness, min(dimension - 1, 49))
    assert exact <= shift <= exact * (1 + 1e-3)


@given(st.floats(1.0, 1e9), st.integers(1, 1000))
def test_a_stiff_ridge_hides_the_dimension(stiffness, dimension) -> None:
    certificate = certificate_of()
    shift = certificate.determinant_shift(stiffness * certificate.curvature_share, dimension)
    assert math.log1p(1 / stiffness) <= shift <= math.log1p(1 / stiffness) * (1 + 1e-3)


def test_means_of_rank_one_updates_are_never_better() -> None:
    """The claim against the two that it replaces: min(d, m) equal updates, and one an affected pair."""
    certificate = certificate_of(20)
    for stiffness in np.geomspace(1e-3, 1e3, 25):
        ridge = stiffness * certificate.curvature_share
        for d in (1, 2, 5, 50):
            k = min(d, 19)
            means, published = (m * math.log1p(1 / (m * stiffness)) for m in (k, 20))
            assert certificate.determinant_shift(ridge, d) <= means * (1 + 1e-3)
            assert means <= published


def test_more_partners_or_features_never_lower_the_shift() -> None:
    within = RankingRisk(Logistic(), 0.1, adjacency=Adjacency.REPLACE_WITHIN_CLASS)
    for stiffness in (0.01, 0.1, 1.0):
        shifts = [
            certificate_of().determinant_shift(stiffness * certificate_of().curvature_share, d)
            for d in (1, 2, 9, 100, 500)
        ]
        assert np.all(np.diff(shifts) >= 0)
        assert shifts[-1] == shifts[-2]  # a record has 99 partners, no more
        counts = [within.certificate(TableSize(100, positives)) for positives in (50, 80)]
        assert [one.partners for one in counts] == [50, 80]
        assert counts[1].curvature_share == pytest.approx(2.5 * counts[0].curvature_share)


@given(st.floats(1e-9, 400.0), st.integers(1, 300))
def test_the_ridge_is_the_least_that_meets_a_share(share, dimension) -> None:
    certificate = certificate_of()
    ridge = certificate.ridge_for(share, dimension)
    assert certificate.determinant_shift(ridge, dimension) <= share
    assert certificate.determinant_shift(ridge * (1 - 1e-11), dimension) > share * (1 - 1e-12)


@pytest.mark.parametrize("share", [LARGEST_SHARE, 1e4, 1e300])
@pytest.mark.parametrize("dimension", [1, 5, 300])
def test_any_share_has_a_ridge(share, dimension) -> None:
    certificate = certificate_of()
    ridge = certificate.ridge_for(share, dimension)
    assert ridge > 0.0
    assert certificate.determinant_shift(ridge, dimension) <= share
    assert dimension > 1 or ridge < 1e-200


def test_a_loss_that_is_straight_on_the_set_needs_no_ridge() -> None:
    certificate = RankingRisk(SmoothedHinge(1.0, 0.1), 0.1, L2Ball(0.3)).certificate(TableSize(10), 3, tilt=math.inf)
    assert certificate.curvature_share == 0.0
    assert certificate.ridge_for(0.5, 3) == 0.0
    assert certificate.determinant_shift(0.1, 3) == 0.0


@pytest.mark.parametrize(
    ("loss", "reach", "one_signed"),
    [
        (Logistic(), math.inf, True),
        (SmoothedHinge(), math.inf, True),
        (Squared(), 0.99, True),
        (Squared(), 1.01, False),
    ],
)
def test_the_sign_of_the_slope(loss, reach, one_signed) -> None:
    risk = RankingRisk(loss, 1e-3, L2Ball(0.5 * reach) if math.isfinite(reach) else RankingRisk(loss).constraint)
    assert risk.certificate(TableSize(10), 2, tilt=math.inf).one_signed == one_signed
    assert loss.one_signed(reach) == one_signed


@pytest.mark.parametrize("tilt", [0.0, 0.3, 10.0])
def test_a_tilt_lengthens_the_radius_and_never_shortens_a_constant(tilt) -> None:
    risk, size = RankingRisk(Logistic(), 0.2), TableSize(30)
    plain, tilted = risk.certificate(size), risk.certificate(size, tilt=tilt)
    assert tilted.radius >= tilt / 0.2  # the minimiser on a table of one class
    for name in ("radius", "gradient_sensitivity", "lipschitz", "gradient_error", "curvature_share"):
        assert getattr(tilted, name) >= getattr(plain, name)
