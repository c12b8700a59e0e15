"""Where a chunk reads as its document does."""

from __future__ import annotations

import pytest

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.score.chunk_edges import core_of, edges_of


def chunk(text: str, start: int, end: int, prefix: str = "") -> Chunk:
    return Chunk(f"d#{start}", "d", Span(start, end), text[start:end], prefix, 1)


@pytest.mark.parametrize(
    ("text", "start", "end", "prefix", "core"),
    [
        ("Oil the hinge. Shut the gate.", 0, 14, "", "Oil the hinge."),
        ("Oil the hinge. Shut the gate.", 14, 29, "", " Shut the gate."),
        ("Oil the hinge. Shut the gate.", 2, 18, "", "l the hinge. Shu"),  # both words read alike in parts
        ("Öil the hinge. Shut the gäte.", 1, 27, "", "the hinge. Shut the"),  # letters that may fold to several
        ("Bay E40 of the gate-way ends", 6, 18, "", "of the"),  # of a figure and a joined word, parts read otherwise
        ("It costs 5 % more", 0, 10, "", "It costs"),  # the sign behind the edge belongs to the figure
        ("It costs 5 % more", 11, 17, "", "more"),
        ("the work-\nflow runs on", 10, 22, "", "runs on"),  # a line is joined at the edge
        ("the work-\nflow runs on", 0, 10, "", "the"),
        ("| a | b |\n| c | d |\n", 10, 20, "", "| c | d |\n"),  # a whole row
        ("| a | b |\n| c | d |\n", 0, 5, "", "| a"),  # the pipe in the middle is the last of the chunk, not of the row
        ("Oil the hinge.", 0, 14, "Gate > Care", "Oil the hinge."),
        ("Oil the hinge.", 0, 14, "Gate-", "the hinge."),
        ("one", 1, 3, "", "ne"),
        ("one2", 1, 4, "", ""),
    ],
)
def test_a_chunk_reads_as_its_document_between_plain_gaps(
    text: str, start: int, end: int, prefix: str, core: str
) -> None:
    span = core_of(text, chunk(text, start, end, prefix))

    assert text[span.start : span.end] == core


def test_a_chunk_without_a_prefix_that_begins_and_ends_between_words_has_no_edge_to_search() -> None:
    text = "Oil the hinge. Shüt the gate. " * 40
    whole, cut = chunk(text, 15, 600), chunk(text, 17, 600)

    assert edges_of(text, whole, core_of(text, whole), 20) == []
    (edge,) = edges_of(text, cut, core_of(text, cut), 20)
    assert edge.text.startswith("üt the gate. oil")
    assert len(edge.text) < 300
    assert edge.concerns(0, 10)  # begins in the word that was cut
    assert not edge.concerns(12, 20)  # a letter is counted as the three to which it may fold
