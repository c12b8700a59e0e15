"""How many scored questions would separate two cells.

Why: "not enough data" helps nobody; "about 240 questions" shows whether to write more or to choose the cheaper cell.
Today's gap is that of a picked leader, so it is too large, and a forecast that trusts it promises too much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.lead_needed import lead_needed

BAR = 0.90
CHANCE = 0.80
MOST_QUESTIONS = 10_000
_GAP_VARIANCE = 2 * 0.1**2  # of the gap of two cells whose true recalls spread by 0.1 around a common mean
_COMPUTED = 60


def questions_needed(differences: NDArray[np.float64], at_least: int = 1) -> int | None:
    """Scored questions, today's included, with an 80 % chance of separating two cells.

    Two cells are separate when the share of one is 0.90 with luck discounted; its share of resamples is then higher.

    The gap is shrunk towards 0 according to today's noise and stays uncertain; today's questions are kept, and new
    ones are drawn from the posterior of the gap.

    Args:
        differences: shape (questions,), recall of one cell less recall of the other.
        at_least: the least number of questions to return.

    Returns:
        The smallest number above today's, or None if 10,000 are too few, or if there is only one question.

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
    totals = np.arange(first, MOST_QUESTIONS + 1)
    enough = np.flatnonzero(chance(gap, variance, n, totals) >= CHANCE)
    return int(totals[enough[0]]) if len(enough) else None


def chance(gap: float, variance: float, n: int, totals: NDArray[np.int_]) -> NDArray[np.float64]:
    """Chance that one of the two cells reaches the bar after each total of questions; `n` of them are known."""
    from scipy.special import ndtr

    kept = _GAP_VARIANCE / (_GAP_VARIANCE + variance / n)
    belief_variance = kept * variance / n
    new = totals - n
    middle = (n * gap + new * kept * gap) / totals
    spread = new / totals * np.sqrt(belief_variance + variance / new)
    bar = _bars(variance, totals)
    return 1 - ndtr((bar - middle) / spread) + ndtr((-bar - middle) / spread)


def _bars(variance: float, totals: NDArray[np.int_]) -> NDArray[np.float64]:
    """The lead that is enough after each total of questions, interpolated between a few totals."""
    if totals.size == 0:
        return np.zeros(0)
    some = np.geomspace(totals[0], totals[-1], _COMPUTED)
    leads = lead_needed(variance / some, BAR) / np.sqrt(variance / some)
    return np.interp(np.log(totals), np.log(some), leads) * np.sqrt(variance / totals)
