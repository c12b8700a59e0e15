"""Ceilings: by hand, and against every choice of chunks there is."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.score.ceiling import (
    cheapest_holders,
    precision_ceiling,
    question_ceiling,
    recall_ceiling,
    token_precision_ceiling,
)
from chunklab_core.score.token_level import GoldSlot, Stretch

LAMP, ROPE = GoldSlot([Stretch("doc", 2, 6)], 4), GoldSlot([Stretch("doc", 12, 20)], 8)
SPANS = {0: Stretch("doc", 0, 10), 1: Stretch("doc", 10, 22), 2: Stretch("doc", 0, 24), 3: Stretch("doc", 1, 9)}
LAMP_IN, ROPE_IN = {0, 2, 3}, {1, 2}


def test_two_slots_in_one_chunk_or_in_a_chunk_each() -> None:
    apart = [{0, 3}, {1}]

    assert [recall_ceiling(apart, k) for k in (1, 2)] == [0.5, 1]
    assert recall_ceiling([LAMP_IN, ROPE_IN], 1) == 1
    assert recall_ceiling([LAMP_IN, set()], 5) == 0.5  # the chunker cut the second one
    assert recall_ceiling([set()], 5) == 0


def test_precision_fills_as_many_places_as_there_are_chunks_with_gold() -> None:
    assert [precision_ceiling([LAMP_IN, ROPE_IN], k) for k in (2, 5)] == [1, 4 / 5]
    assert precision_ceiling([set()], 5) == 0


def test_token_precision_pays_for_the_cheapest_chunks_that_hold_the_gold() -> None:
    together = token_precision_ceiling([LAMP, ROPE], [LAMP_IN, ROPE_IN], SPANS)
    ceiling = question_ceiling([LAMP, ROPE], [LAMP_IN, ROPE_IN], SPANS, 5)

    assert cheapest_holders([LAMP_IN, ROPE_IN], {0: 10, 1: 12, 2: 24, 3: 8}) == (1, 3)
    assert together == pytest.approx((4 + 8) / (8 + 12))
    assert (ceiling.recall, ceiling.precision, ceiling.token_precision) == (1, 4 / 5, together)


def test_one_large_chunk_may_be_cheaper_than_two_small_ones() -> None:
    assert cheapest_holders([{0, 2}, {1, 2}], {0: 10, 1: 12, 2: 21}) == (2,)
    assert cheapest_holders([{0, 2}, {1, 2}], {0: 10, 1: 12, 2: 22}) == (2,)  # as many tokens in fewer chunks
    assert cheapest_holders([{0, 2}, {1, 2}], {0: 10, 1: 12, 2: 23}) == (0, 1)


def test_gold_in_no_chunk_is_not_asked_for() -> None:
    assert token_precision_ceiling([LAMP, ROPE], [LAMP_IN, set()], SPANS) == pytest.approx(4 / 8)
    assert token_precision_ceiling([LAMP], [set()], SPANS) == 0


def test_no_slot_or_no_place_is_refused() -> None:
    with pytest.raises(ValueError, match="0 slots at k 5"):
        recall_ceiling([], 5)
    with pytest.raises(ValueError, match="1 slots at k 0"):
        recall_ceiling([{1}], 0)


def test_a_greedy_choice_would_miss_the_best_pair() -> None:
    holders = [{0, 1}, {0, 1}, {0, 2}, {0, 2}, {1}, {2}]  # row 0 holds four slots; rows 1 and 2 hold all six

    assert recall_ceiling(holders, 2) == 1


def test_beyond_what_is_tried_out_a_chunk_is_taken_for_its_price_a_slot() -> None:
    holders = [{slot, 99} for slot in range(13)]  # a row for each at 1 token, and one for all of them

    assert cheapest_holders(holders, {**dict.fromkeys(range(13), 1), 99: 12}) == (99,)
    assert cheapest_holders(holders, {**dict.fromkeys(range(13), 1), 99: 14}) == tuple(range(13))


HOLDERS = st.lists(st.sets(st.integers(0, 7), max_size=4), min_size=1, max_size=6)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(HOLDERS, st.integers(1, 4))
def test_recall_is_that_of_the_best_of_all_choices(holders: list[set[int]], k: int) -> None:
    best = max(sum(not rows.isdisjoint(chosen) for rows in holders) for chosen in combinations(range(8), k))

    assert recall_ceiling(holders, k) == best / len(holders)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(HOLDERS, st.lists(st.integers(1, 30), min_size=8, max_size=8))
def test_the_cheapest_holders_are_the_cheapest_of_all_choices(holders: list[set[int]], prices: list[int]) -> None:
    rows = cheapest_holders(holders, dict(enumerate(prices)))
    every = chain.from_iterable(combinations(range(8), size) for size in range(9))
    wanted = [held for held in holders if held]
    complete = [chosen for chosen in every if not any(held.isdisjoint(chosen) for held in wanted)]

    assert rows in complete
    assert sum(prices[row] for row in rows) == min(sum(prices[row] for row in chosen) for chosen in complete)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.lists(st.sets(st.integers(0, 8), min_size=1, max_size=4), min_size=13, max_size=16), st.integers(1, 3))
def test_with_very_many_slots_no_choice_exceeds_the_ceiling(holders: list[set[int]], k: int) -> None:
    best = max(sum(not rows.isdisjoint(chosen) for rows in holders) for chosen in combinations(range(9), k))
    rows = cheapest_holders(holders, dict.fromkeys(range(9), 1))

    assert best <= recall_ceiling(holders, k) * len(holders) + 1e-9 <= best * 1.582 + 1e-9
    assert not any(held.isdisjoint(rows) for held in holders)
