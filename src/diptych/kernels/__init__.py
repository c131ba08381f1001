"""Compiled loops over records and pairs. They know nothing of privacy.

``pair_sums(loss, scores, positive)`` picks the evaluator that suits the loss: moments for the squared
loss, sorted prefix sums for piecewise losses, and for smooth ones a grid with FFT, or exponential
sweeps where the scores spread too widely for a grid. Losses that none of these suit are summed pair by pair.
"""

from diptych.kernels.classes import affine
from diptych.kernels.pairs import PairSums, pair_sums
from diptych.kernels.rows import combine, gram, scores, summation_error

__all__ = ["PairSums", "affine", "combine", "gram", "pair_sums", "scores", "summation_error"]
