"""Hit: whether the reader got any part of the answer.

Why: where one passage is enough, the first slot found matters and the others do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hit_at_k(found: NDArray[np.bool_]) -> float:
    """1.0 where any of the top-k chunks holds any gold slot, else 0.0; its mean over questions is the hit rate.

    Args:
        found: shape (k, slots), best chunk first; k may be 0.

    Source: Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), section 8.4 (success at k).
    """
    return float(found.any())
