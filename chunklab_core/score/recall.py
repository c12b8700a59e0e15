"""Recall at k: how much of the annotated answer reached the reader.

Why: nothing after retrieval can read an answer that is not in the k chunks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def recall_at_k(found: NDArray[np.bool_]) -> float:
    """Share of a question's gold slots found in its top-k chunks; a slot counts once, however many chunks hold it.

    Args:
        found: shape (k, slots), best chunk first; k may be 0 (nothing retrieved), slots may not.

    Raises:
        ValueError: the question has no gold slot; it must be left out before scoring, never counted as 0.

    Source: Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), section 8.3, with gold
    slots instead of relevant documents.
    """
    if found.shape[1] == 0:
        raise ValueError("recall_at_k: found has 0 slots. Leave out questions without gold before scoring.")
    return float(found.any(axis=0).mean())
