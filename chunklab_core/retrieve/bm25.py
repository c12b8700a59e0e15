"""Keyword search: the chunks that share a term with the question, by their BM25 score.

Why: it finds exact terms, which a vector search confuses. A chunk without a shared term gets no rank, because a fusion
would otherwise move its result towards the first chunks of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.rankings import KeywordIndex, Ranking


def rank(index: KeywordIndex, questions: Sequence[Sequence[str]], *, k1: float, b: float, depth: int) -> list[Ranking]:
    """The `depth` best candidates of each question, given as terms; the earlier of two tied chunks is first.

    The terms must come from the function that the index was built with.

    Raises:
        ValueError: `depth` is below 1, or the index refuses `k1` or `b`.
    """
    if depth < 1:
        raise ValueError(f"bm25.rank: depth is {depth}; it must be at least 1.")
    return [_best(scores, depth) for scores in index.scores(questions, k1=k1, b=b)]


def _best(scores: NDArray[np.float64], depth: int) -> Ranking:
    cut = np.partition(scores, -depth)[-depth] if len(scores) > depth else 0.0
    rows = np.flatnonzero(scores >= cut if cut > 0 else scores > 0)  # includes all ties at the cut: position decides
    rows = rows[np.argsort(-scores[rows], kind="stable")[:depth]]
    return Ranking(rows.astype(np.int64), scores[rows])
