"""Vector index: one unit row a chunk, searched exactly.

Why: up to some millions of chunks an exact search is fast enough, and an approximate index would add its own error to
the small differences that this tool measures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ROWS = 8192  # a block in float64 is a few tens of megabytes


def build_dense(vectors: ArrayLike) -> NDArray[np.float32]:
    """The vectors of chunks as unit rows, shape (chunks, dim), float32, so that a product of two is their cosine.

    A vector of length zero, or with a NaN or an infinity, becomes a zero row, which is similar to nothing.
    """
    given = np.asarray(vectors)
    if given.ndim != 2:
        raise ValueError(f"build_dense: vectors have shape {given.shape}; expected (chunks, dim).")
    rows = np.zeros(given.shape, dtype=np.float32)
    for start in range(0, len(given), _ROWS):
        block = given[start : start + _ROWS].astype(np.float64)
        block[~np.isfinite(block).all(axis=1)] = 0.0
        largest = np.abs(block).max(axis=1, initial=0.0, keepdims=True)
        np.divide(block, largest, out=block, where=largest > 0)  # else a square could overflow
        length = np.sqrt((block * block).sum(axis=1, keepdims=True))
        rows[start : start + _ROWS] = np.divide(block, length, out=block, where=length > 0)
    return rows


def index_arrays(vectors: ArrayLike) -> dict[str, NDArray[np.float32]]:
    """The index of the chunks' vectors, as it is stored."""
    return {"matrix": build_dense(vectors)}


def open_index(arrays: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """The matrix that was stored."""
    return arrays["matrix"]


def open_questions(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors of the questions, as the search takes them."""
    return vectors
