from __future__ import annotations

import numpy as np

from chunklab_core.score.loss_facts import read_by_slot, rows_by_slot
from chunklab_core.score.places import GoldChunks


def test_a_chunk_is_read_where_any_find_of_the_slot_ends_within_the_window() -> None:
    rows = [  # question, chunk, slot, wording, edits, start, end
        (0, 3, 0, 0, 0, 30, 41),
        (0, 3, 0, 1, 0, 5, 40),
        (0, 4, 0, 0, 0, 30, 41),
        (1, 3, 1, 0, 0, 0, 900),
    ]
    holders = GoldChunks(np.array(rows), {})
    window_ends = np.full(5, 40, dtype=np.int32)

    assert rows_by_slot(holders) == {(0, 0): {3, 4}, (1, 1): {3}}
    assert read_by_slot(holders, window_ends) == {(0, 0): {3}}
    assert (holders.n_chunks(0), holders.n_chunks(1), holders.n_chunks(2)) == (2, 1, 0)
