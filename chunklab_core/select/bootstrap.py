"""Resamples of the questions, and intervals from them: how much figures vary with other questions of the same kind.

Why: the 60 questions behind a figure are one sample of all those that the same users could ask.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.select.whole_units import in_whole_units

_BLOCK = 2_000_000  # draws in memory at once: 16 MB of indices


def resample_counts(n_draws: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each of `n_draws` things is drawn, for `resamples` resamples of as many draws, block by block.

    Yields:
        Shape (resamples of the block, n_draws), float64, whole numbers; each row sums to `n_draws`. The same
        arguments give the same counts.
    """
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; it must be at least 1.")
    rng = np.random.default_rng(seed)
    height = max(1, _BLOCK // n_draws)
    for done in range(0, resamples, height):
        rows = min(height, resamples - done)
        drawn = rng.integers(0, n_draws, size=(rows, n_draws))
        drawn += np.arange(rows)[:, None] * n_draws
        yield np.bincount(drawn.ravel(), minlength=rows * n_draws).reshape(rows, n_draws).astype(np.float64)


def counts_of_kinds(times: NDArray[np.intp], resamples: int, seed: int) -> NDArray[np.float64]:
    """Like `resample_counts` where few things differ: how often each kind is drawn; `times` holds the size of each.

    Returns:
        Shape (resamples, kinds).
    """
    drawn = np.random.default_rng(seed).multinomial(times.sum(), times / times.sum(), size=resamples)
    return drawn.astype(np.float64)


def ci95(values: ArrayLike, resamples: int = 10_000, seed: int = 0) -> tuple[float, float] | None:
    """Percentile bootstrap interval, 95 %, of the mean of one cell's values; None where there is no value.

    Equal values give an interval of width 0.

    Source: Efron and Tibshirani (1993), section 13.3.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    if flat.size == 0:
        return None
    lattice = in_whole_units(flat[None, :], "values")
    if np.ptp(flat) == 0:
        return float(flat[0]), float(flat[0])
    totals = np.concatenate([counts @ lattice.values[0] for counts in resample_counts(flat.size, resamples, seed)])
    low, high = np.percentile(totals, [2.5, 97.5]) / (lattice.unit * flat.size)
    return float(low), float(high)
