"""The cheapest cell in play, and what it may cost in recall.

Why: without a winner, the cheapest cell that is not ruled out is the best choice; the recall it may lose is the price
of that choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.bootstrap import resample_counts

_RESAMPLES = 10_000


def cheapest(in_play: Sequence[int], tokens: NDArray[np.float64], recall: NDArray[np.float64]) -> int:
    """The cell in play with the fewest tokens; among equals the one of highest recall, then the first.

    Args:
        in_play: cells.
        tokens: shape (cells, questions).
        recall: the same shape.
    """
    return min(in_play, key=lambda cell: (tokens[cell].sum(), -recall[cell].sum(), cell))


def difference_ci95(sums: NDArray[np.float64], sizes: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """Percentile bootstrap interval, 95 %, of the mean difference of two cells on the same questions.

    Args:
        sums: shape (draws,), differences summed over the questions of each draw.
        sizes: shape (draws,), the questions of each draw.
        seed: seed of the resamples.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), sections 8.2 (pairs) and 13.3.
    """
    drawn = [(counts @ sums) / (counts @ sizes) for counts in resample_counts(len(sums), _RESAMPLES, seed)]
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5])
    return float(low), float(high)
