"""Token level: by hand, against the definition over sets of tokens, and what holds for any retrieval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.scores import TokenScore
from chunklab_core.score.token_level import GoldSlot, Stretch, token_level, token_positions
from chunklab_core.tokens import TokenizedText

NEVER = GoldSlot((), 5)


def slot(*places: tuple[int, int], document: str = "doc") -> GoldSlot:
    return GoldSlot([Stretch(document, start, end) for start, end in places], 3)


def chunks(*spans: tuple[int, int], document: str = "doc") -> list[Stretch]:
    return [Stretch(document, start, end) for start, end in spans]


def score(recall: float, precision: float, iou: float) -> TokenScore:
    return TokenScore(*(pytest.approx(value) for value in (recall, precision, iou)))  # type: ignore[arg-type]


def test_half_of_the_gold_in_a_chunk_of_ten_tokens() -> None:
    assert token_level([slot((5, 15))], chunks((0, 10))) == score(5 / 10, 5 / 10, 5 / 15)


def test_a_gold_that_two_chunks_hold_between_them_is_found() -> None:
    assert token_level([slot((5, 15))], chunks((10, 20), (0, 10))) == score(1, 10 / 20, 10 / 20)


def test_a_token_retrieved_twice_is_found_once_and_costs_twice() -> None:
    assert token_level([slot((5, 15))], chunks((0, 10), (4, 10))) == score(5 / 10, 5 / 16, 5 / (10 + 16 - 5))


def test_golds_that_overlap_count_as_their_union() -> None:
    assert token_level([slot((0, 6)), slot((4, 10))], chunks((0, 10))) == score(1, 1, 1)


def test_the_same_places_in_another_document_are_other_tokens() -> None:
    assert token_level([slot((0, 10))], chunks((0, 10), document="other")) == score(0, 0, 0)


def test_gold_in_no_document_cannot_be_found_and_weighs_its_own_tokens() -> None:
    assert token_level([slot((0, 10)), NEVER], chunks((0, 20))) == score(10 / 15, 10 / 20, 10 / 25)
    assert token_level([NEVER], chunks((0, 20))) == score(0, 0, 0)


def test_a_slot_counts_at_the_place_with_the_largest_retrieved_share() -> None:
    twice = slot((0, 10), (50, 54))  # a long wording, and a short one that is as good

    assert token_level([twice], chunks((50, 60))) == score(1, 4 / 10, 4 / 10)
    assert token_level([twice], chunks((0, 10), (50, 60))) == score(1, 10 / 20, 10 / 20)  # the first among equals
    assert token_level([twice], chunks((20, 30))) == score(0, 0, 0)
    assert token_level([twice], chunks((5, 10), (53, 58))) == score(5 / 10, 5 / 10, 5 / 15)


def test_nothing_retrieved_is_0_and_no_gold_is_refused() -> None:
    assert token_level([slot((0, 10))], []) == TokenScore(0, 0, 0)
    with pytest.raises(ValueError, match="no slots"):
        token_level([], chunks((0, 10)))


def test_places_are_counted_in_tokens_of_the_document() -> None:
    offsets = np.array([0, 4, 9, 10])  # "Four", " more", "."

    assert token_positions(offsets, np.array([0, 4, 9, 10])).tolist() == [0, 1, 2, 3]
    assert token_positions(offsets, np.array([[2, 5]])).tolist() == [[0.5, 1.2]]


def test_the_tokens_of_one_character_count_together() -> None:
    offsets = np.array([0, 1, 1, 1, 2])  # "a", then one character of three tokens

    assert token_positions(offsets, np.array([0, 1, 2])).tolist() == [0, 1, 4]
    assert token_positions(np.array([0]), np.array([0])).tolist() == [0]


@pytest.mark.parametrize(
    "text", ["The lamp hangs in the hall.\n\nThe rope lies there.", "灯は広間に🏮ある。𝔸 rope", ""]
)
def test_the_parts_of_a_text_add_up_to_its_tokens(text: str) -> None:
    tokens = TokenizedText(text)
    at = token_positions(tokens.offsets, np.arange(len(text) + 1))

    assert (at[0], at[-1]) == (0, tokens.n_tokens)
    assert (np.diff(at) > 0).all()


RANGES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(1, 9)), min_size=1, max_size=5)


def stretches(drawn: Sequence[tuple[str, int, int]]) -> list[Stretch]:
    return [Stretch(document, start, start + length) for document, start, length in drawn]


def tokens_of(ranges: Sequence[Stretch]) -> list[tuple[object, int]]:
    return [(one.document, token) for one in ranges for token in range(int(one.start), int(one.end))]


@settings(max_examples=150, derandomize=True, deadline=None)
@given(RANGES, RANGES)
def test_the_definition_over_sets_of_tokens(
    golds: list[tuple[str, int, int]], spans: list[tuple[str, int, int]]
) -> None:
    gold, retrieved = set(tokens_of(stretches(golds))), tokens_of(stretches(spans))
    both = len(gold & set(retrieved))

    assert token_level([GoldSlot([one], 1) for one in stretches(golds)], stretches(spans)) == score(
        both / len(gold), both / len(retrieved), both / (len(gold) + len(retrieved) - both)
    )


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(RANGES, min_size=1, max_size=3), RANGES, RANGES)
def test_more_chunks_never_find_less_and_a_held_place_is_found_in_full(
    golds: list[list[tuple[str, int, int]]], spans: list[tuple[str, int, int]], more: list[tuple[str, int, int]]
) -> None:
    one_place = [GoldSlot(stretches(places)[:1], 1) for places in golds]
    any_place = [GoldSlot(stretches(places), 1) for places in golds]
    held = [data.places[-1] for data in any_place]

    assert token_level(one_place, stretches(spans)).recall <= token_level(one_place, stretches([*spans, *more])).recall
    assert token_level(any_place, [*stretches(spans), *held]).recall == pytest.approx(1)
