"""Reciprocal rank: how far down the reader finds the first part of the answer.

Why: two retrievers with the same hit rate differ in how soon the hit comes, and readers and models attend to the top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def first_hit_rank(found: NDArray[np.bool_]) -> int | None:
    """Rank (from 1) of the first chunk that holds any gold slot, or None where none of them does.

    Args:
        found: shape (k, slots), best chunk first; k may be 0.
    """
    hits = np.flatnonzero(found.any(axis=1))
    return int(hits[0]) + 1 if hits.size else None


def reciprocal_rank(found: NDArray[np.bool_]) -> float:
    """1 / rank of the first hit within k, 0.0 without one; its mean over questions is the MRR.

    Source: Voorhees, The TREC-8 Question Answering Track Report (1999), section 3.
    """
    rank = first_hit_rank(found)
    return 1.0 / rank if rank else 0.0
