"""Balanced: recall less the price of the context it needed.

Why: a bigger chunk holds at least as much gold as a smaller one, so recall alone favours the chunker that returns
whole documents. The price is relative to the cell with the fewest tokens, so long documents cost nothing by themselves;
only a cell that retrieves more than its competitors pays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def balanced(
    recall: NDArray[np.float64],
    tokens: NDArray[np.float64],
    balanced_lambda: float = 0.05,
    in_play: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """recall - lambda * (tokens / T_min - 1) of every cell, T_min being the fewest tokens of a cell that retrieved any.

    Args:
        recall: shape (..., cells), mean recall of each cell.
        tokens: the same shape, mean retrieved tokens of each cell.
        balanced_lambda: the recall a cell pays for retrieving twice T_min.
        in_play: shape (cells,): T_min is taken over these cells (`balanced_in_play`); None: over all.

    Returns:
        The same shape. A cell that retrieved nothing pays nothing; if no cell that may set T_min retrieved anything,
        nothing has a price and the result is recall.
    """
    retrieved = tokens > 0
    priced = retrieved if in_play is None else retrieved & in_play
    t_min = np.where(priced, tokens, np.inf).min(axis=-1, keepdims=True)
    return np.where(retrieved & np.isfinite(t_min), recall - balanced_lambda * (tokens / t_min - 1), recall)
