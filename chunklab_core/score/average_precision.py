"""Average precision at k: the precision at every hit; its mean over questions is the MAP.

Why: one number for "are the hits there, and do they come first" that, unlike nDCG, has a plain meaning: at each useful
chunk, the share of the chunks read so far that were useful.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def average_precision_at_k(found: NDArray[np.bool_], n_relevant: int) -> float:
    """Precision at the rank of each relevant chunk within k, summed, over the number of relevant chunks there are.

    A chunk is relevant when it holds any gold slot. The sum is divided by all relevant chunks of the strategy, also
    where they are more than k, so that a ranking cannot gain by a small k; 1 is then out of reach. Overlap counts: two
    chunks that share a gold are two relevant chunks, and a ranking with one of them has half of them. Use it to compare
    retrievers over one strategy; compare strategies by recall.

    Args:
        found: shape (retrieved, slots), best chunk first, with k rows or fewer.
        n_relevant: how many chunks of the strategy hold any slot, retrieved or not.

    Returns:
        A fraction in [0, 1]; 0.0 where no chunk of the strategy holds gold: the answer exists, but no ranking has it.

    Raises:
        ValueError: more relevant chunks were retrieved than there are.

    Source: Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), section 8.4; the cutoff is
    that of trec_eval's map_cut.
    """
    ranks = np.flatnonzero(found.any(axis=1)) + 1
    if len(ranks) > n_relevant:
        raise ValueError(f"average_precision_at_k: {len(ranks)} relevant chunks retrieved, n_relevant is {n_relevant}.")
    if n_relevant == 0:
        return 0.0
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / n_relevant)
