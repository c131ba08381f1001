"""The false-alarm budget of statistical tests, and tests of samples against exact laws.

All statistical tests of a run share a budget of 1e-6: each may be wrong with probability ALARM, and there are
fewer than a hundred of them. A negative control must be rejected at that same level.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

ALARM = 1e-8


def chi_square(sample: np.ndarray, probability, expected_least: float = 25.0) -> float:
    """p-value of integers against a probability mass function, tails and rare values pooled."""
    low, high = int(sample.min()), int(sample.max())
    values = np.arange(low, high + 1)
    expected = sample.size * probability(values)
    observed = np.bincount(sample - low, minlength=values.size).astype(float)
    keep = expected >= expected_least
    rest = max(sample.size - expected[keep].sum(), 1e-9)
    terms = (observed[keep] - expected[keep]) ** 2 / expected[keep]
    statistic, degrees = terms.sum(), int(keep.sum()) - 1
    if rest >= expected_least:
        statistic += (observed[~keep].sum() - rest) ** 2 / rest
        degrees += 1
    return float(stats.chi2.sf(statistic, degrees))


def pooled_chi_square(sample: np.ndarray, law, scale: float, cells: int = 24) -> float:
    """p-value of integers against the rounding of a continuous law of that scale, in cells of about equal mass."""
    edges = np.rint(scale * law.ppf(np.linspace(0, 1, cells + 1)[1:-1])) + 0.5
    observed = np.histogram(sample, bins=np.concatenate(([-np.inf], edges, [np.inf])))[0]
    expected = sample.size * np.diff(np.concatenate(([0.0], law.cdf(edges / scale), [1.0])))
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), cells - 1))
