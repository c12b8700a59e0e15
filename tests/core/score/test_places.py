"""Which documents and which chunks hold which gold."""

from __future__ import annotations

import numpy as np
from gold_worlds import CORPUS, QUESTIONS, located_corpus

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.records.questions import Gold
from chunklab_core.score.chunk_edges import passage_of
from chunklab_core.score.gold import find_gold
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.locate import locate
from chunklab_core.score.match import match_chunks
from chunklab_core.score.places import GoldChunks, SlotPlace, gold_chunks, slot_places
from chunklab_core.score.stored import (
    pack_gold_chunks,
    unpack_gold_chunks,
)
from chunklab_core.score.wordings import wordings_of

NO_TOKENS = InTokens(np.zeros((0, 3)), np.zeros((0, 6)), np.zeros((0, 3), dtype=np.int64))


def rows_of(found: GoldChunks, question: int, slot: int) -> list[int]:
    """The rows of all chunks that hold a slot."""
    return [row for at, row, of, *_ in found.table.tolist() if (at, of) == (question, slot)]


def chunk(text: str, start: int, end: int, prefix: str = "") -> Chunk:
    return Chunk(f"d#{start}", "d", Span(start, end), text[start:end], prefix, 1)


def test_places_are_told_by_slot_and_only_where_gold_counts() -> None:
    located, wordings = located_corpus()
    places = slot_places(located, wordings)  # type: ignore[arg-type]

    assert places == {
        (0, 0): (SlotPlace(0, 0, 0, 14, 0),),
        (0, 1): (SlotPlace(1, 0, 15, 30, 0), SlotPlace(0, 1, 0, 14, 0), SlotPlace(0, 2, 0, 14, 0)),
        (1, 0): (SlotPlace(0, 1, 0, 14, 0),),
    }


def corpus_holders() -> GoldChunks:
    located, wordings = located_corpus()
    cut = [[(0, 14), (14, 30)], [(0, 14), (5, 21)], [(0, 8), (8, 14)]]
    documents = [
        (Document(name, text), [chunk(text, *span) for span in spans])
        for (name, text), spans in zip(CORPUS, cut, strict=True)
    ]
    found = match_chunks(documents, [each for _, _, each in located], wordings)  # type: ignore[arg-type,misc]
    return gold_chunks([(CORPUS[at][0], 2 * at, each) for at, each in enumerate(found)], wordings)  # type: ignore[arg-type]


def test_holders_are_the_rows_of_chunks_and_serve_any_ranking() -> None:
    found = corpus_holders()

    assert rows_of(found, 0, 1) == [1, 2]  # in a.md the cut parts the answer
    assert rows_of(found, 1, 0) == [2]
    assert rows_of(found, 2, 0) == []
    assert {(question, slot) for question, _, slot, *_ in found.table.tolist()} == {(0, 0), (0, 1), (1, 0)}
    finds = found.finds(0, 2, [5, 1, 2, 0])
    assert finds.found.tolist() == [[False, False], [False, True], [False, True], [True, False]]
    assert found.finds(2, 1, [0]).found.tolist() == [[False]]


def test_finds_are_those_of_find_gold_with_the_words_that_differ() -> None:
    text = "Oil teh hinge of the gate. Oil the hinge of the gate."
    question = Gold("q", (("Oil the hinge of the gate.", "the gate"),))
    pieces = [chunk(text, 0, 26), chunk(text, 5, 50), chunk(text, 26, 53)]
    wordings = wordings_of([question], 0.9)
    found = gold_chunks(
        [("d", 0, match_chunks([(Document("d", text), pieces)], locate([text], wordings), wordings)[0])], wordings
    )

    finds, slow = found.finds(0, 1, [2, 0, 1]), find_gold(question, pieces, [passage_of(text, p) for p in pieces])

    assert finds.places == slow.take([2, 0, 1]).places
    assert found.words == {0: ("the", "teh")}
    assert unpack_gold_chunks(pack_gold_chunks(found, NO_TOKENS))[0].finds(0, 1, [0]).places == slow.take([0]).places


def test_a_corpus_without_gold_has_no_holders() -> None:
    empty, _ = unpack_gold_chunks(pack_gold_chunks(gold_chunks([], wordings_of(QUESTIONS, 0.9)), NO_TOKENS))

    assert empty.table.shape == (0, 7)
    assert rows_of(empty, 0, 0) == []
    assert empty.finds(0, 2, [3, 4]).found.tolist() == np.zeros((2, 2)).tolist()
