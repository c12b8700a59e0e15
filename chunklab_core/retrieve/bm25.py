"""Keyword search: the chunks that share a term with the question, by their BM25 score.

Why: it finds exact terms, which a vector search confuses, and it stays silent where it knows nothing. A chunk without
a shared term gets no rank, or a fusion would move its result toward the first chunks of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.rankings import KeywordIndex, Ranking


def rank(index: KeywordIndex, questions: Sequence[Sequence[str]], *, k1: float, b: float, depth: int) -> list[Ranking]:
    """The `depth` best candidates of each question, given as terms; ties go to the earlier chunk.

    The terms must come from the function with which the index was built.

    Raises:
        ValueError: `depth` is below 1, or the index refuses `k1` or `b`.
    """
    if depth < 1:
        raise ValueError(f"bm25.rank: depth is {depth}; it must be at least 1.")
    return [_best(scores, depth) for scores in index.scores(questions, k1=k1, b=b)]


def _best(scores: NDArray[np.float64], depth: int) -> Ranking:
    cut = np.partition(scores, -depth)[-depth] if len(scores) > depth else 0.0
    rows = np.flatnonzero(scores >= cut if cut > 0 else scores > 0)  # with all that tie at the cut: position decides
    rows = rows[np.argsort(-scores[rows], kind="stable")[:depth]]
    return Ranking(rows.astype(np.int64), scores[rows])
