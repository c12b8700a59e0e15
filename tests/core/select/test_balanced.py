"""Recall at a price: what `balanced` subtracts for tokens."""

from __future__ import annotations

import numpy as np
import pytest

from chunklab_core.select.balanced import balanced


def test_a_cell_pays_for_more_tokens_than_the_cheapest() -> None:
    recall, tokens = np.array([0.8, 0.9, 1.0, 0.0]), np.array([100.0, 200.0, 1000.0, 0.0])

    assert balanced(recall, tokens) == pytest.approx([0.8, 0.85, 0.55, 0.0])


def test_a_tiny_bad_cell_does_not_price_the_cells_in_play() -> None:
    recall, tokens = np.array([0.8, 0.9, 0.1]), np.array([400.0, 800.0, 10.0])

    assert balanced(recall, tokens, in_play=np.array([True, True, False])) == pytest.approx(
        [0.8, 0.85, 0.1 - 0.05 * (10 / 400 - 1)]
    )
    assert balanced(recall, tokens).argmax() == 2  # priced among all cells, the tiny one wins


def test_cells_that_retrieved_nothing_are_ranked_by_recall() -> None:
    assert balanced(np.zeros(2), np.zeros(2)).tolist() == [0, 0]


def test_whole_documents_win_on_recall_and_lose_on_balanced() -> None:
    recall, tokens = np.array([0.82, 0.81, 1.0]), np.array([2228.0, 2128.0, 21280.0])

    assert recall.argmax() == 2
    assert balanced(recall, tokens).argmin() == 2
