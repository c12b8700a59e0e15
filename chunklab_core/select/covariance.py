"""The noise of mean recalls, and how much of it cells share.

Why: cells answer the same questions, so a hard set of questions lowers all of them at once. The noise of a difference
of two cells decides whether they can be separated; it follows from the covariance of the means, not from their
variances alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_IF_EQUAL = 20  # draws that the noise under equality counts for; hardly felt beyond 100 questions


def covariance_of_means(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of the mean recalls of entrants. Shape (entrants, entrants).

    Questions drawn together count as one draw; a mean is then a ratio of two sums, and its error that of the residuals.
    Where few questions separate two cells, their own means explain most of the difference and leave too little noise.
    So the noise is shrunk towards the noise around one common mean, as if that had been observed in 20 draws.
    With few draws, or more entrants than draws, the observed covariance would show some differences without noise. So
    it is shrunk towards one in which all entrants have one variance and all pairs one covariance, as if that had been
    observed in as many draws as there are entrants.

    Args:
        sums: shape (entrants, draws), recall summed over the questions of each draw; two draws or more.
        sizes: shape (draws,), the questions of each draw.

    Source: Cochran, Sampling Techniques (1977), section 6.3, for ratios; Wilson, Probable inference, the law of
    succession, and statistical inference (1927), for noise at the assumed value, not at the observed one; Ledoit and
    Wolf, Honey, I shrunk the sample covariance matrix (2004), for the target; Gelman et al., Bayesian Data Analysis
    (2013), section 3.6 (inverse Wishart), for the amount of shrinking.
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
