"""Exact discrete Laplace and Gaussian samplers, and the lattice on which they hide a real vector.

Canonne, Kamath and Steinke (2020), Algorithms 1 to 3, in integers: every probability is met exactly, given
uniform bits. The lattice step is a power of two, so that rounding to it and adding on it are exact
in floating point. ``docs/theory/lattice-noise.md`` has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from diptych.noise.bits import BitSource, Words

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

RESOLUTION = 24  # the noise scale is between 2^23 and 2^24 lattice steps, before rounding is paid for
FARTHEST = 64  # scales; the sampler's integers hold squares up to here, beyond lies less than exp(-64)


@nb.njit(nogil=True, cache=True)
def _below(m: int, words: Words, at: int) -> tuple[Any, int]:
    """Draw uniformly from 0 ... m-1. Return it and the next position, or -1 where the words ran out."""
    mask = np.uint64(m - 1)
    shift = np.uint64(1)
    while shift < np.uint64(64):
        mask |= mask >> shift
        shift <<= np.uint64(1)
    while at < words.size:
        r = np.int64(words[at] & mask)  # signed: with an unsigned one the compiler would fall back to doubles
        at += 1
        if r < m:
            return r, at
    return 0, -1


@nb.njit(nogil=True, cache=True)
def _decay(a: int, b: int, words: Words, at: int) -> tuple[bool, int]:
    """Return a coin that shows True with probability exp(-a/b), for integers a >= 0, b > 0."""
    while a > b:  # exp(-a/b) = exp(-1) exp(-(a-b)/b)
        k = 1
        while True:
            r, at = _below(k, words, at)
            if at < 0:
                return False, -1
            if r > 0:
                break
            k += 1
        if k % 2 == 0:
            return False, at
        a -= b
    k = 1
    while True:
        r, at = _below(b * k, words, at)
        if at < 0:
            return False, -1
        if r >= a:
            return k % 2 == 1, at
        k += 1


@nb.njit(nogil=True, cache=True)
def _laplace(scale: int, words: Words, at: int) -> tuple[int, int]:
    """Draw z with probability proportional to exp(-|z|/scale)."""
    while True:
        u, at = _below(scale, words, at)
        if at < 0:
            return 0, -1
        kept, at = _decay(u, scale, words, at)
        if at < 0:
            return 0, -1
        if not kept:
            continue
        x = u
        while True:
            more, at = _decay(1, 1, words, at)
            if at < 0:
                return 0, -1
            if not more:
                break
            x += scale
        negative, at = _below(2, words, at)
        if at < 0:
            return 0, -1
        if negative == 0:
            return x, at
        if x > 0:
            return -x, at


@nb.njit(nogil=True, cache=True)
def _gaussian(scale: int, words: Words, at: int) -> tuple[int, int]:
    """Draw z with probability proportional to exp(-z^2/(2 scale^2))."""
    while True:
        z, at = _laplace(scale, words, at)
        if at < 0:
            return 0, -1
        if abs(z) > FARTHEST * scale:
            continue
        off = abs(z) - scale
        kept, at = _decay(off * off, 2 * scale * scale, words, at)
        if at < 0:
            return 0, -1
        if kept:
            return z, at


@nb.njit(nogil=True, cache=True)
def _fill_laplace(scale: int, words: Words, out: Integers, done: int) -> tuple[int, int]:
    at = 0
    while done < out.size:
        z, after = _laplace(scale, words, at)
        if after < 0:
            break
        out[done] = z
        done, at = done + 1, after
    return done, at


@nb.njit(nogil=True, cache=True)
def _fill_gaussian(scale: int, words: Words, out: Integers, done: int) -> tuple[int, int]:
    at = 0
    while done < out.size:
        z, after = _gaussian(scale, words, at)
        if after < 0:
            break
        out[done] = z
        done, at = done + 1, after
    return done, at


def _fill(kernel: Callable[..., tuple[int, int]], scale: int, size: int, source: BitSource) -> Integers:
    """Draw ``size`` values. A value whose words ran out is drawn again from the same words and more.

    Drawing it from fresh words instead would favour values that need few of them.
    """
    if not 1 <= scale <= 2 ** (RESOLUTION + 1):
        raise ValueError(f"scale must be an integer from 1 to 2^{RESOLUTION + 1} lattice steps; got {scale!r}.")
    out = np.empty(size, dtype=np.int64)
    words, done = source.words(48 * size + 64), 0
    while True:
        done, used = kernel(scale, words, out, done)
        if done == size:
            return out
        words = np.concatenate((words[used:], source.words(48 * (size - done) + 64)))


def discrete_laplace(scale: int, size: int, source: BitSource) -> Integers:
    """Integers z, independent, with probability proportional to exp(-|z|/scale)."""
    return _fill(_fill_laplace, scale, size, source)


def discrete_gaussian(scale: int, size: int, source: BitSource) -> Integers:
    """Integers z, independent, with probability proportional to exp(-z^2/(2 scale^2))."""
    return _fill(_fill_gaussian, scale, size, source)


@dataclass(frozen=True)
class Lattice:
    """The points ``step`` times the integers, a power of two apart in every coordinate."""

    step: float

    @classmethod
    def for_scale(cls, scale: float) -> Lattice:
        """Return the lattice on which noise of this scale spans 2^23 to 2^24 steps."""
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale must be a finite number above 0; got {scale!r}.")
        return cls(math.ldexp(1.0, math.frexp(scale)[1] - RESOLUTION))

    def steps(self, scale: float) -> int:
        """Return the least whole number of steps that is at least ``scale``."""
        return math.ceil(scale / self.step)

    def round(self, value: Array) -> Integers:
        """Return the nearest lattice point, in steps; it moves each coordinate by at most half a step."""
        return np.rint(value / self.step).astype(np.int64)

    def points(self, steps: Integers) -> Array:
        """Return the lattice points with these coordinates in steps."""
        return steps.astype(np.float64) * self.step
