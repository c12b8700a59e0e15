"""The lead over one rival that a winner needs.

Why: a forecast of how many questions are needed has to know the lead that is enough, and the discounted share needs a
larger lead than P(best).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.hierarchy import TAU, prior

_HALVINGS = 40
_WIDEST = 8.0  # standard errors; the lead is searched between 0 and this


def lead_needed(variances: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The smallest difference of two mean recalls at which the better one has this share, with luck discounted.

    Args:
        variances: shape (cases,), variance of the difference on the questions.
        share: above 0.5.

    Source: the model of `hierarchy` for two entrants; the difference of their true recalls is normal(0, 2 tau^2).
    """
    low, high = np.zeros_like(variances), _WIDEST * np.sqrt(variances)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = share_of_two(middle, variances) >= share
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def share_of_two(leads: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that the cell that leads by this much is the better of two. Shape (cases,)."""
    from scipy.special import ndtr

    apart = 2 * TAU[:, None] ** 2  # (grid, 1)
    total = variances + apart
    log_weight = np.log(prior())[:, None] - (np.log(total) + leads**2 / total) / 2
    weights = np.exp(log_weight - log_weight.max(axis=0))
    better = ndtr(np.sqrt(apart / total) * leads / np.sqrt(variances))
    return (weights * better).sum(axis=0) / weights.sum(axis=0)
