"""Probability of being best when the retrieved text has a price: `balanced_in_play` in every resample of the questions.

Why: `balanced` has no value for a single question, but it has one for every resample: recall and tokens are means
over the questions drawn, and the formula is applied to the means. This shows a cell that wins on recall only because
it returns more text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.balanced import balanced
from chunklab_core.select.bootstrap import resample_counts
from chunklab_core.select.probability import shares_of_wins
from chunklab_core.select.whole_units import WholeUnits

_TIED = 1e-12


def balanced_shares(
    recall: WholeUnits,
    tokens: NDArray[np.float64],
    sizes: NDArray[np.float64],
    in_play: Sequence[int],
    balanced_lambda: float,
    resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """The share of resamples in which recall - lambda * (tokens / T_min - 1) of each cell is the highest.

    Args:
        recall: (cells, draws), sums over the questions of each draw.
        tokens: the same shape, retrieved tokens.
        sizes: shape (draws,), the number of questions in each draw.
        in_play: the cells over which T_min, the fewest tokens of a cell that retrieved any, is taken.
        balanced_lambda: what a cell pays for twice T_min.
        resamples: how many resamples are drawn.
        seed: as for `probability_best`, whose resamples these are.
    """

    are_in_play = np.isin(np.arange(len(tokens)), in_play)

    def resampled() -> Iterator[NDArray[np.float64]]:
        for counts in resample_counts(len(sizes), resamples, seed):
            mean_recall = (counts @ recall.values.T) / (recall.unit * (counts @ sizes)[:, None])
            yield balanced(mean_recall, counts @ tokens.T, balanced_lambda, are_in_play)

    return shares_of_wins(resampled(), np.ones(len(tokens), dtype=np.intp), _TIED)
