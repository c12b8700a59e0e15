"""Probability of being best once the leader's luck is discounted.

Why: the leader leads in part because the questions happened to suit it. Resampling the same questions repeats that
luck; between two equals it names a winner in one run of five. Here the true recalls are themselves drawn around a
common mean, so a lead is believed only as far as the spread of the cells supports it.

The model, of entrants k with observed mean recalls m:
    m ~ normal(theta, covariance of the means);  theta_k ~ normal(mu, tau^2);  mu flat;
    tau = 0, no difference at all, with probability 0.05;  else tau ~ half-normal(0.1).
mu is integrated in closed form and tau on a grid: a single tau from the data is as often too large as too small, and
if it is too large there is no discount. Without the 0.05, more questions would separate two equal cells more often,
because a model without equals finds a better one in the end.

Source: Gelman et al., Bayesian Data Analysis, third edition (2013), sections 5.4 (the model; here with a covariance in
place of independent errors) and 5.7 (half-normal priors on tau); Efron, Tweedie's formula and selection bias (2011),
for why a posterior mean needs no further correction for the choice of the leader; Johnson and Rossell, On the use of
non-local prior densities in Bayesian hypothesis tests (2010), for how slowly a model without a probability for
equality finds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_TAU_SCALE = 0.1  # usual distance between true recalls of cells on one corpus
_EQUAL = 0.05  # probability that no cell differs from another
TAU = np.concatenate([[0.0], (np.arange(100) + 0.5) * _TAU_SCALE / 20])  # 0, and midpoints of a grid to five scales
_LEAST = 1e-12  # smallest variance, so that it can be a divisor


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior of the true recalls at each point of the grid of tau, along the axes of the covariance.

    Attributes:
        weights: shape (grid,), the probability of each tau.
        axes: shape (entrants, entrants), eigenvectors of the covariance in columns.
        centres: shape (grid, entrants), mean along each axis.
        variances: the same shape, given mu.
        of_mu: shape (grid,), variance of mu.
        pull: shape (grid, entrants), how far each axis follows mu.
    """

    weights: NDArray[np.float64]
    axes: NDArray[np.float64]
    centres: NDArray[np.float64]
    variances: NDArray[np.float64]
    of_mu: NDArray[np.float64]
    pull: NDArray[np.float64]

    def means(self) -> NDArray[np.float64]:
        """Expected true recall of each entrant: the observed one, discounted for luck."""
        return self.axes @ (self.weights @ self.centres)

    def shares(self, draws: int, seed: int) -> NDArray[np.float64]:
        """The share of draws from the posterior in which each entrant has the highest true recall."""
        rng = np.random.default_rng(seed)
        wins = np.zeros(len(self.axes))
        upto = np.rint(np.cumsum(self.weights) * draws).astype(np.intp)
        times = np.diff(upto, prepend=0)
        for at, n in zip(np.flatnonzero(times), times[times > 0], strict=True):
            if TAU[at] == 0:  # all are best, and share it
                wins += n / len(wins)
                continue
            own = rng.standard_normal((n, len(wins))) * np.sqrt(self.variances[at])
            common = rng.standard_normal((n, 1)) * np.sqrt(self.of_mu[at]) * self.pull[at]
            drawn = (self.centres[at] + own + common) @ self.axes.T
            wins += np.bincount(drawn.argmax(axis=1), minlength=len(wins))
        return wins / wins.sum()


def posterior(means: NDArray[np.float64], covariance: NDArray[np.float64]) -> Posterior:
    """The posterior of the true recalls.

    Args:
        means: shape (entrants,), observed mean recalls.
        covariance: shape (entrants, entrants), of `means`; may be singular.
    """
    noise, axes = np.linalg.eigh(covariance)
    noise = np.maximum(noise, _LEAST)
    total = noise + TAU[:, None] ** 2  # (grid, entrants): variance of the observed means along each axis
    ones, seen = axes.sum(axis=0), axes.T @ means
    precision = (ones**2 / total).sum(axis=1)
    mu = (ones * seen / total).sum(axis=1) / precision
    off = seen - mu[:, None] * ones
    kept = TAU[:, None] ** 2 / total
    log_weight = np.log(prior()) - (np.log(total).sum(axis=1) + np.log(precision) + (off**2 / total).sum(axis=1)) / 2
    weights = np.exp(log_weight - log_weight.max())
    return Posterior(
        weights=weights / weights.sum(),
        axes=axes,
        centres=mu[:, None] * ones + kept * off,
        variances=kept * noise,
        of_mu=1 / precision,
        pull=(1 - kept) * ones,
    )


def prior() -> NDArray[np.float64]:
    """Probability of each point of the grid. Shape (grid,)."""
    spread = np.exp(-((TAU[1:] / _TAU_SCALE) ** 2) / 2)
    return np.concatenate([[_EQUAL], (1 - _EQUAL) * spread / spread.sum()])
