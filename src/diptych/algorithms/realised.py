"""How far one record can move the mean of stochastic descent along one sequence of records (``sgd-output``).

The sequence is drawn without the table, so what is bounded is the descent along that very sequence, not along
a typical one. Nothing here draws noise. Proofs: ``docs/theory/sgd-output.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from diptych.algorithms.descent import ROUNDING
from diptych.algorithms.online import one_against_all
from diptych.kernels.drift import Law, Sequence
from diptych.risks import Certificate, PairRisk
from diptych.spec import TableSize

UNIT = 2.0**-53
HEAVIER = 4.5  # the weights of a step's pairs sum to 1, those that a certificate's error belongs to, to at least 2/9


@dataclass(frozen=True)
class StepConstants:
    """What one step against all earlier records of a sequence has for constants, each pair with weight 1/t.

    Attributes
    ----------
    pair
        B: the most by which one pair's gradient moves if one of its records is replaced, wherever the two runs are.
    lipschitz
        G: the most that it measures, and where slopes keep their sign the most by which it differs between two points.
    smoothness
        M: its Lipschitz constant, infinite for a kink.
    ridge
        Lambda, times what a step's pairs weigh in the risk, so that the descent is on a multiple of the risk.
    radius, error, slip
        Of the set; of a computed gradient; and what margins may slip by in rounding, times L.
    one_signed
        Whether slopes keep their sign on the set.
    """

    pair: float
    lipschitz: float
    smoothness: float
    ridge: float
    radius: float
    error: float
    slip: float
    one_signed: bool

    @property
    def longest(self) -> float:
        """The longest step that carries no two points apart, 0 for a kink."""
        return 2.0 / (self.smoothness + 2.0 * self.ridge)

    @property
    def most(self) -> float:
        """The longest step that the proofs allow."""
        if not self.one_signed:
            return self.longest
        return max(self.longest, 1.0 / self.ridge) if self.ridge > 0 else math.inf

    def law(self, step: float, features: int) -> Law:
        """Return the recursion of distances for steps of this length (Theorems 1 and 2)."""
        rounding = ROUNDING * features * (self.radius + step * (self.lipschitz + self.ridge * self.radius))
        slack, kick = 2.0 * step * self.error + rounding, step * self.pair
        if step <= self.longest:
            return Law(1.0 - step * self.ridge, 0.0, 0.0, kick, slack)
        return Law(1.0 - step * self.ridge, step * self.lipschitz, 4.0 * step * self.slip, kick, slack)

    def movement(self, sequence: Sequence, step: float, features: int) -> float:
        """Return how far one record can move the mean of the iterates, the worst record of this sequence.

        At least as far as one kick in the last step would, so that a sequence without pairs gets some noise, too.
        """
        least = step * self.pair / sequence.draws.size
        return max(least, sequence.worst_mean(self.law(step, features)))


def ridge_of(risk: PairRisk[Any], size: TableSize, certificate: Certificate) -> float:
    """Return lambda times the expected weight of a step's pairs in units of the risk's: 2N/n^2, N the risk's own sum.

    A record is in at most ``partners`` pairs of weight 1/N, which sum to the risk's share.
    """
    pairs = certificate.partners / risk.pair_share(size)
    return certificate.strong_convexity * 2.0 * pairs / float(size.n) ** 2


def step_constants(risk: PairRisk[Any], size: TableSize, features: int) -> StepConstants:
    """Derive the constants from the certificate that holds on all of the risk's set."""
    certificate = risk.certificate(size, features, tilt=math.inf)
    bend = one_against_all(certificate, risk.mass(size)) if risk.loss.smooth else math.inf
    relative = (8.0 * features + 32.0) * UNIT * (certificate.radius + risk.loss.margin)
    error = HEAVIER * certificate.gradient_error + (bend * relative if risk.loss.smooth else 0.0)
    return StepConstants(
        pair=certificate.gradient_sensitivity / risk.pair_share(size),
        lipschitz=certificate.pair_lipschitz,
        smoothness=bend,
        ridge=ridge_of(risk, size, certificate),
        radius=certificate.radius,
        error=error,
        slip=certificate.pair_lipschitz * relative,
        one_signed=certificate.one_signed,
    )
