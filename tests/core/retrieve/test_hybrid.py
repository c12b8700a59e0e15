from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.rankings import Ranking
from chunklab_core.retrieve.hybrid import fuse, rank

LISTS = st.lists(st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10), max_size=4)


def ranking(*rows: int) -> Ranking:
    return Ranking(np.array(rows, dtype=np.int64), np.linspace(1, 0.5, len(rows)))


def test_ranks_count_from_1_and_a_list_adds_nothing_for_what_it_does_not_hold() -> None:
    assert fuse([["p", "q", "r"], ["s", "t", "r"]]) == ["r", "p", "s", "q", "t"]

    p, q, r, s, t = range(5)
    (fused,) = rank([[ranking(p, q, r)], [ranking(s, t, r)]], rrf_k=60, candidates=100, depth=10)
    assert fused.rows.tolist() == [r, p, s, q, t]
    assert fused.scores.tolist() == [2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62]


def test_a_search_that_found_nothing_leaves_the_other_as_it_is() -> None:
    assert fuse([["c3", "c2", "c1", "c0"], []]) == ["c3", "c2", "c1", "c0"]
    assert fuse([]) == fuse([[], []]) == []


def test_equal_sums_go_to_the_better_single_rank() -> None:
    # with k = 0, w and z at rank 2 have 1/2, and so has a with 1/3 + 1/6
    assert fuse([["u", "z", "a"], ["v", "w", "x", "y", "t", "a"]], k=0) == ["u", "v", "w", "z", "a", "x", "y", "t"]


def test_an_id_that_a_list_holds_twice_counts_once_at_its_better_rank() -> None:
    assert fuse([["a", "b", "a"], ["b"]]) == ["b", "a"]


@settings(max_examples=100, derandomize=True)
@given(LISTS, st.sampled_from([0, 1, 60, 0.5]))
def test_the_order_is_that_of_exact_sums_whatever_the_order_of_the_lists(lists: list[list[str]], k: float) -> None:
    ranks = {item: [order.index(item) + 1 for order in lists if item in order] for order in lists for item in order}
    sums = {item: sum(1 / (Fraction(k) + at) for at in held) for item, held in ranks.items()}
    expected = sorted(ranks, key=lambda item: (-sums[item], min(ranks[item]), item))

    assert fuse(lists, k) == fuse(lists[::-1], k) == expected


def test_only_the_first_candidates_of_each_leg_are_fused_and_depth_cuts_the_result() -> None:
    legs = [[ranking(0, 1, 2), ranking()], [ranking(3, 2, 1), ranking(5)]]

    fused = rank(legs, rrf_k=60, candidates=2, depth=3)

    assert [found.rows.tolist() for found in fused] == [[0, 3, 1], [5]]
    assert fused[0].scores.tolist() == [1 / 61, 1 / 61, 1 / 62]
    again = rank(legs[::-1], rrf_k=60, candidates=2, depth=3)
    assert [found.rows.tolist() for found in again] == [[0, 3, 1], [5]]


def test_impossible_input_is_refused() -> None:
    with pytest.raises(ValueError, match="k = -1"):
        fuse([["a"]], k=-1)
    with pytest.raises(ValueError, match="candidates is 0"):
        rank([[ranking(1)]], rrf_k=60, candidates=0, depth=1)
    with pytest.raises(ValueError, match=r"legs hold \[1, 2\] rankings"):
        rank([[ranking(1)], [ranking(1), ranking(2)]], rrf_k=60, candidates=1, depth=1)
