"""Vector search: every chunk compared with the question, exactly.

Why: an approximate search adds an error of its own, and a plain matrix product adds one too: its last bits change with
the number of questions in it, and with them the order of equal chunks. So the product, in float32, only selects the
chunks that may be among the best, with room for its largest possible error; these few are compared again one by one in
float64. The result does not depend on blocks, batches or the library, and equal chunks have equal scores.

The error: a float32 dot product of n terms is off by at most n u / (1 - n u) times the sum of the absolute products,
u = 2^-24, in whatever order they are added, and that sum is at most 1 for unit vectors (Higham, Accuracy and Stability
of Numerical Algorithms, 2002, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.rankings import Ranking

_ROWS = 8192  # chunks in a block
_QUERIES = 256  # questions in a batch: a block of products has 8 MiB
_PAIRS = 2048  # pairs compared at a time in float64


def rank(matrix: NDArray[np.float32], query_vectors: ArrayLike, *, depth: int) -> list[Ranking]:
    """The `depth` chunks of highest cosine for each question; the earlier of two tied chunks is first.

    A chunk with a zero row is not a candidate. A question whose vector is zero or not finite has no candidates.

    Args:
        matrix: shape (chunks, dim), float32, unit or zero rows; without a chunk, any dim.
        query_vectors: shape (questions, dim), of any length.

    Raises:
        ValueError: `depth` is below 1, or the shapes do not fit.
    """
    queries = np.asarray(query_vectors, dtype=np.float64)
    if depth < 1:
        raise ValueError(f"dense.rank: depth is {depth}; it must be at least 1.")
    if matrix.ndim != 2 or queries.ndim != 2 or (len(matrix) and matrix.shape[1] != queries.shape[1]):
        raise ValueError(
            f"dense.rank: chunks have shape {matrix.shape} and questions {queries.shape}; expected one dim."
        )
    units, rankings = _units(queries), []
    for start in range(0, len(units), _QUERIES):
        rankings += _rank_batch(matrix, units[start : start + _QUERIES], depth)
    return rankings


def _units(queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit rows; a vector without a direction becomes a zero row."""
    finite = np.where(np.isfinite(queries).all(axis=1, keepdims=True), queries, 0.0)
    largest = np.abs(finite).max(axis=1, initial=0.0, keepdims=True)
    scaled = finite / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / np.where(length > 0, length, 1.0)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Pairs of a question and a chunk that may be among its best, in three arrays of one length."""

    query: NDArray[np.int64]
    row: NDArray[np.int64]
    score: NDArray[np.float64]  # to within the margin, or exact after `_exact`

    def __len__(self) -> int:
        return len(self.query)

    def joined(self, query: NDArray[np.int64], row: NDArray[np.int64], score: NDArray[np.float64]) -> _Pool:
        parts = np.concatenate([self.query, query]), np.concatenate([self.row, row])
        return _Pool(*parts, np.concatenate([self.score, score]))

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> _Pool:
        return _Pool(self.query[which], self.row[which], self.score[which])


def _rank_batch(matrix: NDArray[np.float32], units: NDArray[np.float64], depth: int) -> list[Ranking]:
    margin = 4 * (matrix.shape[1] + 2) * 2.0**-24  # twice the largest error, with room for rounded units and floors
    crowd = 3 * depth * len(units) + _ROWS
    floor = np.where(
        units.any(axis=1), -2.0, np.inf
    )  # below every cosine; above all for a question without a direction
    pool = _Pool(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for start in range(0, len(matrix), _ROWS):
        found, floor = _passing(matrix[start : start + _ROWS], units.astype(np.float32), depth, floor, margin)
        pool = pool.joined(found.query, found.row + start, found.score)
        if len(pool) > crowd:
            pool, floor = _thinned(pool, depth, floor, margin)
        if len(pool) > crowd:  # many nearly equal chunks at the cut: exact scores and positions decide
            pool, floor = _thinned(_exact(pool, matrix, units), depth, floor, margin)
            pool = pool.take(_places(pool, len(units)) < depth)
    pool, _ = _thinned(pool, depth, floor, margin)
    pool = _sorted(_exact(pool, matrix, units))
    pool = pool.take(_places(pool, len(units)) < depth)
    ends = np.searchsorted(pool.query, np.arange(len(units) + 1))
    return [Ranking(pool.row[a:z], pool.score[a:z]) for a, z in pairwise(ends.tolist())]


def _passing(
    block: NDArray[np.float32], units: NDArray[np.float32], depth: int, floor: NDArray[np.float64], margin: float
) -> tuple[_Pool, NDArray[np.float64]]:
    """The chunks of a block that reach the floor of a question, and the floors, raised where too many chunks did."""
    products = units @ block.T
    products[:, ~block.any(axis=1)] = -4.0  # below every floor
    passing = products >= floor.astype(np.float32)[:, None]
    crowded = passing.sum(axis=1) > 2 * depth
    if crowded.any():
        last = np.partition(products[crowded], -depth, axis=1)[:, -depth]
        floor = floor.copy()
        floor[crowded] = np.maximum(floor[crowded], last - margin)
        passing[crowded] &= products[crowded] >= floor[crowded].astype(np.float32)[:, None]
    pairs = np.flatnonzero(passing)
    return _Pool(*np.divmod(pairs, len(block)), products.ravel()[pairs].astype(np.float64)), floor


def _thinned(pool: _Pool, depth: int, floor: NDArray[np.float64], margin: float) -> tuple[_Pool, NDArray[np.float64]]:
    """The sorted pool without pairs that can no longer be among the best, and the raised floors."""
    pool = _sorted(pool)
    last = _places(pool, len(floor)) == depth - 1
    floor = floor.copy()
    floor[pool.query[last]] = np.maximum(floor[pool.query[last]], pool.score[last] - margin)
    return pool.take(pool.score >= floor[pool.query]), floor


def _exact(pool: _Pool, matrix: NDArray[np.float32], units: NDArray[np.float64]) -> _Pool:
    """The same pairs with scores in float64: products of float32 are exact there, and each row is summed alone."""
    scores = np.empty(len(pool))
    for start in range(0, len(pool), _PAIRS):
        part = slice(start, start + _PAIRS)
        scores[part] = (matrix[pool.row[part]].astype(np.float64) * units[pool.query[part]]).sum(axis=1)
    return _Pool(pool.query, pool.row, scores)


def _sorted(pool: _Pool) -> _Pool:
    """The pool sorted by question, then falling score, then position."""
    return pool.take(np.lexsort((pool.row, -pool.score, pool.query)))


def _places(pool: _Pool, n_queries: int) -> NDArray[np.int64]:
    """The position of each pair among those of its question, from 0, in a sorted pool."""
    starts = np.searchsorted(pool.query, np.arange(n_queries))
    return np.arange(len(pool)) - starts[pool.query]
