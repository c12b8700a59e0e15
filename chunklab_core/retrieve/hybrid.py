"""Reciprocal rank fusion: merges several rankings, by ranks alone.

Why: BM25 scores and cosines have no common scale, but ranks do. A chunk that two searches rank high is worth more than
a chunk that only one of them ranks high.

Source: Cormack, Clarke and Buettcher, Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
Methods (SIGIR 2009), section 2: RRF(d) = sum over rankings r of 1 / (k + rank_r(d)), ranks from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, lcm
from typing import Any

import numpy as np

from chunklab_core.records.rankings import Ranking


def fuse(rankings: Sequence[Sequence[str]], k: float = 60) -> list[str]:
    """Ids of all rankings, best first by their RRF sum.

    A ranking without an id adds nothing for it; a ranking that lists it twice adds the better rank. Ties are decided by
    the better single rank, then by the smaller id. The order of the rankings has no effect.

    Raises:
        ValueError: k is negative or not finite.
    """
    weights, _ = _weights(k, max(map(len, rankings), default=0))
    return [item for _, _, item in _fused(rankings, weights)]


def rank(legs: Sequence[Sequence[Ranking]], *, rrf_k: float, candidates: int, depth: int) -> list[Ranking]:
    """The `depth` best of the first `candidates` of each leg, for each question; the score is the RRF sum.

    `legs` holds one list of rankings a leg, with the same questions in the same order. Ties are decided by the better
    single rank, then by the earlier chunk.

    Raises:
        ValueError: a number is out of range, or the legs hold different numbers of questions.
    """
    if candidates < 1 or depth < 1:
        raise ValueError(f"hybrid.rank: candidates is {candidates} and depth is {depth}; both must be at least 1.")
    if len({len(leg) for leg in legs}) > 1:
        raise ValueError(
            f"hybrid.rank: legs hold {[len(leg) for leg in legs]} rankings; expected one a question in each."
        )
    weights, unit = _weights(rrf_k, candidates)
    fused = []
    for rankings in zip(*legs, strict=True):
        best = _fused([ranking.rows[:candidates].tolist() for ranking in rankings], weights)[:depth]
        rows = np.array([row for _, _, row in best], dtype=np.int64)
        fused.append(Ranking(rows, np.array([-total / unit for total, _, _ in best], dtype=np.float64)))
    return fused


def _weights(k: float, ranks: int) -> tuple[list[int], int]:
    """The weight of each rank from 1 as whole multiples of 1 / unit, and the unit; so sums need no rounding."""
    if not (isfinite(k) and k >= 0):
        raise ValueError(f"Reciprocal rank fusion has k = {k}; it must be a finite number, 0 or more.")
    shares = [1 / (Fraction(k) + rank) for rank in range(1, ranks + 1)]
    unit = lcm(*(share.denominator for share in shares))
    return [share.numerator * (unit // share.denominator) for share in shares], unit


def _fused(rankings: Sequence[Sequence[Any]], weights: Sequence[int]) -> list[tuple[int, int, Any]]:
    """(minus the sum in units, best rank, item) for all items, in order."""
    sums: dict[Any, tuple[int, int]] = {}
    for ranking in rankings:
        seen = set()
        for rank, item in enumerate(ranking, 1):
            if item in seen:
                continue
            seen.add(item)
            total, best = sums.get(item, (0, rank))
            sums[item] = (total - weights[rank - 1], min(best, rank))
    return sorted((total, best, item) for item, (total, best) in sums.items())
