"""nDCG and average precision: by hand, and the same as an independent library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from chunklab_core.score.average_precision import average_precision_at_k
from chunklab_core.score.ndcg import ndcg_at_k


def ranking(*slots: str) -> NDArray[np.bool_]:
    """One string a chunk: a 1 for each slot that it holds."""
    return np.array([[mark == "1" for mark in chunk] for chunk in slots], dtype=bool).reshape(len(slots), -1)


def test_hits_at_ranks_1_and_3_of_three_relevant_chunks() -> None:
    found = ranking("10", "00", "11")  # the gain of a chunk is 1 however many slots it holds

    assert average_precision_at_k(found, 3) == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert ndcg_at_k(found, 3, 3) == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2))


def test_relevant_chunks_beyond_k_count_for_average_precision_and_not_for_the_ideal_ranking() -> None:
    found = ranking("1", "1")

    assert average_precision_at_k(found, 4) == 0.5
    assert ndcg_at_k(found, 2, 4) == 1


def test_a_short_ranking_is_compared_with_all_k_places() -> None:
    assert ndcg_at_k(ranking("1"), 3, 2) == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_a_copy_of_the_answer_in_an_overlapping_chunk_is_relevant_too() -> None:
    assert average_precision_at_k(ranking("1", "0"), 1) == 1
    assert average_precision_at_k(ranking("1", "0"), 2) == 0.5
    assert average_precision_at_k(ranking("1", "1"), 2) == 1


def test_both_are_0_where_nothing_is_retrieved_or_relevant() -> None:
    nothing, missed = np.zeros((0, 2), dtype=bool), ranking("0", "0")

    assert [average_precision_at_k(nothing, 2), ndcg_at_k(nothing, 5, 2)] == [0, 0]
    assert [average_precision_at_k(missed, 0), ndcg_at_k(missed, 5, 0)] == [0, 0]


def test_more_hits_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="2 relevant chunks retrieved, n_relevant is 1"):
        ndcg_at_k(ranking("1", "1"), 2, 1)
    with pytest.raises(ValueError, match="2 relevant chunks retrieved, n_relevant is 1"):
        average_precision_at_k(ranking("1", "1"), 1)


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_every_ranking_has_the_figures_of_an_independent_library(k: int) -> None:
    ir = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(k)
    chunks = rng.random((60, 40, 3)) < rng.choice([0.02, 0.1, 0.3], (60, 1, 1))  # chunks of a strategy, by question
    chunks = chunks[chunks.any(axis=(1, 2))]
    orders = [rng.permutation(40)[: rng.integers(0, 13)] for _ in chunks]
    qrels = [ir.Qrel(str(q), str(row), 1) for q, held in enumerate(chunks) for row in np.flatnonzero(held.any(axis=1))]
    run = [ir.ScoredDoc(str(q), str(row), -rank) for q, order in enumerate(orders) for rank, row in enumerate(order)]
    theirs = {
        (str(measure), one.query_id): one.value
        for measure in (ir.AP @ k, ir.nDCG @ k)
        for one in ir.iter_calc([measure], qrels, run)
    }
    for q, (held, order) in enumerate(zip(chunks, orders, strict=True)):
        n_relevant, found = int(held.any(axis=1).sum()), held[order[:k]]
        assert average_precision_at_k(found, n_relevant) == pytest.approx(theirs[f"AP@{k}", str(q)], abs=1e-9)
        assert ndcg_at_k(found, k, n_relevant) == pytest.approx(theirs[f"nDCG@{k}", str(q)], abs=1e-9)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 3))), st.integers(0, 4), st.data())
def test_moving_a_hit_up_never_costs(found: NDArray[np.bool_], elsewhere: int, data: st.DataObject) -> None:
    n_relevant, k = int(found.any(axis=1).sum()) + elsewhere, len(found)
    row = data.draw(st.integers(0, k - 1))
    better = np.concatenate([found[row : row + 1], np.delete(found, row, axis=0)]) if found[row].any() else found

    for before, after in (
        (ndcg_at_k(found, k, n_relevant), ndcg_at_k(better, k, n_relevant)),
        (average_precision_at_k(found, n_relevant), average_precision_at_k(better, n_relevant)),
    ):
        assert 0 <= before <= after + 1e-12
        assert after <= 1 + 1e-12
