"""Scores as whole numbers, so that a tie is a tie and a sum is the same on every machine.

Why: 1/3 + 2/3 and 1/2 + 1/2 differ in the last bit, and a share that counts ties cannot live with that. Recalls are
fractions of few slots, so a common denominator exists; sums of whole numbers in float64 are exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MAX_SLOTS = 1000  # denominators looked for
_MAX_UNIT = 1_000_000  # largest common denominator worth having
_FINE = float(1 << 32)  # units for values that have none
_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class Lattice:
    """Scores in whole units.

    Attributes:
        values: shape (cells, draws), float64, every entry a whole number.
        unit: how many units make 1.
        slack: totals over all draws that differ by no more than this many units are equal; 0 where the units hit
            the scores exactly, else they are rounded, by less than 1e-9 of the largest.
    """

    values: NDArray[np.float64]
    unit: float
    slack: float = 0.0

    def by_label(self, labels: Sequence[str]) -> Lattice:
        """Questions of one label taken together, as sums: what moves together is drawn together.

        All cells share the number of questions in a resample, so sums over drawn groups rank cells as means do.

        Source: Davison and Hinkley, Bootstrap Methods and their Application (1997), section 3.8: whole clusters drawn.
        """
        return Lattice(sum_by_label(self.values, labels), self.unit, self.slack)


def sum_by_label(values: NDArray[np.float64], labels: Sequence[str]) -> NDArray[np.float64]:
    """Sums of the columns that bear one label: shape (rows, labels), in the order in which labels first come."""
    places = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    sums = np.zeros((len(places), values.shape[0]))
    np.add.at(sums, [places[label] for label in labels], values.T)
    return sums.T


def sizes_of(labels: Sequence[str]) -> NDArray[np.float64]:
    """How many columns bear each label: shape (labels,), in the order in which labels first come."""
    return sum_by_label(np.ones((1, len(labels))), labels)[0]


def on_lattice(scores: ArrayLike, what: str = "scores") -> Lattice:
    """Scores (cells, draws) in whole units.

    Raises:
        ValueError: the shape is another, something is missing (NaN) or infinite, or there is no cell or no question.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{what} has shape {values.shape}; expected (cells, questions) with at least one of each.")
    if not np.isfinite(values).all():
        raise ValueError(f"{what} holds NaN or infinity; leave questions without a score out, for every cell.")
    unit = _common_denominator(values)
    if unit:
        return Lattice(np.rint(values * unit), float(unit))
    unit_fine = _FINE / (float(np.abs(values).max()) or 1.0)
    return Lattice(np.rint(values * unit_fine), unit_fine, slack=float(values.shape[1]))


def _common_denominator(values: NDArray[np.float64]) -> int | None:
    unit = 1
    for value in np.unique(values).tolist():
        near = Fraction(value).limit_denominator(_MAX_SLOTS)
        unit = lcm(unit, near.denominator)
        if abs(value - float(near)) > _NEAR * max(1.0, abs(value)) or unit > _MAX_UNIT:
            return None
    return unit
