"""Scores as whole numbers, so that a tie is a tie and a sum is the same on every machine.

Why: 1/3 + 2/3 and 1/2 + 1/2 differ in the last bit, which would break a share that counts ties. Recalls are fractions
of few slots, so a common denominator exists; sums of whole numbers in float64 are exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.select.labels import sum_by_label

_MAX_SLOTS = 1000  # largest denominator tried for one score
_MAX_UNIT = 1_000_000  # largest common denominator worth having
_FINE = float(1 << 32)  # units of the largest value where there is no common denominator
_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class WholeUnits:
    """Scores in whole units.

    Attributes:
        values: shape (cells, draws), float64, every entry a whole number.
        unit: how many units make 1.
        slack: totals over all draws that differ by at most this many units are equal; 0 where the units represent
            the scores exactly, else scores are rounded by less than 1e-9 of the largest.
    """

    values: NDArray[np.float64]
    unit: float
    slack: float = 0.0

    def by_label(self, labels: Sequence[str]) -> WholeUnits:
        """Questions of one label as one sum, so that what moves together is drawn together.

        All cells share the number of questions in a resample, so sums over drawn groups rank cells as means do.
        """
        return WholeUnits(sum_by_label(self.values, labels), self.unit, self.slack)


def checked_scores(scores: ArrayLike, name: str) -> NDArray[np.float64]:
    """Scores (cells, questions) as an array.

    Raises:
        ValueError: the shape is wrong, a score is NaN or infinite, or there is no cell or no question.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{name} has shape {values.shape}; expected (cells, questions) with at least one of each.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinity; leave out questions without a score, for every cell.")
    return values


def in_whole_units(scores: ArrayLike, name: str = "scores") -> WholeUnits:
    """Scores (cells, draws) in whole units; raises ValueError as `checked_scores` does."""
    values = checked_scores(scores, name)
    unit = _common_denominator(values)
    if unit:
        return WholeUnits(np.rint(values * unit), float(unit))
    unit_fine = _FINE / (float(np.abs(values).max()) or 1.0)
    return WholeUnits(np.rint(values * unit_fine), unit_fine, slack=float(values.shape[1]))


def _common_denominator(values: NDArray[np.float64]) -> int | None:
    unit = 1
    for value in np.unique(values).tolist():
        near = Fraction(value).limit_denominator(_MAX_SLOTS)
        unit = lcm(unit, near.denominator)
        if abs(value - float(near)) > _NEAR * max(1.0, abs(value)) or unit > _MAX_UNIT:
            return None
    return unit
