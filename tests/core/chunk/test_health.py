import numpy as np
from worlds import health_of, laid_out

from chunklab_core.chunk import chunk_document
from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Element, Span

TEXT = "Fire is hot. It is dry.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nWater is wet."
FIRE = laid_out(TEXT)


def chunks_at(document: Document, *spans: tuple[int, int]) -> list[Chunk]:
    return chunk_document(document, lambda _: [Span(*span) for span in spans])


def test_a_chunk_is_whole_where_it_neither_starts_nor_ends_inside_a_sentence() -> None:
    assert TEXT[13:23] == "It is dry."
    whole = chunks_at(FIRE, (0, 12), (13, 23), (23, len(TEXT)))
    cut = chunks_at(FIRE, (0, 7), (8, 23), (25, len(TEXT) - 3))
    shares = [health_of(FIRE, chunks, min_floor_tokens=0, max_tokens=None).boundary for chunks in (whole, cut)]
    assert shares == [1.0, 0.0]


def test_sizes_are_counted_in_tokens_and_by_model() -> None:
    chunks = chunks_at(FIRE, (0, 12), (12, len(TEXT)))  # 4 tokens, and more
    tokens = [chunk.n_tokens for chunk in chunks]
    assert tokens[0] == 4 < tokens[1]
    pieces = {"small": (np.array([9, 5]), 8), "large": (np.array([9, 5]), 100), "endless": (np.array([9, 5]), None)}
    said = health_of(FIRE, chunks, min_floor_tokens=5, max_tokens=tokens[1], pieces=pieces)
    assert (said.n_chunks, said.median_tokens, said.pct_tiny) == (2, sum(tokens) / 2, 0.5)
    assert said.pct_oversized == {"small": 0.5, "large": 0.0, "endless": 0.0}
    tight = health_of(FIRE, chunks, min_floor_tokens=5, max_tokens=tokens[1] - 1, pieces=pieces)
    assert tight.pct_oversized == {"small": 1.0, "large": 0.5, "endless": 0.5}
    assert health_of(FIRE, chunks, min_floor_tokens=5, max_tokens=4).pct_oversized == {"none": 0.5}


def test_a_table_is_intact_where_one_body_holds_all_of_it() -> None:
    table = next(element.span for element in FIRE.elements if element.kind == "table")
    held = chunks_at(FIRE, (0, 12), (13, table.end), (table.end, len(TEXT)))
    split = chunks_at(FIRE, (0, table.end - 1), (table.end - 1, len(TEXT)))
    assert [document_health(FIRE, c, min_floor_tokens=0, max_tokens=None).tables_intact for c in (held, split)] == [
        1,
        0,
    ]
    loose = Document("d", TEXT, (Element("table", Span(table.start - 2, table.end + 2)),))  # with the blanks around it
    assert document_health(loose, held, min_floor_tokens=0, max_tokens=None).tables_intact == 1


def test_characters_in_no_chunk_are_counted_without_white_space() -> None:
    chunks = chunks_at(FIRE, (0, 5), (8, len(TEXT) - 4))  # "is" and "wet." are left out
    assert health_of(FIRE, chunks, min_floor_tokens=0, max_tokens=None).lost_characters == 6


def test_documents_add_up_whatever_their_order_and_nothing_has_no_shares() -> None:
    other = laid_out("No table here.", "other")
    chunks = [chunks_at(FIRE, (0, len(TEXT))), chunks_at(other, (0, 14))]
    parts = [
        document_health(document, found, min_floor_tokens=10, max_tokens=10)
        for document, found in zip((FIRE, other), chunks, strict=True)
    ]
    said = summarize("s", parts)
    assert said == summarize("s", parts[::-1])
    assert said.n_chunks == 2
    assert (said.tables_intact, said.pct_tiny) == (1.0, 0.5)
    nothing = summarize("s", [])
    assert (nothing.n_chunks, nothing.median_tokens, nothing.pct_tiny, nothing.boundary) == (0, None, None, None)
    assert nothing.tables_intact is None
    assert summarize("s", parts[1:]).tables_intact is None
