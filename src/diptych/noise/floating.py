"""Noise that is drawn in floating point, from the same bits: an assumption wherever it is used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diptych.noise.bits import BitSource

Array = NDArray[np.float64]


def uniform(size: int, source: BitSource) -> Array:
    """Uniform numbers strictly between 0 and 1, at the middles of 2^52 cells."""
    return ((source.words(size) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def gaussian(size: int, source: BitSource) -> Array:
    """Return standard Gaussian numbers, by inversion."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform(size, source)))


def norm_laplace(dimension: int, scale: float, source: BitSource) -> Array:
    """Return a vector b with density proportional to exp(-||b||/scale).

    Its direction is uniform and its norm has a Gamma law of shape ``dimension``, a sum of exponentials.
    """
    direction = gaussian(dimension, source)
    norm = -np.log(uniform(dimension, source)).sum()
    return np.asarray(direction * (scale * norm / np.linalg.norm(direction)))
