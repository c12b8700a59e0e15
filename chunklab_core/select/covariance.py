"""How far mean recalls may lie from the true ones, and which of them err together.

Why: cells answer the same questions, so a hard set of questions pulls all of them down at once. What tells two cells
apart is the noise of their difference, and that stands in the covariance of the means, not in their variances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_IF_EQUAL = 20  # draws that the noise under equality counts for; hardly felt beyond 100 questions


def covariance_of_means(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of the mean recalls of entrants. Shape (entrants, entrants).

    Questions drawn together count as one draw; a mean is then a ratio of two sums, and its error that of the residuals.
    Where few questions tell two cells apart, their own means explain most of the difference away and leave too little
    noise; so the noise is drawn towards what it would be around one common mean, as if that had been seen in 20 draws.
    With few draws, or more entrants than draws, the covariance seen would call some differences free of noise. So it
    is drawn towards one in which all entrants have one variance and all pairs one covariance, as if that had been seen
    in as many draws as there are entrants.

    Args:
        sums: shape (entrants, draws), recall summed over the questions of each draw; two draws or more.
        sizes: shape (draws,), the questions of each draw.

    Source: Cochran, Sampling Techniques (1977), section 6.3, for ratios; Wilson, Probable inference, the law of
    succession, and statistical inference (1927), for noise at the value assumed, not at the one seen; Ledoit and Wolf,
    Honey, I shrunk the sample covariance matrix (2004), for what it is drawn to; Gelman et al., Bayesian Data Analysis
    (2013), section 3.6 (inverse Wishart), for how far.
    """
    n_entrants, n_draws = sums.shape
    means = sums.sum(axis=1) / sizes.sum()
    residuals = (sums - np.outer(means, sizes)) * (n_draws / sizes.sum())
    apart = means - means.mean()
    if_equal = _IF_EQUAL / (_IF_EQUAL + n_draws - 1)
    spread = residuals @ residuals.T / (n_draws - 1) + if_equal * np.outer(apart, apart)
    weight = n_entrants / (n_entrants + n_draws - 1)
    return ((1 - weight) * spread + weight * _alike(spread)) / n_draws


def _alike(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same mean variance and mean covariance for all entrants."""
    n_entrants = len(spread)
    variance, pairs = spread.trace() / n_entrants, n_entrants * (n_entrants - 1)
    alike = np.full_like(spread, (spread.sum() - spread.trace()) / max(pairs, 1))
    np.fill_diagonal(alike, variance)
    return alike
