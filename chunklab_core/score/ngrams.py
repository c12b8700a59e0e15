"""The short runs of characters in a text: a cheap proof that a text does not hold a snippet.

Why: nearly all chunks do not hold the answer, and a fuzzy search that finds nothing costs most. An edit changes at
most one block of the snippet, so a passage that lacks more blocks than edits are allowed cannot hold it.

Source: Navarro, A guided tour to approximate string matching (2001), section 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GRAM = 5
_TABLE = 1 << 14
_WEIGHTS = (1, 31, 961, 29791, 923521)


def gram_table(text: str) -> NDArray[np.bool_]:
    """Shape (table,): True at the hash of every run of five characters of the text; a hash may be shared."""
    table = np.zeros(_TABLE, dtype=np.bool_)
    table[_hashes(text)] = True
    return table


def block_hashes(text: str) -> NDArray[np.int64]:
    """Shape (blocks,): the hashes of the text's consecutive blocks of five characters; a shorter rest is left out."""
    return _hashes(text)[::_GRAM]


def may_hold(blocks: NDArray[np.int64], table: NDArray[np.bool_], max_edits: int) -> bool:
    """False where more blocks are missing than `max_edits` edits can change; True proves nothing."""
    return len(blocks) - int(np.count_nonzero(table[blocks])) <= max_edits


def _hashes(text: str) -> NDArray[np.int64]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    n_grams = max(len(codes) - _GRAM + 1, 0)
    mixed = sum((codes[i : i + n_grams] * weight for i, weight in enumerate(_WEIGHTS)), np.zeros(n_grams, np.int64))
    return (mixed ^ (mixed >> 14)) % _TABLE
