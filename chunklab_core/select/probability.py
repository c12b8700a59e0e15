"""Probability of being best: the share of resamples of the questions in which a cell is first.

Why: sorting cells and testing the top two is a selection and not a test; the best of many noisy figures is too high.
Counting wins needs no correction, because the shares of all cells add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.select.bootstrap import counts_of_kinds, resample_counts
from chunklab_core.select.whole_units import WholeUnits, in_whole_units

_DRAWS_A_KIND = 4  # drawing the count of one kind takes as long as drawing this many single questions


def probability_best(scores: ArrayLike, resamples: int = 100_000, seed: int = 0) -> NDArray[np.float64]:
    """The share of paired resamples of the questions in which the mean of each cell is highest; ties share equally.

    Args:
        scores: shape (cells, questions), finite.
        resamples: how many resamples are drawn.
        seed: the same seed gives the same shares to the last bit.

    Returns:
        Shape (cells,), float64; sums to 1. Cells equal on every question have equal shares.

    Raises:
        ValueError: a wrong shape, no cell, no question, NaN, or no resample.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 8.2, for resampling whole questions.
    """
    return win_shares(in_whole_units(scores), resamples, seed)


def win_shares(lattice: WholeUnits, resamples: int, seed: int) -> NDArray[np.float64]:
    """`probability_best` of scores in whole units. Shape (cells,)."""
    distinct, cell_of, sizes = np.unique(lattice.values, axis=0, return_inverse=True, return_counts=True)
    kinds, times = _kinds(distinct)
    if resamples >= 1 and len(times) * _DRAWS_A_KIND < distinct.shape[1]:
        totals = iter([counts_of_kinds(times, resamples, seed) @ kinds.T])
    else:
        totals = (counts @ distinct.T for counts in resample_counts(distinct.shape[1], resamples, seed))
    return shares_of_wins(totals, sizes, lattice.slack)[cell_of.ravel()]


def _kinds(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The different columns, in the order in which they first come, and how often each occurs."""
    kinds, first, times = np.unique(values, axis=1, return_index=True, return_counts=True)
    order = np.argsort(first)
    return kinds[:, order], times[order]


def shares_of_wins(totals: Iterator[NDArray[np.float64]], sizes: NDArray[np.intp], slack: float) -> NDArray[np.float64]:
    """The share of resamples that one cell of each entrant wins.

    Args:
        totals: blocks of shape (resamples, entrants).
        sizes: shape (entrants,), how many equal cells each entrant is.
        slack: totals within this of the highest are tied with it.
    """
    wins = np.zeros((int(sizes.sum()) + 1, len(sizes)))  # by the number of cells that share the win
    for block in totals:
        on_top = block >= block.max(axis=1, keepdims=True) - slack
        winners = (on_top @ sizes.astype(np.float64)).astype(np.intp)
        for n_winners in np.flatnonzero(np.bincount(winners)):
            wins[n_winners] += on_top[winners == n_winners].sum(axis=0)
    n_resamples = sum(float(row @ sizes) / n for n, row in enumerate(wins) if n)
    return (wins[1:] / np.arange(1, len(wins))[:, None]).sum(axis=0) / round(n_resamples)
