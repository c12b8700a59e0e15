"""nDCG at k: whether the chunks that hold an answer come first in the ranking.

Why: precision ignores the order, and the reciprocal rank sees only the first hit. A retriever or a reranker that moves
every hit up is better than one that moves the first, and this figure shows it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ndcg_at_k(found: NDArray[np.bool_], k: int, n_relevant: int) -> float:
    """Discounted gain of the top-k chunks over that of the best possible ranking of the same chunks.

    A chunk is relevant, with gain 1, when it holds any gold slot, however many. The best ranking begins with all
    relevant chunks of the strategy, so overlap counts: where two chunks share a gold, both are relevant, the best
    ranking has both, and a copy of an answer at rank 2 gains as much as another answer there. Use it to compare
    retrievers over one strategy; two strategies have different relevant chunks, so compare those by recall.

    Args:
        found: shape (retrieved, slots), best chunk first, with k rows or fewer.
        k: the number of places, at least 1.
        n_relevant: how many chunks of the strategy hold any slot, retrieved or not.

    Returns:
        A fraction in [0, 1]; 0.0 where no chunk of the strategy holds gold: the answer exists, but no ranking has it.

    Raises:
        ValueError: more relevant chunks were retrieved than there are.

    Source: Jarvelin and Kekalainen, Cumulated gain-based evaluation of IR techniques (2002), section 2, with the
    discount 1 / log2(rank + 1) that is usual since (theirs leaves the first two ranks alike).
    """
    ranks = np.flatnonzero(found.any(axis=1)) + 1
    if len(ranks) > n_relevant:
        raise ValueError(f"ndcg_at_k: {len(ranks)} relevant chunks retrieved, n_relevant is {n_relevant}.")
    if n_relevant == 0:
        return 0.0
    ideal = np.arange(1, min(k, n_relevant) + 1)
    return float((1 / np.log2(ranks + 1)).sum() / (1 / np.log2(ideal + 1)).sum())
