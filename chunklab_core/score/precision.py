"""Precision at k: the share of the k places that chunks with an answer take.

Why: recall does not show how many of the chunks are useless. The divisor is k even where fewer chunks came back:
otherwise BM25, which lists only chunks that share a term with the query, would be rated on a shorter list than dense
search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def precision_at_k(found: NDArray[np.bool_], k: int) -> float:
    """Share of k places whose chunk holds any gold slot.

    Args:
        found: shape (retrieved, slots), best chunk first, with k rows or fewer.
        k: the number of places, at least 1.

    Source: Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), section 8.4.
    """
    return float(found.any(axis=1).sum()) / k
