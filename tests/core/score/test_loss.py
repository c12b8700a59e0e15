"""Loss: one small world for each part, and the sum that always has to come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.scores import LossPart, LostSlots
from chunklab_core.score.loss import (
    LOSS_PARTS,
    QuestionFacts,
    SlotFacts,
    cell_loss,
    exact_shares,
)

K = 2
HELD = SlotFacts(found=False, in_document=True, holders=frozenset({7}), read=frozenset({7}))
UNREAD = replace(HELD, read=frozenset())


def part(
    slot: SlotFacts, dense: Sequence[int] = (), bm25: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> LossPart | None:
    """Where the slot is lost under dense search, or under hybrid where the other leg's rows are given, too."""
    legs = {"dense": dense} if bm25 is None else {"dense": dense, "bm25": bm25}
    (lost,) = cell_loss([QuestionFacts("q", (slot,), legs, before, {"dense"})], K).questions or (
        LostSlots("q", (None,)),
    )
    return lost.parts[0]


def test_a_slot_that_was_found_is_lost_nowhere() -> None:
    assert part(replace(HELD, found=True), [7, 1]) is None


def test_gold_in_no_document_is_lost_in_parse_and_gold_in_no_chunk_by_the_cut() -> None:
    assert part(SlotFacts(False, False, frozenset(), frozenset()), [1, 2]) == "parse"
    assert part(SlotFacts(False, True, frozenset(), frozenset()), [1, 2]) == "cut"


def test_gold_that_the_model_reads_in_none_of_its_chunks_is_truncated() -> None:
    assert part(UNREAD, [1, 2, 7]) == "truncated"
    assert part(UNREAD, [1, 2]) == "truncated"  # it was asked before the candidates
    assert part(replace(UNREAD, holders=frozenset({7, 8}), read=frozenset({8})), [1, 2, 7]) == "below_k"


def test_gold_that_the_other_leg_brings_up_is_not_truncated() -> None:
    assert part(UNREAD, [1, 2], [7, 1]) == "fusion"
    assert part(UNREAD, [1, 2], [3, 1, 7]) == "truncated"  # the other leg has it too far down
    assert part(UNREAD, [7, 2], [3, 1]) == "truncated"  # the model ranked the chunk for what else it says


def test_without_a_model_nothing_is_truncated() -> None:
    trail = QuestionFacts("q", (replace(UNREAD, read=None),), {"bm25": [1, 2, 7]})

    assert cell_loss([trail], K).questions == (LostSlots("q", ("below_k",)),)


def test_gold_that_no_leg_lists_is_lost_among_the_candidates() -> None:
    assert part(HELD, [1, 2, 3]) == "candidates"
    assert part(HELD, [1, 2, 3], [4, 5]) == "candidates"
    assert part(HELD, [1, 2, 3], [4, 5, 7]) == "below_k"


def test_the_reranker_is_blamed_only_for_what_it_was_given_in_the_top() -> None:
    assert part(HELD, [7, 1, 2], before=[7, 1]) == "rerank"
    assert part(HELD, [1, 2, 7], before=[1, 2]) == "below_k"
    assert part(HELD, [1, 2, 7], [7, 3], before=[1, 7]) == "rerank"
    assert part(HELD, [1, 2, 7], [7, 3], before=[1, 2, 7]) == "fusion"  # what went on below k was not in the top


def test_the_fusion_is_blamed_for_what_one_leg_had_in_its_top() -> None:
    assert part(HELD, [1, 7], [3, 4]) == "fusion"
    assert part(HELD, [1, 2, 7], [3, 4, 7]) == "below_k"


def test_a_slot_weighs_what_it_weighs_in_the_recall() -> None:
    found, cut = replace(HELD, found=True), SlotFacts(False, True, frozenset())
    loss = cell_loss(
        [
            QuestionFacts("whole", (found,), {"bm25": [7]}),
            QuestionFacts("half", (cut, found), {"bm25": [7]}),
            QuestionFacts("none", (cut, HELD, HELD, found), {"bm25": [1, 2, 7]}),
        ],
        K,
    )

    assert dict(loss.shares) == pytest.approx(
        {**dict.fromkeys(LOSS_PARTS, 0.0), "cut": (1 / 2 + 1 / 4) / 3, "below_k": (2 / 4) / 3}
    )
    assert [name for name, _ in loss.shares] == list(LOSS_PARTS)
    assert loss.questions == (
        LostSlots("half", ("cut", None)),
        LostSlots("none", ("cut", "below_k", "below_k", None)),
    )


def test_a_question_without_gold_is_refused() -> None:
    with pytest.raises(ValueError, match="no question, or one without a slot"):
        cell_loss([QuestionFacts("q", (), {"bm25": [1]})], K)
    with pytest.raises(ValueError, match="no question, or one without a slot"):
        cell_loss([], K)


ROWS = st.lists(st.integers(0, 9), unique=True, max_size=6)
FEW_ROWS = st.frozensets(st.integers(0, 9), max_size=3)
SLOT = st.builds(SlotFacts, st.booleans(), st.booleans(), FEW_ROWS, st.none() | FEW_ROWS)
TRAIL = st.builds(
    QuestionFacts,
    st.just("q"),
    st.lists(SLOT, min_size=1, max_size=5).map(tuple),
    st.dictionaries(st.sampled_from(["dense", "bm25", "own"]), ROWS, min_size=1),
    st.none() | ROWS,
)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(TRAIL, min_size=1, max_size=6), st.integers(1, 4))
def test_the_parts_and_the_recall_add_up_to_1(trails: list[QuestionFacts], k: int) -> None:
    loss = cell_loss(trails, k)
    named = iter(loss.questions)
    lost = [
        next(named).parts if not all(slot.found for slot in trail.slots) else (None,) * len(trail.slots)
        for trail in trails
    ]
    recall = sum(Fraction(sum(slot.found for slot in trail.slots), len(trail.slots)) for trail in trails) / len(trails)

    assert next(named, None) is None
    assert sum(exact_shares(lost).values()) == 1 - recall
    assert dict(loss.shares) == {part: float(share) for part, share in exact_shares(lost).items()}
    for parts, trail in zip(lost, trails, strict=True):
        assert [one is None for one in parts] == [slot.found for slot in trail.slots]
