"""How many scored questions would settle a comparison.

Why: "not enough data" helps nobody; "about 240 questions" tells whether to write more or to take the cheaper cell.
The gap seen today is the gap of a leader, so it is too large, and a forecast that trusts it promises too much.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

BAR = 0.90
CHANCE = 0.80
MOST_QUESTIONS = 10_000
_GAP_VARIANCE = 2 * 0.1**2  # of the gap of two cells whose true recalls lie 0.1 around a common mean
_NORMAL = NormalDist()


def questions_needed(differences: NDArray[np.float64], at_least: int = 1) -> int | None:
    """Scored questions, today's included, with an 80 % chance that one of two cells reaches a 0.90 share of resamples.

    The gap is shrunk towards 0 as today's noise demands and stays uncertain; today's questions are kept and the new
    ones are drawn from what is believed of the gap.

    Args:
        differences: shape (questions,), recall of one cell less recall of the other.
        at_least: a number below which no comparison is called settled.

    Returns:
        The smallest number above today's, or None where 10,000 would not do, or where one question tells no spread.

    Source: Spiegelhalter, Abrams and Myles, Bayesian Approaches to Clinical Trials and Health-Care Evaluation (2004),
    section 6.5 (predictive power).
    """
    n = len(differences)
    if n < 2:
        return None
    gap, variance = float(differences.mean()), float(differences.var(ddof=1))
    first = max(n + 1, at_least)
    if variance == 0:
        return first if gap else None
    return next(
        (total for total in range(first, MOST_QUESTIONS + 1) if chance(gap, variance, n, total) >= CHANCE), None
    )


def chance(gap: float, variance: float, n: int, total: int) -> float:
    """Chance that after `total` questions, of which `n` are known, one of the two cells reaches the bar."""
    kept = _GAP_VARIANCE / (_GAP_VARIANCE + variance / n)
    belief_variance = kept * variance / n
    new = total - n
    middle = (n * gap + new * kept * gap) / total
    spread = new / total * sqrt(belief_variance + variance / new)
    bar = _NORMAL.inv_cdf(BAR) * sqrt(variance / total)
    return 1 - _NORMAL.cdf((bar - middle) / spread) + _NORMAL.cdf((-bar - middle) / spread)
