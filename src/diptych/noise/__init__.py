"""The only room that draws. It knows nothing of risks."""

from diptych.noise.bits import BitSource, SecureBits, SeededBits, bit_source, draw_indices, permutation
from diptych.noise.floating import norm_laplace
from diptych.noise.lattice import RESOLUTION, Lattice, discrete_gaussian, discrete_laplace

__all__ = [
    "RESOLUTION",
    "BitSource",
    "Lattice",
    "SecureBits",
    "SeededBits",
    "bit_source",
    "discrete_gaussian",
    "discrete_laplace",
    "draw_indices",
    "norm_laplace",
    "permutation",
]
