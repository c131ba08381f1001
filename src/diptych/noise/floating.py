"""Noise that is drawn in floating point, from the same bits: an assumption wherever it is used."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from diptych.noise.bits import BitSource

Array = NDArray[np.float64]

SIGNIFICANT = 40  # bits that a probability has at least, however small
LONGEST = 1000  # bits that are drawn at most: a tail beyond 2^-1000 is not told apart


def uniform(size: int, source: BitSource) -> Array:
    """Uniform numbers strictly between 0 and 1, at the middles of 2^52 cells."""
    return ((source.words(size) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def gaussian(size: int, source: BitSource) -> Array:
    """Return standard Gaussian numbers, by inversion: a sign, and a tail of as many bits as it takes.

    Uniform numbers on a fixed grid would end at some 8 deviations, which a small delta can see.
    """
    from scipy.special import ndtri

    words = source.words(size)
    rest = words & np.uint64(2**63 - 1)
    tails = (rest.astype(np.float64) + 0.5) * 2.0**-64
    for place in np.flatnonzero(rest < np.uint64(2**SIGNIFICANT)):
        tails[place] = _longer(int(rest[place]), source)
    return np.asarray(np.where(words >> np.uint64(63), -1.0, 1.0) * ndtri(tails))


def _longer(value: int, source: BitSource) -> float:
    """Return a probability below 1/2 that begins with the 63 bits of ``value``, with enough further ones."""
    bits = 63
    while value < 2**SIGNIFICANT and bits < LONGEST:
        value, bits = value << 64 | int(source.words(1)[0]), bits + 64
    return math.ldexp(value + 0.5, -bits - 1)


def norm_laplace(dimension: int, scale: float, source: BitSource) -> Array:
    """Return a vector b with density proportional to exp(-||b||/scale).

    Its direction is uniform and its norm has a Gamma law of shape ``dimension``, a sum of exponentials.
    """
    from scipy.special import ndtri

    direction = ndtri(uniform(dimension, source))
    norm = -np.log(uniform(dimension, source)).sum()
    return np.asarray(direction * (scale * norm / np.linalg.norm(direction)))
