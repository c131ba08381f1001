"""Gradients and Hessians of batches of small tables from explicit pairs, or records.

They share no code with the kernels behind the risks, so that what they say of a certificate is a second opinion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.losses import Loss
from diptych.risks import MetricRisk, PointRisk, RankingRisk, RankingsRisk, Risk
from diptych.sets import unpack
from diptych.spec import TableSize

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def pair_weight(size: TableSize) -> float:
    """1/N: the weight of a pair in a ranking risk."""
    if size.positives is None:
        return 1.0 / size.n**2
    return 1.0 / (size.positives * (size.n - size.positives))


def explicit_gradients(loss: Loss, X: Array, codes: Any, w: Array, scale: float) -> Array:
    """Unregularised gradients of ranking risks at vectors w, for a batch of small tables, pair by pair."""
    scores = np.einsum("bnd,bd->bn", X, w)
    slopes = loss.slope(scores[:, :, None] - scores[:, None, :])
    slopes *= _ranked(codes)
    return np.asarray(scale * np.einsum("bij,bijd->bd", slopes, _apart(X)))


def explicit_hessians(loss: Loss, X: Array, codes: Any, w: Array, scale: float) -> Array:
    """Unregularised Hessians of ranking risks at vectors w, for a batch of small tables, pair by pair."""
    scores = np.einsum("bnd,bd->bn", X, w)
    bends = loss.curvature(scores[:, :, None] - scores[:, None, :])
    bends *= _ranked(codes)
    return np.asarray(scale * np.einsum("bij,bijk,bijl->bkl", bends, _apart(X), _apart(X)))


def explicit_metric_gradients(risk: MetricRisk, X: Array, codes: Codes, W: Array) -> Array:
    """Unregularised gradients of metric risks at matrices W, themselves matrices, for a batch of small tables."""
    n, apart = X.shape[1], _apart(X)
    squares = np.einsum("bijk,bkl,bijl->bij", apart, W, apart)
    near = np.where(codes[:, :, None] == codes[:, None, :], 1.0, -1.0)
    pulls = -near * risk.curve.slope(near * (risk.offset - squares))  # a record with itself: apart is 0
    return np.asarray(np.einsum("bij,bijk,bijl->bkl", pulls, apart, apart) / (n * (n - 1.0)))


def explicit_rankings_gradients(risk: RankingsRisk, X: Array, codes: Codes, w: Array) -> Array:
    """Unregularised gradients of stacked rankings at stacked vectors w, for a batch of small tables."""
    n, above = X.shape[1], range(risk.classes) if risk.classes > 2 else (1,)
    blocks = np.split(w, risk.directions, axis=1)
    counts = [n if risk.counts is None else risk.counts[code] for code in above]
    scales = [1.0 / n**2 if risk.counts is None else 1.0 / max(1, count * (n - count)) for count in counts]
    each = zip(above, blocks, scales, strict=True)
    parts = [explicit_gradients(risk.loss, X, codes == code, block, scale) for code, block, scale in each]
    return np.concatenate(parts, axis=1)


def explicit_point_gradients(risk: PointRisk, size: TableSize, X: Array, codes: Codes, w: Array) -> Array:
    """Unregularised gradients of point risks at vectors w, for a batch of small tables, record by record."""
    scores, y = np.einsum("bnd,bd->bn", X, w), numbers(risk, codes)
    slopes = -risk.loss.slope(y - scores) if risk.loss.residual else y * risk.loss.slope(y * scores)
    return np.asarray(np.einsum("bn,bnd->bd", slopes, X) / size.n)


def explicit_point_hessians(risk: PointRisk, size: TableSize, X: Array, codes: Codes, w: Array) -> Array:
    """Unregularised Hessians of point risks at vectors w, for a batch of small tables, record by record."""
    scores, y = np.einsum("bnd,bd->bn", X, w), numbers(risk, codes)
    bends = risk.loss.curvature(y - scores if risk.loss.residual else y * scores)
    return np.asarray(np.einsum("bn,bnk,bnl->bkl", bends, X, X) / size.n)


def numbers(risk: PointRisk, codes: Codes) -> Array:
    """Return 1 or -1 for two classes; for residuals the largest label, the smallest or the one between them."""
    return np.asarray((codes - 1.0) * risk.labels if risk.loss.residual else 2.0 * codes - 1.0)


def parameters(risk: Risk[Any], w: Array) -> Array:
    """Bring points of a ball into the set of a risk: vectors; for a metric, matrices."""
    if isinstance(risk, MetricRisk):
        return np.array([unpack(risk.constraint.project(one)) for one in w])
    return w


def gradients(risk: Risk[Any], size: TableSize, X: Array, codes: Codes, w: Array) -> Array:
    """Unregularised gradients of any risk at such parameters, and of their shape, for a batch of small tables."""
    if isinstance(risk, MetricRisk):
        return explicit_metric_gradients(risk, X, codes, w)
    if isinstance(risk, RankingsRisk):
        return explicit_rankings_gradients(risk, X, codes, w)
    if isinstance(risk, PointRisk):
        return explicit_point_gradients(risk, size, X, codes, w)
    return explicit_gradients(risk.loss, X, codes, w, pair_weight(size))


def hessians(risk: RankingRisk | PointRisk, size: TableSize, X: Array, codes: Codes, w: Array) -> Array:
    """Unregularised Hessians of risks of rankings or points at vectors w, for a batch of small tables."""
    if isinstance(risk, PointRisk):
        return explicit_point_hessians(risk, size, X, codes, w)
    return explicit_hessians(risk.loss, X, codes, w, pair_weight(size))


def terms(risk: RankingRisk | PointRisk, size: TableSize, table: Any) -> tuple[Array, Array, float]:
    """Return vectors a_j, offsets c_j and the weight u of a risk that is the sum of u l(c_j + w.a_j) over j."""
    if not isinstance(risk, PointRisk):
        apart = (table.X[table.positive][:, None] - table.X[~table.positive][None]).reshape(-1, table.d)
        return apart, np.zeros(len(apart)), pair_weight(size)
    if risk.loss.residual:
        return -table.X, table.y, 1.0 / size.n
    return table.y[:, None] * table.X, np.zeros(table.n), 1.0 / size.n


def _apart(X: Array) -> Array:
    """Differences of the rows of each table."""
    return np.asarray(X[:, :, None, :] - X[:, None, :, :])


def _ranked(codes: Any) -> NDArray[np.bool_]:
    """Which pairs are of a positive record and a negative one, in this order."""
    positive = np.asarray(codes, dtype=np.bool_)
    return np.asarray(positive[:, :, None] & ~positive[:, None, :])
