"""The only room that draws. It knows nothing of risks."""

from diptych.noise.batches import Batches, Coins, Sampler, Subsets
from diptych.noise.bits import BitSource, SecureBits, SeededBits, bit_source, draw_indices, permutation
from diptych.noise.floating import gaussian, norm_laplace
from diptych.noise.lattice import RESOLUTION, Lattice, discrete_gaussian, discrete_laplace
from diptych.noise.projections import MAPS, RandomMap

__all__ = [
    "MAPS",
    "RESOLUTION",
    "Batches",
    "BitSource",
    "Coins",
    "Lattice",
    "RandomMap",
    "Sampler",
    "SecureBits",
    "SeededBits",
    "Subsets",
    "bit_source",
    "discrete_gaussian",
    "discrete_laplace",
    "draw_indices",
    "gaussian",
    "norm_laplace",
    "permutation",
]
