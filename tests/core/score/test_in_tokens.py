"""Gold and chunks in tokens of their document, by hand; and which holders a model reads."""

from __future__ import annotations

import numpy as np
import pytest

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.records.questions import Gold
from chunklab_core.score.in_tokens import document_in_tokens, in_tokens
from chunklab_core.score.places import GoldChunks, SlotPlace
from chunklab_core.score.stored import pack_gold_chunks, unpack_gold_chunks
from chunklab_core.score.token_level import GoldSlot, Stretch
from chunklab_core.tokens import count_tokens

TEXT = "one two three four"  # tokens begin at 0, 3, 7 and 13, each with the blank before its word


def chunk(at: int, start: int, end: int) -> Chunk:
    return Chunk(f"d#{at}", "d", Span(start, end), TEXT[start:end], "", 2)


def test_places_of_gold_and_chunks_are_counted_in_tokens_of_the_document() -> None:
    questions = [
        Gold("q0", (("not to be seen",), ("three", "two three"))),
        Gold("q1", (("one",),)),
    ]
    places = {
        (0, 1): (SlotPlace(1, 5, 4, 13, 0), SlotPlace(0, 5, 8, 13, 0)),
        (1, 0): (SlotPlace(0, 5, 0, 0, 3),),  # as near as nothing at all: no range that could be retrieved
    }
    part = document_in_tokens(5, Document("d", TEXT), [chunk(0, 0, 7), chunk(1, 8, 18)], places)
    empty = document_in_tokens(6, Document("e", ""), [], {})
    made = in_tokens([part, empty], questions, count_tokens)

    assert made.spans([1, 0]) == [Stretch(5, pytest.approx(2 + 1 / 6), 4.0), Stretch(5, 0.0, 2.0)]
    assert made.spans([]) == []
    assert made.slots(0) == [
        GoldSlot((), 4),
        GoldSlot([Stretch(5, pytest.approx(2 + 1 / 6), 3.0), Stretch(5, 1.25, 3.0)], 1),  # by wording as listed
    ]
    assert made.slots(1) == [GoldSlot((), 1)]


def test_what_is_kept_comes_back() -> None:
    questions = [Gold("q", (("two",),))]
    part = document_in_tokens(0, Document("d", TEXT), [chunk(0, 0, 7)], {(0, 0): (SlotPlace(0, 0, 4, 7, 0),)})
    made = in_tokens([part], questions, count_tokens)
    holders = GoldChunks(np.array([[0, 0, 0, 0, 1, 4, 7]]), {0: ("two", "twa")})
    again, tokens = unpack_gold_chunks(pack_gold_chunks(holders, made))

    assert (again.table.tolist(), again.words) == (holders.table.tolist(), holders.words)
    assert (tokens.slots(0), tokens.spans([0])) == (made.slots(0), made.spans([0]))
